"""The page of speeds: jobs on all GPUs that end in time, and what an unfinished run leaves."""

import json
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path
from time import monotonic, sleep

import pytest

from benchmarks.measurement import describe, read, render_section
from benchmarks.speed import kernels as speed
from benchmarks.speed.__main__ import PAGE
from benchmarks.speed.on_gpus import run_on_gpus
from kfuzz.measure.speed.figures import Heat, Recording, Traffic

GPU = "__import__('os').environ['CUDA_VISIBLE_DEVICES']"
GONE = "__import__('os')._exit(3)"
HANGS = "__import__('time').sleep(600)"


def outcomes(jobs: list[str], gpus: list[str], seconds: float) -> Iterator[tuple[str, str]]:
    """Each expression with its value, or with the name of its error."""
    for job, done in run_on_gpus(eval, jobs, gpus, monotonic() + seconds):
        error = done.exception()
        yield job, type(error).__name__ if error else done.result()


@pytest.mark.slow
def test_each_gpu_takes_the_next_job_and_survives_what_fails() -> None:
    jobs = ["1 / 0", GONE, GPU, GPU, GONE, GPU]
    seen = list(outcomes(jobs, ["GPU-a"], 60))
    assert seen == [
        ("1 / 0", "ZeroDivisionError"), (GONE, "BrokenProcessPool"), (GPU, "GPU-a"), (GPU, "GPU-a"),
        (GONE, "BrokenProcessPool"), (GPU, "GPU-a"),
    ]  # fmt: skip


@pytest.mark.slow(3)
def test_a_job_that_hangs_holds_one_gpu_and_ends_with_the_time() -> None:
    began = monotonic()
    seen = list(outcomes([HANGS, GPU, GPU, HANGS, GPU], ["0", "1"], 3))
    assert [gpu for _, gpu in seen] == [seen[0][1]] * 2
    assert monotonic() - began < 30
    while active_children():
        sleep(0.01)


def test_a_run_that_ends_early_leaves_the_data_of_a_page(tmp_path: Path) -> None:
    every = [
        speed.Entry("softmax/fastest", ((1024, 1024), (1024, 1023), (65536, 128)), ("torch",), False),
        speed.Entry("softmax/fastest", ((32768, 4096),), (), True),
    ]
    own, rival, copy = (
        Recording(name, (micros * 1e-6,) * 4) for name, micros in (("mine", 10), ("torch", 12), ("c", 9))
    )
    heats = {
        (every[0], (65536, 128)): Heat({"rows": 65536, "cols": 128}, Traffic(8, 8), (own,), (rival,), (copy,), {}),
        (every[0], (1024, 1024)): speed.without_figures(every[0], (1024, 1024), "no memory"),
    }
    facts = {"gpu": "H100", "versions": {"cuda": "13.0", "nvcc": "13.0"}}
    made = describe("speed", "kernels", ("--out", str(tmp_path)), speed.figures(facts, every, heats, 3.3e12))
    speed.keep(tmp_path, made, speed.collected(every, heats))
    shown = "\n".join(render_section("speed", PAGE.sections[0], read(tmp_path / "kernels.json")))
    assert "| 1024x1024 |  |  |  |  |  |  | no memory |" in shown
    assert "ahead of torch by 20%" in shown
    assert (
        "Of 2 rows 1 are ahead of every rival, 0 tie with the best one, and 0 are behind it. 1 have no figure." in shown
    )
    assert "The run ended before these were timed: `softmax/fastest` 1024x1023, 32768x4096." in shown
    assert json.loads((tmp_path / "speed.json").read_text())["gpu"] == "H100"
