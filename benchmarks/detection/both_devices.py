"""Run wrong and correct extensions on both devices.

    python -m benchmarks.detection.both_devices 16

It shows which findings both devices see and which only one sees, and whether either accuses a correct extension.
"""

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.detection.extensions import BUDGET, extensions, kernel_of, trials
from kfuzz.campaign.schedule import attempt_of
from kfuzz.devices import ClaimError, DeviceError
from kfuzz.find.device import open_device
from kfuzz.gpu import driver, hosting

MOST, RIGHT, CONTEXTS, MOST_FILES = 30, 20, 10, 200
"""Trials of a wrong one and of a correct one, processes that share the GPU, and a bound on the number of files."""
NOTHING = "-"
Seen = tuple[list[str], str]
"""The kinds of errors, and why it could not run."""
Both = dict[Path, tuple[Seen, Seen]]


def main(jobs: int, names: Sequence[str]) -> int:
    """Try those of these names, or all, on both devices and print the page; each row goes to standard error as soon
    as it is known.
    """
    right, wrong = extensions()
    both: Both = {}
    with (
        TemporaryDirectory() as folder,
        ProcessPoolExecutor(jobs) as pool,
        ProcessPoolExecutor(CONTEXTS) as contexts,
        ThreadPoolExecutor(MOST_FILES) as waiting,
    ):
        wrong += [with_its_bug(path, Path(folder)) for path in right if OUTLIVES in path.read_text(encoding="utf-8")]
        contexts.submit(abs, 0).result()  # its processes are forked before threads exist
        if names:
            right, wrong = ([path for path in some if path.stem in names] for some in (right, wrong))
        counts = dict.fromkeys(wrong, MOST) | dict.fromkeys(right, RIGHT)
        pool.submit(seen, "compile", next(iter(counts)), 0).result()  # with the parts that all of them share
        built = {path: pool.submit(seen, "compile", path, 0) for path in counts}
        on_cpu = {path: pool.submit(seen, "cpu", path, count) for path, count in counts.items()}

        def seen_by_both(path: Path) -> tuple[Seen, Seen]:
            why_not = built[path].result()[1]
            on_card = ([], why_not) if why_not else contexts.submit(seen, "gpu", path, counts[path]).result()
            return on_cpu[path].result(), on_card

        for done in as_completed(running := {waiting.submit(seen_by_both, path): path for path in counts}):
            path = running[done]
            both[path] = done.result()
            print(row(path, *both[path]), file=sys.stderr, flush=True)
    head(len(right), len(wrong))
    print("\n".join(row(path, *both[path]) for path in wrong))
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
    """Compile it for the GPU; several processes do this at once."""
    kernel = kernel_of(path)
    attempt = attempt_of(kernel, 1, 0, BUDGET)
    hosting.compile_library(kernel.bind(attempt.case.arrays, attempt.tune).job, driver.card().architecture)


def head(right: int, wrong: int) -> None:
    """Print the head of the page."""
    print("# Extensions on both devices\n")
    print(
        "`python -m benchmarks.detection.both_devices` writes this page: every extension of the tests, the same cases"
    )
    print(f"on the cpu and on an {driver.card().name}: {MOST} trials of each of {wrong} wrong ones and {RIGHT} of")
    print(f"each of {right} correct ones, without torch on either.\n")
    print("| wrong extension | both | the cpu alone | the gpu alone |\n|---|---|---|---|")


def row(path: Path, on_cpu: Seen, on_gpu: Seen) -> str:
    """The findings of each device in an extension."""
    cpu, gpu = set(on_cpu[0]), set(on_gpu[0])
    shown = [", ".join(sorted(one)) or NOTHING for one in (cpu & gpu, cpu - gpu, gpu - cpu)]
    return f"| {path.stem} | {' | '.join(shown)} |"


def foot(right: Sequence[Path], both: Both) -> None:
    """Print the correct ones, and those that could not run."""
    accused = [path.stem for path in right if any(kinds for kinds, _ in both[path])]
    print(f"\nAccused, of {len(right)} correct extensions: {', '.join(accused) or 'none'}.")
    for path, each in both.items():
        for device, (_, why) in zip(("cpu", "gpu"), each, strict=True):
            if why:
                print(f"\n{path.stem} could not be run on the {device}: {why}")


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 2, sys.argv[2:]))
