"""What is left when something dies in the middle of a verdict: a judging process, the server, a client, the disk."""

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from verdict_server import RIGHT, SLOW, WAIT, RunningServer, judges_of, left_of, serving

from kfuzz.devices import cache, processes
from kfuzz.devices.sandbox.box import why_not
from kfuzz.ui.serving.http_front import MOST_CONNECTIONS, VerdictServer
from kfuzz.ui.serving.pool import JudgingPool

pytestmark = [
    pytest.mark.slow(10),
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a sandbox"),
]
LOOPS = "def f(x):\n    while True:\n        pass\n"
KERNEL = """#include <cuda_runtime.h>

// %s
__global__ void row_sums(const float *x, float *y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < cols; i++) sum += x[(size_t)row * cols + i];
  y[row] = sum;
}

void launch(const float *x, float *y, int rows, int cols) {
  row_sums<<<(rows + 31) / 32, 32>>>(x, y, rows, cols);
}
"""
TERMS = {"op": "row_sum", "budget": 2.0, "seed": 3}
FEW_BYTES = b'{"answer"'
Below = Callable[[list[tuple[int, str]]], bool]


def commands_of(every: list[tuple[int, str]]) -> list[str]:
    """The names of the programs of some processes."""
    found = []
    for pid, _ in every:
        try:
            found.append(Path(f"/proc/{pid}/comm").read_text().strip())
        except OSError:
            continue  # it has ended meanwhile
    return found


def is_compiling(every: list[tuple[int, str]]) -> bool:
    return "cc1plus" in commands_of(every)


def is_looping(every: list[tuple[int, str]]) -> bool:
    """Whether a process of an answer has used a whole second: it loads and then calls in less, and it loops."""
    return len(every) > 4 and any(processes.processor_seconds(pid) > 1 for pid, _ in every[4:])


