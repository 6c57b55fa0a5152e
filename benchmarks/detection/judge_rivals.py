"""`kfuzz judge` beside rivals that need no GPU: answers drawn by seed, and cheats of ours, one process at a time.

    python -m benchmarks.detection measure judge_rivals LIST.json --keep FOLDER --ttsem PYTHON --kernelguard PROGRAM
                                                        [--first 12] [--stop 1500] [--only-kept]

LIST.json is as benchmarks.detection.solutions has it. Its first Triton answers and its first ones in plain torch are
taken, in its order, and beside them our own exhibits: the rows in torch of the table of cheats in tests, and the files
of tests/data/cheats, those in Python as answers to problems of KernelBench's form. The judges:

- `kfuzz judge`, in the sandbox and with the usual budget: all answers.
- KernelBench's own test on the CPU (own_test_process), with 1e-4 and with 1e-2: those in plain torch.
- `ttsem judge` (package ttsem; PYTHON is an interpreter that has it), without its sandbox: those in Triton.
- `kernelguard`, which reads the text alone: all answers. It knows no values: a text without a hack is not accepted.

Each has 120 seconds for an answer, with its start. Then what the answers in torch give at the problem's own inputs is
compared with the problem's model in float64 (judge_rivals_process), which takes part in no decision. FOLDER keeps each
decision as a line; read.jsonl there is a person's: who is right where the judges differ.
"""

import argparse
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from benchmarks.detection.kept_lines import add_line, read_lines
from benchmarks.detection.solutions import SEED, Solution, read_list, shortened
from benchmarks.measurement import Figures
from tests.fuzz.devices.sandbox.test_cheats import TORCH

ROOT = Path(__file__).parents[2]
LIMIT = 120.0
WORDS = 80
"""A judge's own words are cut after so many characters."""
ACCEPTS, REJECTS, SILENT = "accepts", "rejects", "says nothing"
DECISIONS, TRUTHS, READ = "decisions.jsonl", "float64.jsonl", "read.jsonl"
PROCESS = "benchmarks.detection.judge_rivals_process"
OURS = "kfuzz"
PROBLEM = """import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return {right}


def get_inputs():
    return [torch.rand({rows}, {columns})]


def get_init_inputs():
    return []
"""
ANSWER = """

class ModelNew(torch.nn.Module):
    def forward(self, x):
        return {function}(x)
"""
CLAIM = re.compile(r"^# /// kernel$.*?^# ///$\n", re.MULTILINE | re.DOTALL)

OF_TTSEM = {
    "verified": ACCEPTS, "wrong": REJECTS, "unsafe": REJECTS, "no_kernel": REJECTS, "error": REJECTS,
    "too_slow": SILENT, "not_judged": SILENT,
}  # fmt: skip
"""What its verdicts say of an answer."""
VERDICT = re.compile("|".join(OF_TTSEM))


@dataclass(frozen=True)
class Said:
    """What a judge makes of an answer."""

    decision: str
    words: str


@dataclass(frozen=True)
class Judge:
    """A judge: its name, the answers it is for, the command, and how to read what it prints."""

    name: str
    languages: tuple[str, ...]
    command: Callable[[Solution, argparse.Namespace], list[str]]
    read: Callable[[str], Said]
    reads_text: bool = False
    """Whether the answer is its standard input."""


def exhibits(folder: Path) -> list[Solution]:
    """Our own cheats and their right twins, as files."""
    folder.mkdir(parents=True, exist_ok=True)
    sums = PROBLEM.format(right="x.sum(1)", rows=128, columns=4096)
    shares = PROBLEM.format(right="torch.softmax(x, -1)", rows=2048, columns=1024)
    problems = {"row_sum": written(folder / "row_sum.py", sums), "softmax": written(folder / "softmax.py", shares)}
    made = []
    for one in TORCH:
        answer = written(folder / f"{named(one.name)}.py", one.code + ANSWER.format(function="f"))
        sort = "right twin" if one.harmless else "cheat"
        made.append(Solution(answer, problems["row_sum"], named(one.name), OURS, sort,
                             "tests/fuzz/devices/sandbox/test_cheats.py", "torch"))  # fmt: skip
    for path in sorted((ROOT / "tests/data/cheats").iterdir()):
        text, problem, language = path.read_text(encoding="utf-8"), path, "cuda"
        if path.suffix == ".py":
            text, language = CLAIM.sub("", text) + ANSWER.format(function="forward"), "torch"
            problem = problems["softmax"]
        answer = written(folder / path.name, text)
        made.append(Solution(answer, problem, path.stem, OURS, "cheat", f"tests/data/cheats/{path.name}", language))
    return made


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def named(words: str) -> str:
    """Words as a name."""
    return "_".join(re.findall(r"\w+", words))


