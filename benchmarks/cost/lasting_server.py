"""What one `kfuzz serve --http` holds after thousands of verdicts, and whether a file's verdict stays the same.

    python -m benchmarks.cost measure lasting_server [--count 10000] [--jobs 30] [--every 100]
    python -m benchmarks.cost.lasting_server --count 10000 --jobs 30 --out FILE

It starts the server as a user does, with folders of its own for the cache and for temporary files, and sends the
answers of lasting_answers.toml in a drawn order. Whenever no answer is judged after so many verdicts, it counts what
the server and all that it has started hold. The second command writes the same data to FILE, which takes no page. It
needs a C++ compiler and, for those of the answers, torch and Triton; no network and no GPU. Where one of them is
missing, those answers are left out.

Long, since the server, its clients and what they hold are watched by one script.
"""

import argparse
import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.measurement import Figures, Record, as_json, describe
from kfuzz.devices import processes
from kfuzz.devices.memory.machine_memory import resident_bytes

ANSWERS = Path(__file__).with_name("lasting_answers.toml")
NEEDED = {"extension": "torch", "ModelNew": "torch", "Triton": "triton"}
SEED, BUDGET = 7, 3.0
"""A budget of three seconds is eight trials of Python, the fewest that there are."""
PATIENCE = 900.0
"""Seconds without a line after which the server is taken to hang: all limits of an answer together are less."""
MOST_WARMINGS = 4
"""Rounds of every kind until each is judged within its time: one is enough where nothing else runs."""
LEAST_SAMPLES = 4
"""A line through fewer says nothing about its error."""
SETTLED = 60.0
"""Seconds in which what has ended must be gone, on a busy machine."""
BUSY = ("seconds", "id", "answer", "is_cut_short")
"""What a verdict says of how busy the machine was."""
VERDICT = ("error", "status", "stage", "kind", "properties")
"""What a verdict is, unless the clock has ended its trials; its smallest case may depend on the clock, too."""
COLUMNS = (
    "memory",
    "server",
    "judges",
    "largest",
    "processes",
    "threads",
    "files",
    "scratch",
    "temporary",
    "cache",
    "cached",
)


@dataclass(frozen=True)
class Kind:
    """One kind of answer, and what the verdict on it must be."""

    name: str
    file: str
    share: int
    text: str
    status: str
    is_fresh: bool
    op: str = ""
    has_problem: bool = False


def kinds() -> tuple[str, tuple[Kind, ...]]:
    """The problem, and the kinds that this machine can judge."""
    every = tomllib.loads(ANSWERS.read_text(encoding="utf-8"))
    problem = every.pop("problem")
    found = (Kind(name, **one) for name, one in every.items())
    return problem, tuple(
        one for one in found if not (needed := NEEDED.get(one.name.partition(",")[0])) or find_spec(needed)
    )


@dataclass(frozen=True)
class Served:
    """A server that runs, its folder, and how to reach it."""

    folder: Path
    pid: int
    host: str
    token: str

    def ask(self, path: str, body: object = None) -> Iterator[dict[str, Any]]:
        """The lines of a reply, as they come."""
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), headers)
        with connection.getresponse() as reply:
            if reply.status != http.client.OK:
                raise SystemExit(f"{reply.status}: {reply.read().decode()}")
            yield from map(json.loads, reply)
        connection.close()

    def health(self) -> dict[str, int]:
        """The counts of the server."""
        (counts,) = self.ask("/health")
        return counts


