"""Run wrong and correct extensions on both devices.

    python -m benchmarks.detection measure both_devices 16

It shows which findings both devices see and which only one sees, and whether either accuses a correct extension.
"""

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.detection.extensions import BUDGET, extensions, kernel_of, trials
from benchmarks.measurement import Figures
from kfuzz.campaign.device import open_device
from kfuzz.campaign.schedule import attempt_of
from kfuzz.devices import ClaimError, DeviceError
from kfuzz.devices.gpu import driver, hosting

MOST, RIGHT, CONTEXTS, MOST_FILES = 30, 20, 10, 200
"""Trials of a wrong one and of a correct one, processes that share the GPU, and a bound on the number of files."""
Seen = tuple[list[str], str]
"""The kinds of errors, and why it could not run."""
Both = dict[Path, tuple[Seen, Seen]]


def measure(arguments: Sequence[str]) -> Figures:
    """Try those of these names, or all, on both devices; each goes to standard error as soon as it is known."""
    jobs, names = (int(arguments[0]) if arguments else 2), arguments[1:]
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
            on_gpu = ([], why_not) if why_not else contexts.submit(seen, "gpu", path, counts[path]).result()
            return on_cpu[path].result(), on_gpu

        for done in as_completed(running := {waiting.submit(seen_by_both, path): path for path in counts}):
            path = running[done]
            both[path] = done.result()
            print(path.stem, *both[path], file=sys.stderr, flush=True)
    accused = [path.stem for path in right if any(kinds for kinds, _ in both[path])]
    numbers = {"gpu": driver.gpu().name, "wrong_trials": MOST, "right_trials": RIGHT}
    return Figures({**numbers, "right": len(right), "accused": accused}, {
        "wrong": [{"extension": path.stem, "cpu": both[path][0][0], "gpu": both[path][1][0]} for path in wrong],
        "not_run": [
            {"extension": path.stem, "device": device, "reason": why}
            for path, each in both.items() for device, (_, why) in zip(("cpu", "gpu"), each, strict=True) if why
        ],
    })  # fmt: skip


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
    hosting.compile_library(kernel.bind(attempt.case.arrays, attempt.tune).job, driver.gpu().architecture)
