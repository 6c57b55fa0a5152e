"""Count the accusations in many trials of correct extensions and correct programs.

    python -m benchmarks.detection.right_ones [TRIALS] [JOBS] [DEVICE]

TRIALS is the total, 50,000 by default; every tenth is a run of a program, on the cpu device. Exit code 1 if one is
accused.
"""

import os
import re
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from pathlib import Path

from benchmarks.detection.extensions import extensions, trials
from kfuzz.find.device import open_device
from kfuzz.programs.build import compile_source, link, load_program
from kfuzz.programs.check import CheckedProgram, Server
from kfuzz.programs.command_line import parse

PROGRAMS = Path(__file__).parents[2] / "tests" / "data" / "programs"
AT_ONCE = 250
RUNS = 25
TOLD_AT = 50
"""The number of pieces of work; after each the progress is printed."""
Counted = tuple[str, int, int, list[str]]
"""The subject, its trials, its judged elements, and its accusations."""


def main(count: int, jobs: int, device: str) -> int:
    """Run them all, and print the results."""
    right, _ = extensions()
    programs = sorted(PROGRAMS.glob("*.cu")) if device == "cpu" else []
    each = -(-count * (9 if programs else 10) // 10 // len(right) // AT_ONCE) * AT_ONCE
    work = [(path, first) for first in range(0, each, AT_ONCE) for path in right]
    runs = -(-count // 10 // max(1, len(programs)) // RUNS)
    began = time.monotonic()
    total, elements, accused = Counter[str](), 0, list[str]()
    with ProcessPoolExecutor(jobs) as pool:
        every = [pool.submit(block, device, one) for one in work]
        every += [pool.submit(program, (path, seed)) for seed in range(runs) for path in programs]
        for number, one in enumerate(as_completed(every), start=1):
            name, tried, judged, wrong = one.result()
            total[name] += tried
            elements += judged
            accused += wrong
            if number % TOLD_AT == 0:
                print(f"{sum(total.values())} trials, {len(accused)} accusations", file=sys.stderr, flush=True)
    for one in dict.fromkeys(accused):
        print(f"ACCUSED  {one}")
    print(f"{sum(total.values())} trials of {len(right)} right extensions and {len(programs)} right programs, ", end="")
    print(f"{elements} elements judged, {len(accused)} accusations, in {time.monotonic() - began:.0f} s ", end="")
    print(f"on the {device} with {jobs} processes")
    return 1 if accused else 0


def block(device: str, work: tuple[Path, int]) -> Counted:
    """Some trials of an extension."""
    path, first = work
    with closing(open_device(device)) as opened:
        done = list(trials(path, opened, first, first + AT_ONCE))
    wrong = [f"{path.stem}: {error.bucket} [{one.case}]" for one in done for error in one.errors]
    return path.stem, len(done), sum(one.elements for one in done), wrong


def program(work: tuple[Path, int]) -> Counted:
    """Some runs of a program, by a seed."""
    path, seed = work
    os.chdir(PROGRAMS)
    said = re.search(r"^// arguments: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    command = parse([str(path)])
    with tempfile.TemporaryDirectory() as folder, closing(Server()) as server:
        made = Path(folder) / "program"
        link([compile_source(one, command.flags).object for one in command.sources], command, made)
        words = (str(made), *(said[1].split() if said else ()))
        one = CheckedProgram(load_program(made), words, 60.0, server, lambda _: None)
        found = [seen for seen in one.examine(RUNS, seed).findings if seen.severity == "error"]
    return path.stem, RUNS, 0, [f"{path.stem}: {seen.kind}, {seen.message}" for seen in found]


if __name__ == "__main__":
    asked = sys.argv[1:]
    sys.exit(
        main(
            int(asked[0]) if asked else 50_000,
            int(asked[1]) if asked[1:] else os.cpu_count() or 1,
            asked[2] if asked[2:] else "cpu",
        )
    )