@contextmanager
def serve(jobs: int) -> Iterator[Served]:
    """A server with folders of its own; it is ended at the end, and must leave no process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for one in ("cache", "temporary"):
            (folder / one).mkdir()
        own = {"KFUZZ_CACHE": str(folder / "cache"), "TMPDIR": str(folder / "temporary")}
        command = [sys.executable, "-m", "kfuzz", "serve", "--http", "0", "--jobs", str(jobs)]
        with subprocess.Popen(
            command, cwd=folder, env={**os.environ, **own}, stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                assert process.stdout is not None
                about = json.loads(process.stdout.readline())
                yield Served(folder, process.pid, about["url"].removeprefix("http://"), about["token"])
            finally:
                process.terminate()


def held_by(server: Served) -> Record:
    """What it and all that it has started hold, once what has ended is gone: counted until two counts agree."""
    end, before = time.monotonic() + SETTLED, None
    while True:
        while server.health()["judging"]:
            time.sleep(0.05)
        now = _count(server)
        counts = {name: now[name] for name in ("processes", "threads", "files", "scratch")}
        if counts == before or time.monotonic() > end:
            return now
        before = counts
        time.sleep(0.5)


def _count(server: Served) -> Record:
    every = [server.pid, *processes.descendants(server.pid)]
    memory = [resident_bytes(one) for one in every]
    files = threads = 0
    for one in every:
        with suppress(OSError):  # it has ended meanwhile
            files += len(os.listdir(f"/proc/{one}/fd"))
            threads += len(os.listdir(f"/proc/{one}/task"))
    cache = [file for file in (server.folder / "cache").rglob("*") if file.is_file()]
    sizes = []
    for file in cache:
        with suppress(OSError):
            sizes.append(file.stat().st_size)
    building = server.folder / "cache" / "building"
    return {
        "memory": sum(memory), "server": memory[0], "judges": sum(map(resident_bytes, _judges(server))),
        "largest": max(memory[1:]), "processes": len(every), "threads": threads, "files": files,
        "scratch": len(list(building.iterdir())) if building.exists() else 0,
        "temporary": sum(1 for _ in (server.folder / "temporary").rglob("*")),
        "cache": len(cache), "cached": sum(sizes),
    }  # fmt: skip


def judge_all(server: Served, asked: Sequence[tuple[int, Kind]]) -> Iterator[tuple[Kind, dict[str, Any]]]:
    """The verdicts on some answers, each with a number of its own, in the order in which they come."""
    by_number = dict(asked)
    answers = []
    for number, kind in asked:
        mark = "//" if kind.file.endswith(".cu") else "#"
        text = f"{kind.text}{mark} {number}\n" if kind.is_fresh else kind.text
        what = {"reference": str(server.folder / "problem.py")} if kind.has_problem else {"op": kind.op}
        answers.append({"id": number, "answer": kind.file, "text": text, **what})
    for line in server.ask("/judge", {"answers": answers, "budget": BUDGET, "seed": SEED}):
        yield by_number.pop(line["id"]), line
    if by_number:
        raise SystemExit(f"{len(by_number)} of {len(asked)} answers have no verdict")


def outline(line: Mapping[str, Any]) -> str:
    """All of a verdict but what depends on how busy the machine was."""
    return json.dumps({name: one for name, one in line.items() if name not in BUSY}, sort_keys=True)


def warm_up(server: Served, every: Sequence[Kind], jobs: int) -> int:
    """Let every process judge each kind, until no clock ends a verdict early; the number of verdicts.

    What is compiled is compiled by a campaign first: on a busy machine a compiler outlasts the time of a verdict.
    """
    for kind in every:
        if kind.file.endswith(".cu"):
            file = server.folder / kind.file
            file.write_text(kind.text, encoding="utf-8")
            words = ("fuzz", str(file), "--op", kind.op, "--device", "cpu", "--max-cases", "1", "--seed", str(SEED))
            own = {"KFUZZ_CACHE": str(server.folder / "cache")}
            command = [sys.executable, "-m", "kfuzz", *words]
            subprocess.run(
                command, cwd=server.folder, env={**os.environ, **own}, stdout=subprocess.DEVNULL, check=False
            )
    count = 0
    for _ in range(MOST_WARMINGS):
        left = [(-1 - number, kind) for number, kind in enumerate([*every] * jobs)]
        found = list(judge_all(server, left))
        count += len(found)
        if not any(one.get("is_cut_short") for _, one in found):
            break
    return count


def slope(samples: Sequence[Record], name: str) -> Record:
    """The straight line of least squares through a count: its rise in a thousand verdicts, and that one's error."""
    at = np.array([one["verdicts"] for one in samples]) / 1000
    counts = np.array([float(one[name]) for one in samples])
    away = at - at.mean()
    rise = float(away @ counts / (away @ away))
    rest = counts - counts.mean() - rise * away
    error = float(np.sqrt(rest @ rest / (len(at) - 2) / (away @ away)))
    return {
        "what": name, "first": counts[0], "last": counts[-1], "least": counts.min(), "most": counts.max(),
        "rise": rise, "error": error,
    }  # fmt: skip


