"""How long one verdict takes, cold and warm, how many an hour one process gives, and what the sandbox costs.

    python -m benchmarks.cost measure verdict_time [--rounds 7]

The answers are those of lasting_answers.toml, right and wrong, one at a time. Cold: `kfuzz judge` in a new process,
with a cache that is empty. Warm: a server that has judged one answer of the kind; each answer has a text of its own, so
what is compiled is compiled again. The same answers are given to `kfuzz fuzz`, a new process for each, with as many
trials: that is how answers were judged before there was a server.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.cost.lasting_server import SEED, Kind, Served, kinds, serve
from benchmarks.measurement import Figures, Record
from kfuzz.devices.sandbox.box import why_not

OF_ANSWERS = ("extension", "ModelNew", "Triton", "function")
COLD = 3
"""Rounds of a verdict that takes as long as all of torch's imports and a compilation."""
BUDGET = 10.0


def answer_of(kind: Kind, number: int) -> str:
    """The text of an answer that no other answer has."""
    return f"{kind.text}{'//' if kind.file.endswith('.cu') else '#'} {number}\n"


def seconds_of(words: Sequence[str], folder: Path, cache: Path) -> tuple[float, str]:
    """How long a command takes, and what it prints."""
    began = time.perf_counter()
    own = {"KFUZZ_CACHE": str(cache), "TMPDIR": str(folder)}
    command = [sys.executable, "-m", "kfuzz", *words]
    done = subprocess.run(command, cwd=folder, env={**os.environ, **own}, capture_output=True, text=True, check=False)
    return time.perf_counter() - began, done.stdout


def said_of(kind: Kind, folder: Path) -> list[str]:
    """The words that say what is right."""
    return ["--reference", str(folder / "problem.py")] if kind.has_problem else ["--op", kind.op]


def judged_cold(kind: Kind, number: int, folder: Path, cache: Path, *words: str) -> float:
    """The seconds of a verdict in a process of its own."""
    (folder / kind.file).write_text(answer_of(kind, number), encoding="utf-8")
    every = ["judge", kind.file, *said_of(kind, folder), "--budget", f"{BUDGET:g}s", "--seed", str(SEED), *words]
    seconds, said = seconds_of(every, folder, cache)
    check(kind, json.loads(said.splitlines()[-1]))
    return seconds


def judged_warm(kind: Kind, number: int, server: Served) -> tuple[float, dict[str, Any]]:
    """The seconds of a verdict by a server, and the verdict."""
    what = {"reference": str(server.folder / "problem.py")} if kind.has_problem else {"op": kind.op}
    asked = {"id": number, "answer": kind.file, "text": answer_of(kind, number), "budget": BUDGET, "seed": SEED, **what}
    began = time.perf_counter()
    (line,) = server.ask("/judge", asked)
    seconds = time.perf_counter() - began
    check(kind, line)
    return seconds, line


def check(kind: Kind, verdict: dict[str, Any]) -> None:
    """End where an answer gets another verdict than is right: its seconds are not those of a verdict."""
    if verdict.get("status") != kind.status:
        raise SystemExit(f"{kind.name}: {verdict.get('status')} and not {kind.status}: {verdict.get('finding')}")


def seconds_row(kind: Kind, what: str, seconds: Sequence[float]) -> Record:
    """The median and the 90th percentile of some rounds."""
    return {
        "kind": kind.name, "what": what, "rounds": len(seconds), "median": median(seconds),
        "late": float(np.quantile(seconds, 0.9)), "most": max(seconds),
    }  # fmt: skip


def measure(arguments: Sequence[str]) -> Figures:
    """Each kind cold and warm, then a deck of them by a server and by campaigns, then with and without the sandbox."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="verdicts of each kind by the server")
    rounds: int = parser.parse_args(arguments).rounds
    problem, every = kinds()
    every = tuple(replace(one, is_fresh=True) for one in every if one.name.partition(",")[0] in OF_ANSWERS)
    rows: list[Record] = []
    trials: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as name, serve(1) as server:
        folder = Path(name)
        for one in (folder, server.folder):
            (one / "problem.py").write_text(problem, encoding="utf-8")
        for kind in every:
            cold = [judged_cold(kind, -number, folder, folder / f"{kind.name} {number}") for number in range(COLD)]
            rows.append(seconds_row(kind, "cold", cold))
            judged_warm(kind, -1, server)
            warm = [judged_warm(kind, number, server) for number in range(rounds)]
            rows.append(seconds_row(kind, "warm", [seconds for seconds, _ in warm]))
            rows.append(seconds_row(kind, "known", [judged_warm(kind, 0, server)[0] for _ in range(COLD)]))
            trials[kind.name] = warm[0][1]["trials"]
            print(rows[-3:], file=sys.stderr, flush=True)
        deck = [(kind, 1000 + number) for number in range(2) for kind in every]
        served = sum(judged_warm(kind, number, server)[0] for kind, number in deck)
        fuzzed = 0.0
        for kind, number in deck:
            (folder / kind.file).write_text(answer_of(kind, number), encoding="utf-8")
            words = ["fuzz", kind.file, *said_of(kind, folder), "--device", "cpu", "--seed", str(SEED)]
            words += ["--max-cases", str(max(1, trials[kind.name]))]
            fuzzed += seconds_of(words, folder, folder / "campaigns")[0]
        plain = next(one for one in every if one.name == "function, right")
        boxed, open_ = ([], []) if why_not() else boxes(plain, folder, rounds)
    numbers = {
        "rounds": rounds, "budget": BUDGET, "seed": SEED, "answers": len(deck), "served": served, "fuzzed": fuzzed,
        "boxed": median(boxed) if boxed else 0.0, "open": median(open_) if open_ else 0.0,
    }  # fmt: skip
    return Figures(numbers, {"verdicts": rows})


def boxes(kind: Kind, folder: Path, rounds: int) -> tuple[list[float], list[float]]:
    """The seconds of verdicts in a process of its own with the sandbox and without, in turns."""
    found: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 1):
        for place, words in enumerate(((), ("--no-sandbox",))):
            seconds = judged_cold(kind, number, folder, folder / "boxes", *words)
            if number:  # the first one compiles what all use
                found[place].append(seconds)
    return found


if __name__ == "__main__":
    measure(sys.argv[1:])
