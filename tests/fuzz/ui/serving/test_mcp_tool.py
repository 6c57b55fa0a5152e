"""The MCP server as an agent sees it: one tool, its data, its errors, and its end."""

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from verdict_server import RIGHT, SLOW, WRONG, left_of, outline, processes_of

import kfuzz
from kfuzz.devices.sandbox.box import why_not

VERSION = "2025-06-18"
needs_mcp = pytest.mark.skipif(find_spec("mcp") is None, reason="mcp is not installed")
needs_sandbox = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a sandbox")


class Agent:
    """A client that writes its messages by hand."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "kfuzz", "serve", "--jobs", "1"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        self._number = 0

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        number = self.send(method, **params)
        while True:
            assert self.process.stdout is not None
            said: dict[str, Any] = json.loads(self.process.stdout.readline())
            if said.get("id") == number:
                return said

    def send(self, method: str, **params: object) -> int:
        self._number += 1
        self.write({"id": self._number, "method": method, "params": params})
        return self._number

    def write(self, message: dict[str, object]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def judge(self, **arguments: object) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("tools/call", name="judge", arguments=arguments)["result"]
        return found


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    made = Agent(tmp_path)
    with made.process:
        try:
            made.ask("initialize", protocolVersion=VERSION, capabilities={}, clientInfo={"name": "a", "version": "1"})
            made.write({"method": "notifications/initialized"})
            yield made
        finally:
            made.process.kill()


@needs_mcp
@needs_sandbox
@pytest.mark.slow(6)
def test_the_tool_judges_as_judge_file_does_and_ends_with_its_input(agent: Agent, tmp_path: Path) -> None:
    (tool,) = agent.ask("tools/list")["result"]["tools"]
    assert tool["name"] == "judge"
    assert {"answer", "text", "op", "reference", "budget", "seed", "shapes"} == {*tool["inputSchema"]["properties"]}
    terms = {"op": "row_sum", "budget": 2, "seed": 3}
    wrong = agent.judge(answer="a.py", text=WRONG, **terms)
    (tmp_path / "a.py").write_text(WRONG)
    wanted = outline(kfuzz.judge_file(tmp_path / "a.py", op="row_sum", budget=2.0, seed=3))
    finding = str(wrong["structuredContent"]["finding"])
    assert outline(wrong["structuredContent"]) == {**wanted, "finding": finding, "where": "a.py"}
    assert finding in wrong["content"][0]["text"]
    assert agent.judge(answer="a.py", text=RIGHT, **terms)["structuredContent"]["status"] == "kept"
    bad = agent.judge(answer="a.py", text=RIGHT)
    assert (bad["isError"], "one of them says what is right" in bad["content"][0]["text"]) == (True, True)
    missing = agent.judge(answer="no_such.py", op="row_sum")
    assert (missing["isError"], "no_such.py: no kernel" in missing["content"][0]["text"]) == (True, True)
    self_and_below = processes_of(agent.process.pid)
    agent.send("tools/call", name="judge", arguments={"answer": "b.py", "text": SLOW, **terms})
    assert agent.process.stdin is not None
    agent.process.stdin.close()
    assert agent.process.wait() == 0
    assert left_of(self_and_below) == []
    assert agent.process.stderr is not None
    assert agent.process.stderr.read() == ""


@pytest.mark.soak
@needs_mcp
@needs_sandbox
@pytest.mark.slow(3)
def test_ctrl_c_ends_it_at_once(agent: Agent) -> None:
    every = processes_of(agent.process.pid)
    agent.process.send_signal(2)
    assert agent.process.wait() == 130
    assert left_of(every) == []
    assert agent.process.stderr is not None
    assert agent.process.stderr.read() == ""


@needs_mcp
@needs_sandbox
@pytest.mark.slow(6)
@pytest.mark.parametrize("reads", [pytest.param(True, marks=pytest.mark.soak), False], ids=["reads", "never reads"])
def test_an_agent_that_vanishes_in_the_middle_leaves_no_process_and_no_traceback(agent: Agent, reads: bool) -> None:
    """Its pipes are closed, as those of an agent that is killed; before that, one reads, and the other does not."""
    arguments = {"answer": "a.py", "text": SLOW, "op": "row_sum", "budget": 2}
    agent.send("tools/call", name="judge", arguments=arguments)
    if not reads:
        for _ in range(400):  # their replies are more than a pipe holds
            agent.send("tools/list")
    every = processes_of(agent.process.pid)
    assert len(every) > 1
    assert agent.process.stdin is not None
    assert agent.process.stdout is not None
    assert agent.process.stderr is not None
    agent.process.stdin.close()
    agent.process.stdout.close()
    assert left_of(every) == []
    assert "Traceback" not in agent.process.stderr.read()


@needs_sandbox
@pytest.mark.slow
def test_without_the_package_one_line_says_how_to_install_it(tmp_path: Path) -> None:
    text = "import sys; sys.modules['mcp'] = None; from kfuzz.ui.commands.group import main; main(['serve'])"
    ran = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1), ran.stderr
    assert ran.stderr.startswith("kfuzz serve needs mcp: python -m pip install ")
