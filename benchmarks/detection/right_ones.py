"""Count the accusations in many trials of right kernels, extensions, programs and Python callables.

    python -m benchmarks.detection.right_ones [--trials N] [--jobs J] [--device cpu|gpu] [--out FILE]

FILE is JSON: how many trials each thing had, and every accusation. Beside it, FILE with the ending .jsonl keeps each
block of trials as soon as it is done: the same command goes on from there, also with more trials, after Ctrl-C or
another signal too. Then only the blocks that were under way are done again. Exit code 1 if a thing is accused or kfuzz
fails. A library that is missing here is said, and its callables have no trials.
"""

import argparse
import json
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.detection.blocks import DATA, Block, Done, Journal, count_blocks, run_blocks
from benchmarks.detection.extensions import SECONDS, extensions, trials
from benchmarks.measurement import commit, machine
from kfuzz.campaign.device import NamedDevice
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.claims.kernel import KERNELS, kernel_files, load
from kfuzz.devices import ClaimError, Device, DeviceError
from kfuzz.devices.cpu.programs.build import compile_source, link, load_program
from kfuzz.devices.cpu.programs.check import CheckedProgram
from kfuzz.devices.cpu.programs.command_line import parse
from kfuzz.devices.cpu.programs.server import Server

SEED = 34
TOLD_AT = 50
"""The number of blocks; after each the progress is printed and FILE is written."""
MOST_POOLS = 5
"""A process that is killed, as for want of memory, ends all others; the rest of the blocks then begins again."""


@dataclass(frozen=True)
class Sort:
    """One sort of right things: its share of all trials in percent, how many are one block, and how a block runs."""

    share: int
    size: int
    list_things: Callable[[], Sequence[Path]]
    run: Callable[["Block"], "Done"]


def right_kernels() -> list[Path]:
    """kfuzz's own, without those that are wrong on purpose, and those of the tests."""
    own = [one for one in kernel_files(KERNELS) if one.parent.name != "broken"]
    tested = [*(DATA / "right").glob("*.cu"), *(DATA / "properties").glob("*.cu")]
    return [*own, *sorted(one for one in tested if not one.name.startswith("wrong_"))]


def right_callables() -> list[Path]:
    """Those of numpy, and of the libraries that may be installed, without those of Triton."""
    every = sorted([*(DATA / "callables").rglob("*.py"), *(DATA / "properties").glob("*.py")])
    right = [one for one in every if not one.name.startswith("wrong_") and one.parent.name not in ("gpu", "triton")]
    return [one for one in right if not one.stem.endswith("_on_gpu")]


def right_interpreted() -> list[Path]:
    """Those of Triton, whose kernels are compiled for each size."""
    return [one for one in sorted((DATA / "callables" / "triton").glob("*.py")) if not one.name.startswith("wrong_")]


def right_programs() -> list[Path]:
    """Whole programs; a bug of theirs is there only if BUG is defined."""
    return sorted((DATA / "programs").glob("*.cu"))


def run_kernel(block: Block) -> Done:
    """Some trials of a kernel or callable, as a campaign has them."""
    kernel = load(block.path)

    def each(device: Device) -> Iterator[Trial]:
        for index in range(block.first, block.last):
            attempt = attempt_of(kernel, SEED, index)
            yield run_trial(kernel, attempt.case, attempt.tune, device, probe_of(kernel, SEED, index, 3, SECONDS))

    return run_trials(block, each)


def run_extension(block: Block) -> Done:
    """Some trials of an extension."""
    return run_trials(block, lambda device: trials(block.path, device, block.first, block.last))


def run_trials(block: Block, each: Callable[[Device], Iterable[Trial]]) -> Done:
    """Count the trials of a block."""
    began = time.monotonic()
    with closing(NamedDevice(block.device, share=block.jobs)) as device:
        done = list(each(device))
    return Done(
        block.sort,
        block.name,
        block.first,
        block.last,
        sum(one.elements for one in done),
        sum(not one.elements for one in done),
        time.monotonic() - began,
        tuple(f"{block.name}: {error.bucket} [{one.case}]" for one in done for error in one.errors),
        tuple(defect.bucket for one in done for defect in one.defects if defect not in one.errors),
    )


def run_program(block: Block) -> Done:
    """Some runs of a program, by a seed."""
    began = time.monotonic()
    os.chdir(block.path.parent)
    said = re.search(r"^// arguments: (.*)$", block.path.read_text(encoding="utf-8"), re.MULTILINE)
    command = parse([str(block.path)])
    with tempfile.TemporaryDirectory() as folder, closing(Server()) as server:
        made = Path(folder) / "program"
        link([compile_source(one, command.flags).object for one in command.sources], command, made)
        words = (str(made), *(said[1].split() if said else ()))
        one = CheckedProgram(load_program(made), words, 60.0, server, lambda _: None)
        found = one.examine(block.last - block.first, block.first).findings
    errors = tuple(f"{block.name}: {seen.kind}, {seen.message}" for seen in found if seen.severity == "error")
    warned = tuple(f"{seen.kind}, {seen.message}" for seen in found if seen.severity != "error")
    seconds = time.monotonic() - began
    return Done(block.sort, block.name, block.first, block.last, 0, 0, seconds, errors, warned)