def of_kinds(found: Mapping[Kind, Sequence[Mapping[str, Any]]]) -> list[Record]:
    """What became of each kind.

    `others`: answers with another status than is right, or with an error. `cut_short`: the clock has ended the trials.
    `verdicts`: how many different ones, by VERDICT, the others have. `not_smallest`: it has ended the search for a
    smaller case; `whole`: how many different lines there are without those.
    """
    made = []
    for kind, lines in found.items():
        all_tried = [one for one in lines if not one.get("is_cut_short")]
        smallest = [one for one in all_tried if one.get("is_shrunk") or one.get("case") is None]
        seconds = [one["seconds"] for one in lines if "seconds" in one]
        made.append({
            "kind": kind.name, "count": len(lines), "wanted": kind.status,
            "others": sum(1 for one in lines if one.get("status") != kind.status),
            "cut_short": len(lines) - len(all_tried),
            "verdicts": len({tuple(str(one.get(name)) for name in VERDICT) for one in all_tried}),
            "not_smallest": len(all_tried) - len(smallest), "whole": len({*map(outline, smallest)}),
            "seconds": median(seconds) if seconds else 0.0, "longest": max(seconds, default=0.0),
        })  # fmt: skip
    return made


def measure(arguments: Sequence[str]) -> Figures:
    """Send so many answers to one server, and count what it holds now and then."""
    asked = options().parse_args(arguments)
    if asked.count < LEAST_SAMPLES * asked.every:
        raise SystemExit(f"--count: at least {LEAST_SAMPLES} times --every")
    problem, every = kinds()
    deck = [one for one in every for _ in range(one.share)]
    drawn = random.Random(SEED)  # noqa: S311  nothing secret
    found: dict[Kind, list[dict[str, Any]]] = {one: [] for one in every}
    samples: list[Record] = []
    with serve(asked.jobs) as server:
        (server.folder / "problem.py").write_text(problem, encoding="utf-8")
        warming = warm_up(server, every, asked.jobs)
        judges = {*_judges(server)}
        first = held_by(server)
        hand: list[Kind] = []
        until = time.monotonic() + 60 * asked.minutes
        for done in range(0, asked.count, asked.every):
            if len(samples) >= LEAST_SAMPLES and time.monotonic() > until:
                break
            while len(hand) < asked.every:
                hand += drawn.sample(deck, len(deck))
            now, hand = hand[: asked.every], hand[asked.every :]
            now.sort(key=lambda one: -("sleeps" in one.name))  # else a whole batch waits for the last one
            began = time.monotonic()
            for kind, line in judge_all(server, [*enumerate(now, done)]):
                found[kind].append(line)
            took = time.monotonic() - began
            judges |= {*_judges(server)}
            samples.append({"verdicts": done + asked.every, "rate": asked.every / took, **held_by(server)})
            print(samples[-1], file=sys.stderr, flush=True)
        counts = server.health()
    numbers = {
        "count": samples[-1]["verdicts"], "jobs": asked.jobs, "every": asked.every, "warming": warming, "seed": SEED,
        "budget": BUDGET, "lost": counts["lost"], "judges": len(judges),
    }  # fmt: skip
    rises = [slope(samples, name) for name in (*COLUMNS, "rate")]
    whole = [{"verdicts": 0, "rate": 0.0, **first}, *samples]
    return Figures(numbers, {"rises": rises, "kinds": of_kinds(found), "samples": whole})


def _judges(server: Served) -> list[int]:
    """The processes that the server itself has started."""
    below = [child for child, parent in processes.parents().items() if parent == server.pid]
    return [one for one in below if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]


def options() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="verdicts")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that judge")
    parser.add_argument("--every", type=int, default=100, help="verdicts between two samples")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="send no more after so long")
    return parser


def main() -> None:
    """Measure, and write the data to a file."""
    parser = options()
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    words = ["--count", str(asked.count), "--jobs", str(asked.jobs), "--every", str(asked.every)]
    if asked.minutes < float("inf"):
        words += ["--minutes", str(asked.minutes)]
    made = describe("cost", "lasting_server", words, measure(words))
    asked.out.write_text(as_json(made), encoding="utf-8")


if __name__ == "__main__":
    main()
