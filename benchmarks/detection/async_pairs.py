"""What devices and tools show of planted bugs in asynchronous work: copies, TMA, wgmma, tcgen05, early launches.

    python -m benchmarks.detection measure async_pairs [cpu] [gpu] [sanitize] [--missing]

gpu and sanitize need a Hopper GPU, and leave out what only Blackwell has. What the command does not name stays as
data/async_pairs.json has it. On a GPU the results are written after each pair to data/async_pairs, which git ignores:
--missing goes on from there after an interruption, and otherwise from data/async_pairs.json. The programs are those of
the tests: a pair is a case without its bug and with it.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock

from benchmarks.measurement import Figures, Record, measure_parts, read, write_json
from kfuzz.devices import nvcc
from kfuzz.devices.cpu.programs.server import Server
from kfuzz.devices.gpu import driver, nvidia, sanitizer

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "helpers"))
import early_cases
import planted_cases
import planted_jobs
import program_runs

DATA = Path(__file__).with_name("data") / "async_pairs.json"
WAYS = ("cpu", "gpu", "sanitize")
EARLY = "early_launches"
HOPPER = ("bulk_copies", "bulk_copies_by_ptx", "tensor_maps", "wgmma", "async_stores")
BLACKWELL = ("tensor_memory", "launch_control")
SEEDS = (1, 2, 3)
RUNS = 20
"""Runs of each program on a GPU."""
SECONDS = 20
"""A run that lasts longer never ends: each takes less than a second; a tool takes a few."""
AT_ONCE = 16
Results = Mapping[str, Record]
"""What is known of each pair, by its title."""


@dataclass(frozen=True)
class Pair:
    """A case, with the words that run it without its bug and with it; `mark` names its line."""

    file: str
    name: str
    mark: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]

    @property
    def kind(self) -> str:
        return planted_jobs.expected_if(self.file, self.mark)[1]

    @property
    def title(self) -> str:
        return f"{self.file}: {self.name}"


def pairs(files: Sequence[str]) -> Iterator[Pair]:
    """The pairs of these files; an early launch has one bug among several right cases."""
    for file in files:
        if file != EARLY:
            for case in planted_cases.wrong_cases(file):
                if case in planted_cases.right_cases(file):
                    yield Pair(file, case, case, (case,), ("wrong", case))
            continue
        for way, cases in early_cases.WRONG.items():
            for case, mark in cases.items():
                yield Pair(EARLY, f"{case} ({way})", mark, (way, early_cases.RIGHT[way][0]), (way, case))


def on_cpu(known: Results) -> dict[str, Record]:
    """The seeds of which the wrong case has an error of its kind, and those of which the right one has a finding."""
    with (
        tempfile.TemporaryDirectory(prefix="kfuzz-pairs-") as place,
        ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool,
    ):
        files = (EARLY, *HOPPER, *BLACKWELL)
        programs = dict(zip(files, pool.map(partial(built_for_cpu, Path(place)), files), strict=True))
        left = [pair for pair in pairs(files) if pair.title not in known]
        found = pool.map(lambda pair: (pair.title, checked(programs[pair.file], pair)), left)
        return {**known, **dict(found)}


def built_for_cpu(place: Path, file: str) -> Path:
    (place / file).mkdir()
    return program_runs.built(place / file, str(planted_jobs.PLANTED / f"{file}.cu"))


def checked(program: Path, pair: Pair) -> Record:
    """In how many seeds kfuzz finds the bug, and in how many it accuses the right case."""
    wanted = planted_jobs.expected_if(pair.file, pair.mark)
    with closing(Server()) as server:
        seen = [wanted in planted_cases.examine(program, *pair.wrong, seed=seed, by=server)[0] for seed in SEEDS]
        accused = [bool(planted_cases.examine(program, *pair.right, seed=seed, by=server)[1]) for seed in SEEDS]
    found = {"seeds": sum(seen), "accused": sum(accused)}
    print(f"{pair.title}: {found}", file=sys.stderr, flush=True)
    return found


def built_by_nvcc(place: Path) -> dict[str, Path]:
    """The programs for this GPU, with the instructions that only its generation has."""
    made = {}
    for file in (EARLY, *HOPPER):
        made[file] = place / file
        words = [nvcc.find_nvcc(), "-std=c++17", "-lineinfo", *nvcc.code_for(f"{driver.gpu().architecture}a")]
        subprocess.run([*words, str(planted_jobs.PLANTED / f"{file}.cu"), "-o", str(made[file])], check=True)
    return made


def each_on_gpu(one: Callable[[Path, Pair], Record], part: Path, known: Results) -> dict[str, Record]:
    """What a function says of each pair that is not known yet, several at once; a file has each as soon as it is."""
    made, lock = dict(known), Lock()

    def keep(pair: Pair) -> None:
        record = one(programs[pair.file], pair)
        with lock:
            made[pair.title] = record
            part.write_text(write_json(dict(sorted(made.items()))), encoding="utf-8")

    with tempfile.TemporaryDirectory(prefix="kfuzz-pairs-") as place, ThreadPoolExecutor(AT_ONCE) as pool:
        programs = built_by_nvcc(Path(place))
        list(pool.map(keep, [pair for pair in pairs((EARLY, *HOPPER)) if pair.title not in made]))
    return made


def on_gpu(program: Path, pair: Pair) -> Record:
    """How the runs of both cases end."""
    return {"right": endings(program, pair, pair.right), "wrong": endings(program, pair, pair.wrong)}


def endings(program: Path, pair: Pair, words: Sequence[str]) -> dict[str, int]:
    """How so many runs in one process end; one that never ends, or fails, ends the process.

    A program prints the name of a case whose answer is right, and the line of a call that fails.
    """
    command = ["timeout", "-s", "KILL", str(SECONDS), str(program), *words * RUNS]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode in (137, -9):
        return {"never ends": 1}
    if ran.returncode or "line " in ran.stdout:
        return {"fails": 1}
    if pair.file == EARLY:
        return {"ends": RUNS}
    right = ran.stdout.splitlines().count(words[-1])
    return {how: number for how, number in (("right answer", right), ("wrong answer", RUNS - right)) if number}


def by_tools(program: Path, pair: Pair) -> Record:
    """What the four tools report of both cases."""
    return {"right": reports(program, pair.right), "wrong": reports(program, pair.wrong)}


def reports(program: Path, words: Sequence[str]) -> list[str]:
    """The complaints of each tool: how many errors and warnings, or that it was still running."""
    said = []
    for tool in sanitizer.TOOLS:
        command = [nvidia.find_sanitizer(), "--tool", tool, *sanitizer.OPTIONS, str(program), *words]
        ran = subprocess.run(
            ["timeout", "-s", "KILL", str(SECONDS), *command], capture_output=True, text=True, check=False
        )
        counted = re.search(
            r"(?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: .*?\((\d+) errors?, (\d+) warnings?)", ran.stdout
        )
        if ran.returncode in (137, -9):
            said.append(f"{tool}: still running")
        elif counted and any(int(one or 0) for one in counted.groups()):
            is_warning = counted[3] and not int(counted[2])
            said.append(f"{tool}: {'a warning' if is_warning else 'an error'}")
    return said


def results_of_page() -> dict[str, Results]:
    """What the page shows, by way."""
    rows = read(DATA).table("pairs")
    return {way: {one["pair"]: one[way] for one in rows if one[way] is not None} for way in WAYS}


def measure_pairs(way: str, part: Path, known: Results) -> Results:
    """What is known of each pair in one way, and of all others."""
    if way == "cpu":
        return on_cpu(known)
    return each_on_gpu(on_gpu if way == "gpu" else by_tools, part, known)


def measure(arguments: Sequence[str]) -> Figures:
    """Measure what the command line names, and take the other results from the page."""
    return measure_parts(arguments, __doc__, WAYS, DATA, results_of_page(), measure_pairs, figures)


def figures(results: Mapping[str, Results]) -> Figures:
    """A record for each pair; None where it was not run."""
    return Figures({"seeds": len(SEEDS), "runs": RUNS, "seconds": SECONDS}, {
        "pairs": [
            {"pair": one.title, "kind": one.kind, **{way: results[way].get(one.title) for way in WAYS}}
            for one in pairs((EARLY, *HOPPER, *BLACKWELL))
        ],
    })  # fmt: skip
