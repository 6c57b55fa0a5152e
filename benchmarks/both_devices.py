"""Wrong extensions on both devices: `python -m benchmarks.both_devices > benchmarks/BOTH_DEVICES.md`, with a GPU.

Which findings both devices see, and which only one; and that neither accuses a right one.
"""

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.their_files import BUDGET, extensions, kernel_of, trials
from kfuzz.campaign.schedule import attempt_of
from kfuzz.devices import ClaimError, DeviceError
from kfuzz.devices.gpu import driver, hosting
from kfuzz.find.device import open_device

MOST, RIGHT, CONTEXTS, MOST_FILES = 30, 20, 6, 200
"""Trials of a wrong one and of a right one, processes that share the card, and more than there are files."""
NOTHING = "-"
Seen = tuple[list[str], str]
"""The kinds of errors, and why it could not be run."""
Both = dict[Path, tuple[Seen, Seen]]


def main(jobs: int) -> int:
    """Try them all on both devices, and print the page, each line as soon as it is known."""
    right, wrong = extensions()
    both: Both = {}
    with (
        TemporaryDirectory() as folder,
        ProcessPoolExecutor(jobs) as pool,
        ProcessPoolExecutor(CONTEXTS) as contexts,
        ThreadPoolExecutor(MOST_FILES) as waiting,
    ):
        wrong += [with_its_bug(path, Path(folder)) for path in right if OUTLIVES in path.read_text(encoding="utf-8")]

        def on_card(path: Path, count: int) -> Seen:
            why_not = pool.submit(seen, "compile", path, count).result()[1]
            return ([], why_not) if why_not else contexts.submit(seen, "gpu", path, count).result()

        contexts.submit(abs, 0).result()  # its processes are forked before there are threads
        head(len(right), len(wrong))
        every = [(path, MOST) for path in wrong] + [(path, RIGHT) for path in right]
        on_cpu = [pool.submit(seen, "cpu", *one) for one in every[: len(wrong)]]
        prepare(right[0])  # with what all of them share
        on_gpu = [waiting.submit(on_card, *one) for one in every]
        on_cpu += [pool.submit(seen, "cpu", *one) for one in every[len(wrong) :]]
        for (path, _), cpu, gpu in zip(every, on_cpu, on_gpu, strict=True):
            both[path] = cpu.result(), gpu.result()
            if path in wrong:
                row(path, *both[path])
            else:
                print(f"{path.stem}: {both[path]}", file=sys.stderr, flush=True)
    foot(right, both)
    return any(kinds for path in right for kinds, _ in both[path])


OUTLIVES = "// class: what outlives a call\n"


def with_its_bug(path: Path, folder: Path) -> Path:
    """A file of a pair, as the wrong one of the two."""
    made = folder / f"{path.stem}_not.cu"
    made.write_text(f"#define BUG\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    return made


def seen(device: str, path: Path, count: int) -> Seen:
    """The kinds of errors that so many trials of an extension show."""
    kinds = set[str]()
    try:
        if device == "compile":
            prepare(path)
            return [], ""
        with closing(open_device(device)) as opened:
            for trial in trials(path, opened, 0, count):
                kinds |= {error.kind for error in trial.errors}
    except (ClaimError, DeviceError) as error:
        return sorted(kinds), str(error).splitlines()[0]
    return sorted(kinds), ""


def prepare(path: Path) -> None:
    """Compile it for the card, which several processes do at once."""
    kernel = kernel_of(path)
    attempt = attempt_of(kernel, 1, 0, BUDGET)
    hosting.compiled(kernel.bind(attempt.case.arrays, attempt.tune).job, driver.card().architecture)


def head(right: int, wrong: int) -> None:
    """What was done."""
    print("# Extensions on both devices\n")
    print(
        "`python -m benchmarks.both_devices` writes this page: every extension of the tests, the same cases on the cpu"
    )
    print(f"and on a {driver.card().name}, {MOST} trials of each of {wrong} wrong ones and {RIGHT} of each of {right}")
    print("right ones; no torch on either.\n")
    print("| wrong extension | both | the cpu alone | the gpu alone |\n|---|---|---|---|", flush=True)


def row(path: Path, on_cpu: Seen, on_gpu: Seen) -> None:
    """What the devices see of a wrong one."""
    cpu, gpu = set(on_cpu[0]), set(on_gpu[0])
    shown = [", ".join(sorted(one)) or NOTHING for one in (cpu & gpu, cpu - gpu, gpu - cpu)]
    print(f"| {path.stem} | {' | '.join(shown)} |", flush=True)


def foot(right: Sequence[Path], both: Both) -> None:
    """The right ones, and what could not be run."""
    accused = [path.stem for path in right if any(kinds for kinds, _ in both[path])]
    print(f"\nOf {len(right)} right extensions accused: {', '.join(accused) or 'none'}.")
    for path, each in both.items():
        for device, (_, why) in zip(("cpu", "gpu"), each, strict=True):
            if why:
                print(f"\n{path.stem} could not be run on the {device}: {why}")


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 2))