def chosen(options: argparse.Namespace) -> list[Solution]:
    """The answers in turns, so that a run that is stopped has some of each kind."""
    every = read_list(options.list)
    kinds = [[one for one in every if one.language == kind][: options.first] for kind in ("triton", "torch")]
    turns = chain.from_iterable(zip_longest(*kinds, exhibits(options.keep / "exhibits")))
    return [one for one in turns if one is not None]


def ask_kfuzz(one: Solution, options: argparse.Namespace) -> list[str]:
    own = [] if one.problem.suffix == ".cu" else ["--reference", str(one.problem)]  # a CUDA file of ours has a claim
    return [options.kfuzz, "judge", str(one.solution), *own, "--seed", str(SEED), "--device", "cpu"]


def read_kfuzz(printed: str) -> Said:
    found = json.loads(printed.splitlines()[-1])
    status = found["status"]
    decision = {"kept": ACCEPTS, "broken": REJECTS, "misbehaved": REJECTS}.get(status, SILENT)
    return Said(decision, ": ".join(filter(None, (status, found["kind"], found["finding"]))))


def ask_own_test(tolerance: float) -> Callable[[Solution, argparse.Namespace], list[str]]:
    return lambda one, _: [sys.executable, "-m", PROCESS, "own_test", str(one.solution), str(one.problem),
                           "--tolerance", str(tolerance)]  # fmt: skip


def read_own_test(printed: str) -> Said:
    found = json.loads(printed.splitlines()[-1])
    if (
        not found["trials"] or "CUDA" in found["why"]
    ):  # an answer that asks for tensors of a GPU, by an assert of its own
        return Said(SILENT, found["why"])
    is_passed = found["passed"] == found["trials"]
    return Said(ACCEPTS if is_passed else REJECTS, f"{found['passed']} of {found['trials']}: {found['why']}")


def ask_ttsem(one: Solution, options: argparse.Namespace) -> list[str]:
    words = "--no-sandbox", "--timeout", str(int(LIMIT) - 5)
    return [options.ttsem, "-m", "ttsem", "judge", str(one.problem), str(one.solution), *words]


def read_ttsem(printed: str) -> Said:
    """Its pass at small sizes and that at the problem's own, if it made one, a line each; one that rejects decides."""
    passes = [line for line in printed.splitlines() if VERDICT.match(line)]
    decided = [OF_TTSEM[VERDICT.findall(line)[0]] for line in passes]
    if not decided:
        raise ValueError("it printed no verdict")
    return Said(next(one for one in (REJECTS, SILENT, ACCEPTS) if one in decided), "; ".join(passes))


def ask_kernelguard(_: Solution, options: argparse.Namespace) -> list[str]:
    return [options.kernelguard, "--api-mode"]


def read_kernelguard(printed: str) -> Said:
    found = json.loads(printed)
    rules = sorted({one["pattern"] for one in found["matched_patterns"]})
    return Said(REJECTS if found["should_filter"] else SILENT, f"{found['classification']}: {', '.join(rules)}")


STRICT, LOOSE, BY_TEXT = "KernelBench's own test", "the same with 1e-2", "kernelguard"
JUDGES = (
    Judge("kfuzz judge", ("triton", "torch", "cuda"), ask_kfuzz, read_kfuzz),
    Judge(STRICT, ("torch",), ask_own_test(1e-4), read_own_test),
    Judge(LOOSE, ("torch",), ask_own_test(1e-2), read_own_test),
    Judge("ttsem judge", ("triton",), ask_ttsem, read_ttsem),
    Judge(BY_TEXT, ("triton", "torch", "cuda"), ask_kernelguard, read_kernelguard, reads_text=True),
)


