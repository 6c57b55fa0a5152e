"""`kfuzz serve --http` in a process of its own, and what it and all that it has started hold."""

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kfuzz.campaign.answers import Judgement
from kfuzz.devices import processes
from kfuzz.ui.reports.judgements import as_dict

RIGHT = "import numpy as np\n\n\ndef f(x):\n    return x.sum(1, dtype=np.float32)\n"
WRONG = "import numpy as np\n\n\ndef f(x):\n    return x[:, :-1].sum(1) if x.shape[1] > 1 else x.sum(1)\n"
SLOW = "import time\n\n\ndef f(x):\n    time.sleep(0.1)\n    return x.sum(1)\n"
NO_PYTHON = "def f(\n"
FORGING = (
    "import os\n\n\ndef f(x):\n    for one in range(3, 64):\n        try:\n            os.write(one, b'x' * 64)\n"
    "        except OSError:\n            pass\n    return x.sum(1)\n"
)
WAIT = 60.0
"""Seconds, on a busy machine."""
Headers = dict[str, str | None]


@dataclass
class RunningServer:
    """A server and how to reach it."""

    process: "subprocess.Popen[str]"
    host: str
    token: str

    def open(self, body: object, path: str = "/judge", **changed: str | None) -> http.client.HTTPConnection:
        """Send a request; None leaves a header out."""
        connection = http.client.HTTPConnection(self.host, timeout=WAIT)
        usual: Headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        headers = {name: one for name, one in {**usual, **changed}.items() if one is not None}
        raw = body if isinstance(body, bytes) else json.dumps(body)
        connection.request("GET" if body is None else "POST", path, None if body is None else raw, headers)
        return connection

    def ask(self, body: object, path: str = "/judge", **changed: str | None) -> tuple[int, list[dict[str, object]]]:
        """The status and the lines of the answer."""
        connection = self.open(body, path, **changed)
        reply = connection.getresponse()
        lines = [json.loads(line) for line in reply.read().decode().splitlines()]
        connection.close()
        return reply.status, lines

    def health(self) -> dict[str, int]:
        """The counts of the server."""
        ((_, (counts,)),) = (self.ask(None, "/health"),)
        return {name: int(str(one)) for name, one in counts.items()}

    def wait_until(self, **wanted: int) -> dict[str, int]:
        """The counts, once these of them are as wanted or larger; zero is meant exactly."""
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            counts = self.health()
            if all(counts[name] >= least if least else counts[name] == 0 for name, least in wanted.items()):
                return counts
            time.sleep(0.05)
        raise AssertionError(f"{counts}: not {wanted}")

    def every_process(self) -> list[tuple[int, str]]:
        """It and all that it has started, each with the time of its start."""
        return processes_of(self.process.pid)


def processes_of(pid: int) -> list[tuple[int, str]]:
    """A process and all that it has started, each with the time of its start."""
    return [(one, start) for one in (pid, *processes.descendants(pid)) if (start := start_of(one))]


def judges_of(pid: int) -> set[int]:
    """The processes that judge for a process."""
    below = [one for one, parent in processes.parents().items() if parent == pid]
    return {one for one in below if start_of(one) and b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()}


def start_of(pid: int) -> str:
    """When a process was started; empty if it is gone, or has ended and is waited for."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def left_of(every: Sequence[tuple[int, str]]) -> list[int]:
    """Those of some processes that still run after a while."""
    end = time.monotonic() + WAIT
    while (left := [pid for pid, start in every if start_of(pid) == start]) and time.monotonic() < end:
        time.sleep(0.05)
    return left


@contextmanager
def serving(
    folder: Path, *options: str, before: Sequence[str] = (), cache: Path | None = None
) -> Iterator[RunningServer]:
    """A server in this folder, with a cache of its own or with this one; it is killed at the end."""
    (folder / "cache").mkdir(parents=True, exist_ok=True)
    command = [*before, sys.executable, "-m", "kfuzz", "serve", "--http", "0", *options]
    environment = {**os.environ, "KFUZZ_CACHE": str(cache or folder / "cache")}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            about = json.loads(process.stdout.readline())
            yield RunningServer(process, about["url"].removeprefix("http://"), about["token"])
        finally:
            process.kill()


def held_until(held: Callable[[], dict[str, int]], is_enough: Callable[[dict[str, int]], bool]) -> dict[str, int]:
    """What is held, once that is enough, or after a while."""
    end = time.monotonic() + WAIT
    while not is_enough(now := held()) and time.monotonic() < end:
        time.sleep(0.05)
    return now


def outline(found: Judgement | dict[str, object]) -> dict[str, object]:
    """All of a judgement but what depends on how busy the machine is."""
    every: dict[str, object] = {**as_dict(found)} if isinstance(found, Judgement) else found
    return {name: one for name, one in every.items() if name not in ("seconds", "answer", "id")}