def wait_for(server: RunningServer, is_there: Below) -> list[tuple[int, str]]:
    """The server and all that it has started, once that holds."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if is_there(every := server.every_process()):
            return every
        time.sleep(0.01)
    raise AssertionError(commands_of(every))


@pytest.mark.parametrize(
    ("answer", "text", "is_there"),
    [
        pytest.param("a.cu", KERNEL, is_compiling, id="compiles"),
        pytest.param("a.py", LOOPS, is_looping, id="loops", marks=pytest.mark.soak),  # until it hangs: 26 s
    ],
)
def test_a_process_that_is_killed_while_it_judges_takes_all_it_has_started_with_it(
    tmp_path: Path, answer: str, text: str, is_there: Below
) -> None:
    text = text.replace("%s", str(tmp_path))
    with serving(tmp_path, "--jobs", "1", cache=cache.folder()) as server:
        connection = server.open({"answer": answer, "text": text, **TERMS})
        every = wait_for(server, is_there)
        (judge,) = judges_of(server.process.pid)
        below = [one for one in every if one[0] in processes.descendants(judge)]
        assert below
        os.kill(judge, signal.SIGKILL)
        assert left_of(below) == []
        found = json.loads(connection.getresponse().read())
        assert found["status"] == ("kept" if text is not LOOPS else "broken"), found
        assert server.health()["lost"] == 1


@pytest.mark.parametrize(
    "with_judges", [False, pytest.param(True, marks=pytest.mark.soak)], ids=["alone", "with its judges"]
)
def test_a_server_that_is_killed_while_it_compiles_leaves_no_process_and_a_cache_that_serves_the_next(
    tmp_path: Path, with_judges: bool
) -> None:
    request = {"answer": "a.cu", "text": KERNEL.replace("%s", str(tmp_path)), **TERMS}
    with serving(tmp_path, "--jobs", "1", cache=cache.folder()) as server:
        connection = server.open(request)
        every = wait_for(server, is_compiling)
        for pid in (server.process.pid, *(judges_of(server.process.pid) if with_judges else ())):
            os.kill(pid, signal.SIGKILL)
        assert left_of(every) == []
        connection.close()
    with serving(tmp_path, "--jobs", "1", cache=cache.folder()) as server:
        status, (found,) = server.ask(request)
        assert (status, found["status"]) == (200, "kept"), found


def test_a_server_that_is_killed_takes_an_answer_that_may_loop_for_ten_minutes_with_it(tmp_path: Path) -> None:
    with serving(tmp_path, "--jobs", "1") as server:
        connection = server.open({"answer": "a.py", "text": LOOPS, **TERMS, "budget": 600.0})
        every = wait_for(server, is_looping)
        server.process.kill()
        assert left_of(every) == []
        connection.close()


def test_a_right_answer_that_a_full_disk_does_not_let_compile_gets_an_error_and_no_verdict(tmp_path: Path) -> None:
    mount = 'mount -t tmpfs -o size=96k kfuzz "$KFUZZ_CACHE" && exec "$@"'
    before = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, "sh"]
    can = ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "kfuzz", str(tmp_path)]
    if not shutil.which("unshare") or subprocess.run(can, capture_output=True, check=False).returncode:
        pytest.skip("this machine gives no namespaces")
    with serving(tmp_path, "--jobs", "1", before=before) as server:
        status, (line,) = server.ask({"answer": "a.cu", "text": KERNEL, **TERMS})
        assert (status, [*line]) == (500, ["error"]), line
        assert "0 MB are left there, and a compiler may need 128" in str(line["error"])
        assert server.ask({"answer": "a.py", "text": RIGHT, **TERMS})[1][0]["status"] == "kept"
        assert server.health()["lost"] == 0


def test_an_answer_whose_compiler_writes_without_end_cannot_run_and_others_go_on(tmp_path: Path) -> None:
    fills = KERNEL + "__device__ char filler[3ull << 30] = {1};\n"
    with serving(tmp_path, "--jobs", "1", cache=cache.folder()) as server:
        status, (found,) = server.ask({"answer": "a.cu", "text": fills, **TERMS, "budget": 60.0})
        assert (status, found["status"]) == (200, "cannot run"), found
        assert "File size limit exceeded" in str(found["finding"])
        assert server.ask({"answer": "a.py", "text": RIGHT, **TERMS})[1][0]["status"] == "kept"


@contextmanager
def served_here(patience: float) -> Iterator[RunningServer]:
    """A server in a thread of this process, which waits so long for its clients."""
    with JudgingPool(1) as pool, VerdictServer(0, pool, patience) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield RunningServer(None, server.url.removeprefix("http://"), server.token)  # type: ignore[arg-type]
        finally:
            server.shutdown()
            thread.join()


def send(server: RunningServer, body: bytes, size: int | None = None) -> socket.socket:
    """A connection with a request whose body is said to have so many bytes."""
    host, _, port = server.host.partition(":")
    head = (
        f"POST /judge HTTP/1.1\r\nHost: {server.host}\r\nAuthorization: Bearer {server.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body) if size is None else size}\r\n\r\n"
    )
    connection = socket.create_connection((host, int(port)), WAIT)
    connection.sendall(head.encode() + body)
    return connection


def read_all(connection: socket.socket) -> str:
    """What comes until the other end closes."""
    with connection.makefile("rb") as file:
        return file.read().decode()


def test_half_a_request_gets_one_line_when_it_ends_and_when_it_stalls() -> None:
    with served_here(patience=0.5) as server:
        with send(server, FEW_BYTES, 100) as ended:
            ended.shutdown(socket.SHUT_WR)
            reply = read_all(ended)
        assert reply.startswith("HTTP/1.1 400 ")
        assert json.loads(reply.splitlines()[-1]) == {"error": "9 of 100 bytes have come"}
        with send(server, FEW_BYTES, 100) as stalled:
            reply = read_all(stalled)
        assert reply.startswith("HTTP/1.1 408 ")
        assert json.loads(reply.splitlines()[-1]) == {"error": "the request has not come within 0.5 s"}


def test_a_client_that_never_reads_keeps_no_thread_and_no_place_in_the_queue() -> None:
    many = [{"id": f"{number}{'x' * 4000}", "seed": -1} for number in range(9000)]
    body = json.dumps({"answers": many, **TERMS}).encode()
    with served_here(patience=1.0) as server:
        before = threading.active_count()
        with send(server, body):
            assert server.ask({"answer": "a.py", "text": RIGHT, **TERMS})[1][0]["status"] == "kept"
            end = time.monotonic() + WAIT
            while threading.active_count() > before and time.monotonic() < end:
                time.sleep(0.05)
            assert threading.active_count() == before
        assert server.wait_until(judging=0, waiting=0)["judged"] == 1


def test_clients_beyond_the_last_connection_get_one_line_and_the_server_goes_on(tmp_path: Path) -> None:
    with serving(tmp_path, "--jobs", "1") as server, ExitStack() as stack:
        for _ in range(MOST_CONNECTIONS):
            stack.enter_context(send(server, FEW_BYTES, 100))
        status, (line,) = server.ask({"answer": "a.py", "text": RIGHT, **TERMS})
        assert (status, line) == (503, {"error": "64 connections are open already: try again later"})
        stack.close()
        end = time.monotonic() + WAIT
        while (reply := server.ask(None, "/health"))[0] == 503 and time.monotonic() < end:
            time.sleep(0.05)
        assert reply[0] == 200
        assert server.ask({"answer": "a.py", "text": RIGHT, **TERMS})[1][0]["status"] == "kept"


def test_a_client_that_resets_its_connection_takes_its_answers_out_of_the_queue(tmp_path: Path) -> None:
    with serving(tmp_path, "--jobs", "1") as server:
        body = json.dumps({"answers": [{"answer": "a.py", "text": SLOW}] * 8, **TERMS}).encode()
        connection = send(server, body)
        server.wait_until(judging=1, waiting=7)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # closing resets
        connection.close()
        server.wait_until(waiting=0)
        assert server.ask({"answer": "a.py", "text": RIGHT, **TERMS})[1][0]["status"] == "kept"
        assert server.health()["judged"] <= 3
