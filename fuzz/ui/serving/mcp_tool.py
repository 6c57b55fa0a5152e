"""The queue as a tool for agents: an MCP server on the standard input and output.

The only file that imports the package mcp. Knows the tool's words; never how an answer is judged.
"""

import asyncio
from typing import Annotated

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent
from pydantic import Field

from kfuzz.campaign.answers import Judgement
from kfuzz.ui.reports.judgements import as_dict
from kfuzz.ui.serving.bench import JudgingError
from kfuzz.ui.serving.pool import JudgingPool
from kfuzz.ui.serving.requests import SHAPES, USUAL, RequestError, read_request

ABOUT = (
    "Judges GPU kernels (.cu, .ptx, and .py files with numpy, torch, Triton and others): whether every output element "
    "lies in the interval of right answers. It needs no GPU. Each kernel runs in a sandbox."
)
TOOL = (
    "Try a kernel on generated inputs, and say whether it is right. The text says what is wrong, at which input, what "
    "came, what is right, and where to look; the data has the same, with the inputs of the smallest failing case. "
    "`kept`: every trial was right. `broken`: it is wrong. `suspect`, `not judged`, `cannot run`: nothing is known."
)


def server_of(pool: JudgingPool) -> MCPServer:
    """The server with its one tool."""
    server = MCPServer("kfuzz", instructions=ABOUT, log_level="ERROR")

    async def judge(
        answer: Annotated[str, Field(description="The path of the file; with a text, a name for it such as a.cu.")],
        text: Annotated[str | None, Field(description="The text of the file, instead of a path.")] = None,
        op: Annotated[str, Field(description="What it computes: an op such as softmax, or an expression.")] = "",
        reference: Annotated[str, Field(description="The path of the problem that it solves, instead of an op.")] = "",
        budget: Annotated[float, Field(description="How much is tried, in seconds.")] = USUAL.budget,
        seed: Annotated[int, Field(description="Which inputs are tried.")] = USUAL.seed,
        shapes: Annotated[
            str, Field(description="any: errors at other shapes count, too; home: they do not.")
        ] = SHAPES[0],
    ) -> CallToolResult:
        given = {"answer": answer, "op": op, "reference": reference, "budget": budget, "seed": seed, "shapes": shapes}
        try:
            request = read_request(given if text is None else {**given, "text": text})
            found = await asyncio.wrap_future(pool.submit(request))
        except (JudgingError, RequestError) as error:
            raise ToolError(str(error)) from None
        return CallToolResult(
            content=[TextContent(type="text", text=_in_words(found))], structured_content=as_dict(found)
        )

    server.add_tool(judge, description=TOOL)
    return server


def _in_words(found: Judgement) -> str:
    return f"{found.status}, {found.stage}. {found.finding or found.elsewhere}".strip()


def serve(pool: JudgingPool) -> None:
    """Serve until the standard input ends."""
    anyio.run(server_of(pool).run_stdio_async)
