"""Print the programs that show defects of libraries, run them, and compare what they print.

    python -m benchmarks.libraries.programs [LIBRARY ...] [--device gpu]

They are in the data of the page. Those of a library run in one process, without kfuzz; a library that is not installed,
or has another version, is skipped, and this says so. Exit code 1 if a program prints anything else.
"""

import argparse
import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from typing import Any

from benchmarks.libraries.__main__ import PAGE
from benchmarks.libraries.sections.judge import results_of
from benchmarks.libraries.tables import program_entries, program_text
from benchmarks.measurement import Measurement, read

SECTIONS = {"cpu": "functions", "gpu": "functions_on_gpu"}
SECONDS = 600
RUNNER = """\
import contextlib, io, json, sys
for program in json.loads(sys.stdin.read()):
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec("\\n".join(program), {})
    except Exception as error:
        out = io.StringIO(repr(error))
    print(json.dumps(out.getvalue().strip().rpartition("\\n")[2]), flush=True)
"""


def main() -> int:
    """Run all, or those of some libraries; print a line for each library and each difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help="default: all")
    parser.add_argument("--device", default="cpu", choices=tuple(SECTIONS))
    asked = parser.parse_args()
    every = programs_of(read(PAGE.data(SECTIONS[asked.device])))
    wrong = 0
    for library, of_it in groupby(every, lambda one: str(one["library"])):
        entries = list(of_it)
        if asked.libraries and library not in asked.libraries:
            continue
        for one in entries:
            print("\n".join(program_text(one["program"], one["prints"], one["exact"])), end="\n\n")
        here, measured = version_of(entries[0]["package"]), entries[0]["version"]
        if here != measured:
            print(f"{library}: skipped: {f'this is {here}' if here else 'not installed'}, measured was {measured}")
            continue
        printed = outputs(entries)
        others = [(one, got) for one, got in zip(entries, printed, strict=True) if got != one["prints"]]
        print(f"{library} {here}: {len(entries) - len(others)} of {len(entries)} programs print the wrong answer")
        for one, got in others:
            print(f"  {one['key']}: prints {got}, measured was {one['prints']}")
        wrong += len(others)
    return 1 if wrong else 0


def programs_of(made: Measurement) -> list[dict[str, Any]]:
    """The programs of a measurement, each with what it prints and what is right."""
    return program_entries(results_of(made), lambda one: str(made["versions"][one.package]))


def version_of(package: str) -> str:
    """The version of a package; empty if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def outputs(entries: list[dict[str, Any]]) -> list[str]:
    """The last line that each program prints; all of them in one process, which imports the library once."""
    programs = json.dumps([one["program"] for one in entries])
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUNNER],
        input=programs,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    return [*lines, *["the process ended"] * (len(entries) - len(lines))]


if __name__ == "__main__":
    sys.exit(main())
