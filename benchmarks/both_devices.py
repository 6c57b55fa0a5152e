"""Wrong extensions on both devices: `python -m benchmarks.both_devices > benchmarks/BOTH_DEVICES.md`, with a GPU.

Which findings both devices see, and which only one; and that neither accuses a right one.
"""

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

from benchmarks.their_files import BUDGET, extensions, kernel_of, trials
from kfuzz.campaign.schedule import attempt_of
from kfuzz.devices import ClaimError, DeviceError
from kfuzz.devices.gpu import driver, hosting
from kfuzz.find.device import open_device

MOST, RIGHT, CONTEXTS = 30, 20, 6
"""Trials of a wrong one and of a right one, and processes that share the card."""
NOTHING = "-"
Seen = tuple[list[str], str]
"""The kinds of errors, and why it could not be run."""


def main(jobs: int) -> int:
    """Try them all on both devices, and print the page."""
    right, wrong = extensions()
    every = [*right, *wrong]
    prepare(right[0])  # with what all of them share
    with ProcessPoolExecutor(jobs) as pool, ProcessPoolExecutor(CONTEXTS) as contexts:
        prepared = pool.map(partial(seen, "compile", len(right)), enumerate(every))
        on_cpu = pool.map(partial(seen, "cpu", len(right)), enumerate(every))
        list(prepared)
        on_gpu = contexts.map(partial(seen, "gpu", len(right)), enumerate(every))
        both = dict(zip(every, zip(on_cpu, on_gpu, strict=True), strict=True))
    page(right, wrong, both)
    return any(kinds for path in right for kinds, _ in both[path])


def seen(device: str, right: int, numbered: tuple[int, Path]) -> Seen:
    """The kinds of errors that the trials of an extension show."""
    number, path = numbered
    kinds = set[str]()
    try:
        if device == "compile":
            prepare(path)
            return [], ""
        with closing(open_device(device)) as opened:
            for trial in trials(path, opened, 0, RIGHT if number < right else MOST):
                kinds |= {error.kind for error in trial.errors}
    except (ClaimError, DeviceError) as error:
        return sorted(kinds), str(error).splitlines()[0]
    return sorted(kinds), ""


def prepare(path: Path) -> None:
    """Compile it for the card, which several processes do at once."""
    kernel = kernel_of(path)
    attempt = attempt_of(kernel, 1, 0, BUDGET)
    hosting.compiled(kernel.bind(attempt.case.arrays, attempt.tune).job, driver.card().architecture)


def page(right: Sequence[Path], wrong: Sequence[Path], both: dict[Path, tuple[Seen, Seen]]) -> None:
    """The page."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout
    print("# Extensions on both devices\n")
    print(
        "`python -m benchmarks.both_devices` writes this page: every extension of the tests, the same cases on the cpu"
    )
    print(
        f"and on a {driver.card().name}, {MOST} trials of a wrong one and {RIGHT} of a right one; no torch on either.\n"
    )
    accused = [path.stem for path in right if any(kinds for kinds, _ in both[path])]
    print(f"Of {len(right)} right extensions accused: {', '.join(accused) or 'none'}.\n")
    print("| wrong extension | both | the cpu alone | the gpu alone |\n|---|---|---|---|")
    for path in wrong:
        cpu, gpu = (set(kinds) for kinds, _ in both[path])
        shown = [", ".join(sorted(one)) or NOTHING for one in (cpu & gpu, cpu - gpu, gpu - cpu)]
        print(f"| {path.stem} | {' | '.join(shown)} |")
    for path in (*right, *wrong):
        for device, (_, why) in zip(("cpu", "gpu"), both[path], strict=True):
            if why:
                print(f"\n{path.stem} could not be run on the {device}: {why}")
    if commit:
        print(f"\nAt {commit.strip()}.")


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 2))