def run_limited(command: Sequence[str], text: str, folder: Path) -> tuple[str, str, float]:
    """What a command prints on both outputs and its seconds; with all that it started it ends after the limit."""
    began = time.perf_counter()
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
        start_new_session=True, env={**os.environ, "PYTHONPATH": paths},
    ) as process:  # fmt: skip
        try:
            printed, said = process.communicate(text, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "", f"no answer in {LIMIT:.0f} s", time.perf_counter() - began
    return printed, said, time.perf_counter() - began


def ask(judge: Judge, one: Solution, options: argparse.Namespace) -> None:
    """Ask a judge about an answer, and keep what it says."""
    strict = read_lines(options.keep / DECISIONS).get(f"{STRICT} {one.key}", {})
    if judge.name == LOOSE and strict.get("decision") in (ACCEPTS, SILENT):  # the larger tolerance changes neither
        add_line(options.keep / DECISIONS, f"{judge.name} {one.key}", strict)
        return
    text = one.solution.read_text(encoding="utf-8") if judge.reads_text else ""
    printed, errors, seconds = run_limited(judge.command(one, options), text, options.keep)
    try:
        said = judge.read(printed)
    except (ValueError, IndexError, KeyError, TypeError):  # it printed no verdict
        said = Said(SILENT, (errors.strip().splitlines() or ["it printed nothing"])[-1])
    line = {"decision": said.decision, "words": shortened(said.words).strip(": "), "seconds": round(seconds, 1)}
    add_line(options.keep / DECISIONS, f"{judge.name} {one.key}", line)
    print(judge.name, one.key, line, file=sys.stderr, flush=True)


def ask_all(every: Sequence[Solution], options: argparse.Namespace) -> None:
    """Ask each judge about each answer that it is for, and has not been asked about."""
    until = time.monotonic() + options.stop
    known = read_lines(options.keep / DECISIONS)
    for one in every:
        if time.monotonic() > until:
            return
        for judge in JUDGES:
            if one.language in judge.languages and f"{judge.name} {one.key}" not in known:
                ask(judge, one, options)


def check_all(every: Sequence[Solution], options: argparse.Namespace) -> None:
    """Compare the answers in torch with float64, at the problem's own inputs."""
    known, asked = (read_lines(options.keep / name) for name in (TRUTHS, DECISIONS))
    for one in every:
        if one.language != "torch" or one.key in known or f"{JUDGES[0].name} {one.key}" not in asked:
            continue
        command = [sys.executable, "-m", PROCESS, "in_float64", str(one.solution), str(one.problem)]
        printed, errors, _ = run_limited(command, "", options.keep)
        why = (errors.strip().splitlines() or ["its process ended"])[-1]
        found = json.loads(printed.splitlines()[-1]) if printed.strip() else {"ran": False, "why": shortened(why)}
        add_line(options.keep / TRUTHS, one.key, found)
        print("float64", one.key, found, file=sys.stderr, flush=True)


def rows(every: Sequence[Solution], folder: Path) -> Iterator[dict[str, Any]]:
    """A row for each answer and each judge that was asked."""
    known = read_lines(folder / DECISIONS)
    for one in every:
        for judge in JUDGES:
            if found := known.get(f"{judge.name} {one.key}"):
                yield {
                    "key": one.key, "language": one.language, "repository": one.repository, "commit": one.commit,
                    "file": one.path, "judge": judge.name, **found, "words": found["words"][:WORDS],
                }  # fmt: skip


def measure(arguments: Sequence[str]) -> Figures:
    """Ask all judges."""
    parser = argparse.ArgumentParser()
    parser.add_argument("list", type=Path)
    parser.add_argument("--keep", type=Path, required=True, help="keep each decision here, and use what is there")
    parser.add_argument("--first", type=int, default=12, help="so many answers in Triton, and as many in torch")
    parser.add_argument("--kfuzz", default=str(Path(sys.executable).with_name("kfuzz")))
    parser.add_argument("--ttsem", default="python3.12", help="an interpreter that has ttsem")
    parser.add_argument("--kernelguard", default="kernelguard", help="its program")
    parser.add_argument("--stop", type=float, default=math.inf, help="begin no answer after so many seconds")
    parser.add_argument("--only-kept", action="store_true", help="ask no judge: use what is kept")
    options = parser.parse_args(arguments)
    options.list, options.keep = options.list.resolve(), options.keep.resolve()
    every = chosen(options)
    if not options.only_kept:
        ask_all(every, options)
        check_all(every, options)
    truths, read = (read_lines(options.keep / name) for name in (TRUTHS, READ))
    keys = [one.key for one in every]
    tables = {
        "decisions": list(rows(every, options.keep)),
        "float64": [{"key": key, "found": truths[key]} for key in keys if key in truths],
        "read": [{"key": key, **read[key]} for key in keys if key in read],
    }
    return Figures({"seconds": LIMIT, "seed": SEED, "first": options.first}, tables)
