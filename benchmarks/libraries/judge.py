"""Judge the public functions of Python libraries, as they are installed here.

    python -m benchmarks.libraries measure functions --out FOLDER [--device gpu] [LIBRARY ... LIBRARY/FUNCTION ...]

functions.py reads the list of functions of floats; `narrow/LIBRARY` are claims of functions of 8 and 4 bits. The
functions of a library are tried one after the other, each for so many seconds after its first trial. The gravest wrong
answer is made small, and mpmath computes it a second time: an accusation that this does not confirm is withdrawn, and
is a bug of kfuzz.

FOLDER keeps the files that were tried and each result: the same command goes on where it was interrupted. With
`--table` nothing is tried; `try functions` in place of `measure functions` prints the section alone.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.libraries import functions, narrow
from benchmarks.libraries.judging import Claim, Result, judge
from benchmarks.libraries.tables import program_entries
from benchmarks.measurement import Figures
from kfuzz.callables.device import PythonDevice

GROUP = 40
"""Claims of one process: it imports the library once, and several of them work at the same time."""
GRACE = 240.0
"""Seconds without a result, after which the claim that is tried has no end."""
PROGRAMS = Path(__file__).with_name("programs.json")


def claims_of(asked: str, device: str) -> Iterator[Claim]:
    """The claims of a library, of one function of it, or one claim: LIBRARY/FUNCTION/CLAIM."""
    if asked.startswith(narrow.PREFIX):
        library, _, function = asked.removeprefix(narrow.PREFIX).partition("/")
        yield from (one for one in narrow.claims_of(library) if function in ("", one.name, one.key))
        return
    library, _, function = asked.partition("/")
    listed = functions.library(library)
    if device in listed.devices:
        yield from (one for one in listed.functions() if function in ("", one.name, one.key))


def measure(arguments: Sequence[str]) -> Figures:
    """Try them all, a process for 40 functions of a library; each result is a record."""
    asked = parse(arguments)
    groups = list(groups_of(asked.names or functions.libraries(), asked.device))
    out = asked.out.resolve()
    if not asked.table:
        with ThreadPoolExecutor(asked.jobs) as pool:
            for library in pool.map(lambda group: try_group(group, asked, out), groups):
                print(library, file=sys.stderr, flush=True)
    every = {one: read(out, one) for group in groups for one in group}
    results = {one: result for one, result in every.items() if result is not None}
    if asked.programs:
        made = program_entries(results, installed)
        PROGRAMS.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    versions = {one.package: installed(one) for one in results}
    rows = [{"library": one.library, "key": one.key, **asdict(result)} for one, result in results.items()]
    return Figures({"device": asked.device, "versions": versions}, {"results": rows})


def groups_of(names: Sequence[str], device: str) -> Iterator[list[Claim]]:
    """The claims of each name, in parts that a process each judges."""
    for name in names:
        claims = list(claims_of(name, device))
        yield from (claims[first : first + GROUP] for first in range(0, len(claims), GROUP))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="LIBRARY[/FUNCTION]", help="default: all functions of floats")
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu"))
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--table", action="store_true", help="try nothing; take the results that there are")
    parser.add_argument(
        "--programs", action="store_true", help="keep the three-line programs for benchmarks.libraries.programs"
    )
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, required=True, help="where the files that are tried, and the results, lie")
    return parser.parse_args(arguments)


def main() -> None:
    """Judge the claims of one library in this process: `try_group` starts it."""
    asked = parse(None)
    claims = [one for name in asked.names for one in claims_of(name, asked.device)]
    judge_group(claims, asked.device, asked.seconds, asked.out.resolve())


def judge_group(claims: Sequence[Claim], device: str, seconds: float, out: Path) -> None:
    """Judge those that have no result, in this process."""
    modules = tuple(dict.fromkeys(name for one in claims for name in one.modules))
    for one in claims:
        os.environ.update(one.environment)
    opened = PythonDevice(device, modules=modules)
    try:
        for one in claims:
            if not path_of(out, one).exists():
                started(out, one).touch()
                keep(out, one, judge(one, opened, seconds, out))
    finally:
        opened.close()


def try_group(claims: Sequence[Claim], asked: argparse.Namespace, out: Path) -> str:
    """Have another process judge a library's claims; an import or a call that never ends takes one claim alone."""
    if not claims:
        return ""
    folder = out / claims[0].library
    folder.mkdir(parents=True, exist_ok=True)
    while left := [one for one in claims if not path_of(out, one).exists()]:
        if not installed(left[0]):
            for one in left:
                keep(out, one, Result("not judged", "not installed"))
            break
        command = [sys.executable, "-m", "benchmarks.libraries.judge", "--device", asked.device, "--alone"]
        command += ["--seconds", str(asked.seconds), "--out", str(out)]
        command += [f"{one.library}/{one.key}" for one in left]
        with (folder / "log").open("a") as log:
            run = subprocess.Popen(command, stderr=log, start_new_session=True)
            words = wait(run, left, out)
        stopped = [one for one in left if started(out, one).exists() and not path_of(out, one).exists()]
        for one in stopped or left[:1]:
            if not path_of(out, one).exists():
                keep(out, one, Result("not judged", words))
    return claims[0].library


def wait(run: "subprocess.Popen[bytes]", left: Sequence[Claim], out: Path) -> str:
    """Wait for a process as long as results come; say how it ended."""
    done, since = 0, time.monotonic()
    while True:
        try:
            return f"exit code {run.wait(timeout=1)}"
        except subprocess.TimeoutExpired:
            now = sum(path_of(out, one).exists() for one in left)
            if now > done:
                done, since = now, time.monotonic()
            if time.monotonic() - since > GRACE:
                os.killpg(run.pid, signal.SIGKILL)
                run.wait()
                return f"no end after {GRACE:.0f} s"


def path_of(out: Path, one: Claim) -> Path:
    """The file of a result."""
    return out / one.library / f"{one.key}.json"


def started(out: Path, one: Claim) -> Path:
    """The file that says that a claim is being tried."""
    path = path_of(out, one).with_suffix(".started")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def keep(out: Path, one: Claim, result: Result) -> None:
    """Write a result, whole or not at all."""
    path = path_of(out, one)
    path.with_suffix(".new").write_text(json.dumps(asdict(result)), encoding="utf-8")
    path.with_suffix(".new").replace(path)
    started(out, one).unlink(missing_ok=True)


def read(out: Path, one: Claim) -> Result | None:
    """The result of a claim, if there is one."""
    path = path_of(out, one)
    if not path.exists():
        return None
    fields = json.loads(path.read_text(encoding="utf-8"))
    return Result(**{**fields, "program": tuple(fields["program"])})


def installed(one: Claim) -> str:
    """The version of a claim's library; empty if it is not installed."""
    try:
        return version(one.package)
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    main()