SORTS = {
    "kernels": Sort(60, 250, right_kernels, run_kernel),
    "extensions": Sort(20, 250, lambda: extensions()[0], run_extension),
    "callables": Sort(14, 250, right_callables, run_kernel),
    "interpreted": Sort(1, 50, right_interpreted, run_kernel),
    "programs": Sort(5, 250, right_programs, run_program),
}
"""The shares keep the sorts that cost most a trial from taking all the time."""


def run_block(block: Block) -> Done:
    """A block of any sort; one that cannot run here is said, and so is one in which kfuzz fails."""
    if signal.getsignal(signal.SIGTERM) == signal.SIG_IGN:
        raise SystemExit
    try:
        return SORTS[block.sort].run(block)
    except (ClaimError, DeviceError) as error:
        return Done(block.sort, block.name, block.first, block.last, cannot_run=str(error))
    except Exception as error:  # of kfuzz itself: it is counted and printed, and the other blocks go on
        return Done(block.sort, block.name, block.first, block.last, failed=f"{block}: {error!r}")


def blocks(count: int, jobs: int, device: str, done: Sequence[Done]) -> list[Block]:
    """What is left of so many trials, in an order in which each part of it has all sorts."""
    reached: dict[tuple[str, int], int] = {}
    for one in done:
        place = (one.name, one.first // SORTS[one.sort].size)
        reached[place] = max(reached.get(place, 0), one.last)
    placed: list[tuple[float, Block]] = []
    for name, sort in SORTS.items():
        things = sort.list_things() if device == "cpu" or name != "programs" else []
        each = -(-count * sort.share // 100 // max(1, len(things)))
        starts = range(0, each, sort.size)
        every = [
            Block(name, one, first, min(first + sort.size, each), device, jobs) for first in starts for one in things
        ]
        placed += [(place / len(every), one) for place, one in enumerate(every)]
    left = []
    for _, one in sorted(placed, key=lambda pair: pair[0]):
        first = max(one.first, reached.get((one.name, one.first // SORTS[one.sort].size), 0))
        if first < one.last:
            left.append(Block(one.sort, one.path, first, one.last, device, jobs))
    return left


def summary(done: Sequence[Done], device: str) -> dict[str, object]:
    """The counts by sort and by thing, and every accusation."""
    by_sort = {name: count_blocks([one for one in done if one.sort == name]) for name in SORTS}
    names = sorted({(one.sort, one.name) for one in done})
    things = {f"{sort}: {name}": count_blocks([one for one in done if one.name == name]) for sort, name in names}
    accused = [words for one in done for words in one.accused]
    head = {"commit": commit(), "machine": machine(), "device": device, "seed": SEED}
    return {**head, **count_blocks(done), "accusations": accused, "by_sort": by_sort, "by_thing": things}


def main() -> int:
    """Run what is left, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=50_000, help="in all, with those of earlier commands")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--out", type=Path, default=Path("right_ones.json"))
    asked = parser.parse_args()
    out = asked.out.resolve()
    journal = Journal(out.with_suffix(".jsonl"))

    def write() -> dict[str, object]:
        figures = summary(journal.done, asked.device)
        out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        return figures

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        run_left(asked, journal, write)
    except KeyboardInterrupt:
        write()
        print(f"interrupted; the same command goes on: {out}", file=sys.stderr)
        return 130
    figures = write()
    for words in dict.fromkeys(words for done in journal.done for words in done.accused):
        print(f"ACCUSED  {words}")
    for lack in sorted({done.cannot_run for done in journal.done} - {""}):
        print(f"cannot run: {lack}")
    for error in sorted({done.failed for done in journal.done} - {""}):
        print(f"FAILED  {error}")
    print(f"{figures['trials']} trials of {figures['things']} right things, {figures['accused']} accusations: {out}")
    return 1 if figures["accused"] or "failed" in figures else 0


def run_left(asked: argparse.Namespace, journal: Journal, write: Callable[[], dict[str, object]]) -> None:
    """Run what is left of the trials, and go on if a process is killed."""
    for number in range(MOST_POOLS):
        left = blocks(asked.trials, asked.jobs, asked.device, journal.done)
        print(f"{len(left)} blocks of trials are left", file=sys.stderr, flush=True)
        try:
            for count, one in enumerate(run_blocks(left, asked.jobs, run_block), start=1):
                journal.add(one)
                if count % TOLD_AT == 0:
                    figures = write()
                    print(f"{figures['trials']} trials, {figures['accused']} accusations", file=sys.stderr, flush=True)
            return
        except BrokenProcessPool:
            if number == MOST_POOLS - 1:
                raise
            print("a process was killed", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
