"""kfuzz serve: judges answers of agents and trainers until it is ended. Knows options and exit codes."""

import importlib
import json
import os

import click

from kfuzz.common.exit_codes import INTERRUPTED
from kfuzz.common.installation import install_line
from kfuzz.devices import DeviceError
from kfuzz.devices.sandbox.box import why_not
from kfuzz.ui.commands.judge import jobs_option, processors
from kfuzz.ui.commands.options import time_limit_options
from kfuzz.ui.serving.http_front import VerdictServer
from kfuzz.ui.serving.pool import JudgingPool

TO_WRITE = 2.0
"""Seconds in which each connection may write its last lines."""


@click.command()
@click.option("--http", "port", type=click.IntRange(0, 65535), metavar="PORT",
              help="Serve HTTP on this port of 127.0.0.1; 0 is any free port. Default: MCP on the standard input and "
              "output.")  # fmt: skip
@jobs_option
@time_limit_options
def serve(port: int | None, jobs: int | None) -> None:
    """Judge answers that come one by one or in batches, in processes that stay warm.

    Each verdict is that of kfuzz judge with the same seed and budget. Answers run in a sandbox. A process that is
    killed is replaced, and its answer is tried again.

    \b
    kfuzz serve                   an MCP server with one tool, judge: put this command into your agent's settings
    kfuzz serve --http 8642       POST /judge and GET /health on 127.0.0.1; it prints its URL and a token as JSON

    A request is JSON: {"answer": "softmax.cu", "op": "softmax", "seed": 7}. "answer" is a path or, with "text", a name
    for the text; "reference" is a path, in the place of "op"; "budget" is in seconds. {"answers": [...], "op": ...} has
    many of them, and the verdicts come as lines of JSON. Send the token as "Authorization: Bearer TOKEN". A client
    with the token can run any reference with your rights.

    Exit code: 0 its input has ended; 130 you interrupted it; 2 it could not start.
    """
    if missing := why_not():
        raise DeviceError(f"{missing}; kfuzz serve runs no answer without a sandbox")
    many = jobs or processors()
    if port is not None:
        _serve_http(port, many)
    else:
        _serve_mcp(many)


def _serve_http(port: int, jobs: int) -> None:
    with JudgingPool(jobs, is_only=True) as pool:
        try:
            server = VerdictServer(port, pool)
        except OSError as error:
            raise DeviceError(f"127.0.0.1:{port}: {error.strerror}; --http 0 takes a free port") from None
        with server:
            click.echo(json.dumps({"url": server.url, "token": server.token, "pid": os.getpid()}))
            try:
                server.serve_forever()
            finally:
                pool.close()
                server.finish(TO_WRITE)


def _serve_mcp(jobs: int) -> None:
    try:
        front = importlib.import_module("kfuzz.ui.serving.mcp_tool")
    except ImportError:
        raise DeviceError(f"kfuzz serve needs mcp: {install_line('serve')}; with --http it needs nothing") from None
    with JudgingPool(jobs, is_only=True) as pool:
        try:
            front.serve(pool)
        except KeyboardInterrupt:
            pool.close()
            os._exit(INTERRUPTED)  # a thread still waits for the standard input
