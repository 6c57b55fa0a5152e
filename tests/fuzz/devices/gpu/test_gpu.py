"""The gpu device on a real GPU: what it must name, and what it must never accuse."""

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from our_kernels import every_kernel
from paths import DATA, KERNELS
from planted_jobs import planted as of_planted
from planted_programs import job as of_program
from planted_programs import program

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.plans.choose import seed_of
from kfuzz.cases.plans.scale import BUDGET
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices import Buffer, ClaimError, Finding, Job, Outcome, Probe, Step
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu.device import GpuDevice
from kfuzz.oracle.numbers.elements import F32

pytestmark = pytest.mark.gpu

PLANTED = DATA / "planted"
N = 37
CASES_A_TUNE = 6
TRIALS_TO_FIND = 600
SOAK, SHARDS = 50_000, 25


@pytest.fixture(scope="module")
def gpu() -> Iterator[GpuDevice]:
    device = GpuDevice()
    yield device
    device.close()


def kernels(broken: bool) -> list[object]:
    return [pytest.param(one, id=one.name) for one in every_kernel() if bool(one.broken) == broken]


def planted(*entries: str, file: str = "gpu_faults.cu", align: int = 256, grid: int = 1, shared: int = 256) -> Job:
    """A job that launches the named kernels of a file one after the other, each as one block of 64 threads."""
    path = PLANTED / file
    x = np.linspace(-3, 5, N, dtype=np.float32)
    buffers = (Buffer("y", F32, (N,), is_output=True), Buffer("x", F32, (N,), content=x))
    steps = tuple(Step(entry, (grid, 1, 1), (64, 1, 1), shared, ("y", "x", N)) for entry in entries)
    source = path.read_text(encoding="utf-8")
    return Job(path.stem, path, source, (), align, buffers, steps, tuple(dict.fromkeys(entries)))


def only(outcome: Outcome) -> Finding:
    assert len(outcome.findings) == 1, outcome.findings
    return outcome.findings[0]


def text_of(trial: Trial) -> str:
    return "; ".join(f"{one.kind}: {one.message}" for one in trial.defects) + f" [{trial.case}, {dict(trial.tune)}]"


def test_a_launch_in_clusters_is_one_on_the_gpu_too(gpu: GpuDevice) -> None:
    job = of_planted("clusters", "where_it_is", {"y": "i32[48]"}, block=1)
    step = replace(job.steps[0], grid=(2, 3, 1), cluster=(1, 3, 1))
    outcome = gpu.run(replace(job, steps=(step,)), Probe(runs=2, seed=0))
    got = outcome.runs[0].outputs["y"].reshape(3, 2, 8)
    for block, x in np.ndindex(3, 2):
        assert got[block, x].tolist() == [1, 3, 0, block, block, block, 100 * block, 1]


def test_a_cooperative_launch_is_one_on_the_gpu_too(gpu: GpuDevice) -> None:
    for seed in range(8):
        assert not gpu.run(of_program(program("grid_rounds"), False, 64, seed), Probe(runs=2, seed=seed)).findings


def test_a_cooperative_launch_of_more_blocks_than_the_gpu_runs_is_no_finding(gpu: GpuDevice) -> None:
    job = of_program(program("grid_rounds"), False, 64, 0)
    step = replace(job.steps[0], grid=(100_000, 1, 1))
    with pytest.raises(ClaimError, match=r"a cooperative launch of 100000 blocks; this .* runs [0-9]+ of them at once"):
        gpu.run(replace(job, steps=(step,)), Probe(runs=1, seed=0))


def test_a_good_kernel_has_no_findings_under_any_seed(gpu: GpuDevice) -> None:
    for seed in range(50):
        outcome = gpu.run(planted("copies", align=4), Probe(seed=seed))
        assert outcome.findings == ()
        assert all(np.array_equal(run.outputs["y"], np.linspace(-3, 5, N, dtype=np.float32)) for run in outcome.runs)


@pytest.mark.parametrize(
    ("entry", "kind"),
    [("reads_far_away", "illegal-address"), ("reads_misaligned", "misaligned"), ("traps", "trap"), ("hangs", "hang")],
)
def test_a_fatal_fault_is_put_down_to_its_launch_and_the_next_trial_is_good(
    gpu: GpuDevice, entry: str, kind: str
) -> None:
    found = only(gpu.run(planted("copies", entry, "copies"), Probe(timeout=1.0)))
    assert (found.kind, found.severity, found.step) == (kind, "error", 1)
    assert entry in found.message
    assert gpu.run(planted("copies"), Probe()).findings == ()


@pytest.mark.parametrize(
    ("entry", "kind", "array", "index"),
    [
        ("writes_after", "out-of-bounds", "y", N),
        ("writes_before", "out-of-bounds", "y", -2),
        ("reads_after", "out-of-bounds", "x", None),
        ("reads_before", "out-of-bounds", "x", None),
        ("drops_the_last", "unwritten", "y", N - 1),
        ("adds_to_its_output", "uninitialised", "y", None),
        ("doubles_its_input", "input-changed", "x", 0),
        ("reads_unwritten_shared", "uninitialised", None, None),
        ("reads_unwritten_static_shared", "uninitialised", None, None),
    ],
)
def test_a_cheap_probe_names_the_fault_the_array_and_the_index(
    gpu: GpuDevice, entry: str, kind: str, array: str | None, index: int | None
) -> None:
    """Where the array lies at an edge of memory the same access leaves it, and ends the context instead."""
    seen = set()
    for seed in range(4):
        found = only(gpu.run(planted(entry), Probe(seed=seed)))
        assert found.severity == "error"
        seen.add((found.kind, found.array, found.index))
    assert (kind, array, index) in seen
    assert {one[0] for one in seen} <= {kind, "illegal-address"}


def test_an_over_read_whose_value_is_not_used_leaves_memory_under_some_seed(gpu: GpuDevice) -> None:
    job = planted("reads_one_too_many_for_nothing", align=4)
    kinds = {found.kind for seed in range(12) for found in gpu.run(job, Probe(seed=seed)).findings}
    assert kinds == {"illegal-address"}


def test_a_claim_of_less_alignment_is_tried_with_less(gpu: GpuDevice) -> None:
    kinds = {
        found.kind
        for seed in range(12)
        for found in gpu.run(planted("reads_a_vector_too_many", align=4), Probe(seed=seed)).findings
    }
    assert "misaligned" in kinds


def test_a_kernel_that_adds_in_any_order_is_only_warned_of(gpu: GpuDevice) -> None:
    job = planted("adds_in_any_order", grid=2000)
    job = replace(job, buffers=(Buffer("y", F32, (N,), fill=0, is_output=True), job.buffers[1]))
    found = [one for seed in range(20) for one in gpu.run(job, Probe(seed=seed)).findings]
    assert {(one.kind, one.severity) for one in found} == {("nondeterministic", "warning")}


def test_global_variables_start_afresh_in_every_run(gpu: GpuDevice) -> None:
    job = planted("counts_launches", "counts_launches", file="gpu_remembers.cu")
    for _ in range(3):
        outcome = gpu.run(job, Probe())
        assert outcome.findings == ()
        assert all(run.outputs["y"][0] == -3 + 1 for run in outcome.runs)


def test_shared_memory_beyond_48_kilobytes_is_opted_in_up_to_the_gpus_limit(gpu: GpuDevice) -> None:
    assert gpu.run(planted("copies", shared=60_000), Probe()).findings == ()
    with pytest.raises(ClaimError, match="1000000 bytes of dynamic"):
        gpu.run(planted("copies", shared=1_000_000), Probe())


def test_a_launch_that_the_driver_refuses_is_an_error_of_the_claim(gpu: GpuDevice) -> None:
    job = planted("copies")
    for wrong in ({"block": (2048, 1, 1)}, {"grid": (0, 1, 1)}, {"grid": (1, 70000, 1)}, {"args": ("y", "x")}):
        with pytest.raises(ClaimError, match=r"gpu_faults\.cu: launch 0 \(copies"):
            gpu.run(replace(job, steps=(replace(job.steps[0], **wrong),)), Probe())
    assert gpu.run(job, Probe()).findings == ()


def test_the_sanitizer_names_line_thread_and_element(gpu: GpuDevice) -> None:
    lines = (PLANTED / "gpu_faults.cu").read_text(encoding="utf-8").splitlines()
    watching = GpuDevice(sanitize=True)
    wanted = {
        "writes_after": ("out-of-bounds", "error"),
        "reads_a_vector_too_many": ("out-of-bounds", "error"),
        "adds_to_its_output": ("uninitialised", "error"),
        "races": ("race", "warning"),
        "traps": ("trap", "error"),
    }
    for entry, (kind, severity) in wanted.items():
        outcome = watching.run(planted(entry), Probe(check=True))
        found = [one for one in outcome.findings if one.kind == kind and one.line is not None]
        assert found, (entry, outcome)
        start = next(number for number, line in enumerate(lines, 1) if f" {entry}(" in line)
        assert all(start < (one.line or 0) < start + 10 for one in found), (entry, found)
        assert found[0].severity == severity or kind == "race"
        assert kind == "race" or found[0].thread is not None
    assert watching.run(planted("copies"), Probe(check=True)).findings == ()
    watching.close()


def test_jobs_that_are_asked_for_together_come_to_what_each_comes_to_alone(gpu: GpuDevice) -> None:
    """Eight are given to the GPU at once where their kernel has run; what ends the context is put down to its job."""
    entries = ("copies", "writes_after", "doubles_its_input", "reads_unwritten_shared", "traps", "hangs")
    every = planted(*entries)
    one_of_each = {step.entry: replace(every, steps=(step,)) for step in every.steps}
    order = [*["copies", "writes_after", "copies", "doubles_its_input", "copies", "reads_unwritten_shared"] * 4,
             "traps", *["copies"] * 20, "hangs", "copies", "writes_after", *["copies"] * 20]  # fmt: skip
    asked = [(one_of_each[entry], Probe(seed=seed, timeout=1.0)) for seed, entry in enumerate(order)]

    def summary_of(entry: str, outcome: Outcome) -> tuple[list[tuple[str, str, str, int]], list[bytes]]:
        if entry == "reads_unwritten_shared":  # it reads what another process may have left: no two looks are alike
            return [], []
        found = sorted((one.kind, one.severity, one.message, one.index or 0) for one in outcome.findings)
        return found, [run.outputs["y"].tobytes() for run in outcome.runs]

    alone = [summary_of(entry, gpu.run(*one)) for entry, one in zip(order, asked, strict=True)]
    for one in asked:
        gpu.ask(*one)
    assert [summary_of(entry, gpu.answer()) for entry in order] == alone
    assert [found[0][0] for found, _ in alone if found].count("trap") == 1


def test_four_faults_among_a_thousand_good_trials_are_four_findings(gpu: GpuDevice) -> None:
    kernel = load(KERNELS / "softmax" / "grid_three_launches.cu")
    big = planted("copies")
    too_big = replace(big, buffers=(*big.buffers, Buffer("scratch", F32, (1 << 38,))))
    faults = {200: planted("hangs"), 400: planted("reads_far_away"), 600: planted("traps"), 800: too_big}
    kept, findings = 0, []
    for index in range(1000):
        attempt = attempt_of(kernel, 4, index, budget=2048)
        probe = replace(probe_of(kernel, 4, index, 3, 2.0), check=False)
        trial = run_trial(kernel, attempt.case, attempt.tune, gpu, probe)
        assert trial.defects == (), text_of(trial)
        kept += 1
        if index in faults:
            findings += gpu.run(faults[index], Probe(timeout=1.0)).findings
    assert kept == 1000
    certain = [one.kind for one in findings if "not again in a new process" not in one.message]  # a busy GPU times out
    assert certain == ["hang", "illegal-address", "trap", "out-of-memory"]


@pytest.mark.parametrize("kernel", kernels(broken=False))
def test_a_correct_kernel_is_kept_with_every_tune_value(gpu: GpuDevice, kernel: Kernel) -> None:
    """But for launches that take only more elements than ordinary trials have: large ones try these."""
    every = (dict(zip(kernel.tune, values, strict=True)) for values in itertools.product(*kernel.tune.values()))
    left = Counter({tuple(tune.values()): CASES_A_TUNE for tune in every if least_elements(kernel, tune) <= BUDGET})
    for index in itertools.count(1):
        case = attempt_of(kernel, 11, index).case
        for tune in kernel.tunes(kernel.axes_of(case.arrays)):
            if left[tuple(tune.values())] > 0:
                left[tuple(tune.values())] -= 1
                trial = run_trial(kernel, case, tune, gpu, Probe(seed=index))
                assert trial.defects == (), text_of(trial)
        if not +left:
            return


def least_elements(kernel: Kernel, tune: dict[str, int]) -> float:
    """The product of the least axes that a launch takes; infinite if there are none."""
    least = {name: axis.lo for name, axis in kernel.axes.items()}
    found = kernel.where.near({**least, **tune}, tuple(kernel.axes)) if kernel.where else least
    return math.prod(found[name] for name in kernel.axes) if found else math.inf


@pytest.mark.parametrize("kernel", kernels(broken=True))
def test_a_broken_kernel_is_found_on_the_gpu_or_on_the_cpu(gpu: GpuDevice, kernel: Kernel) -> None:
    cpu = CpuDevice()
    try:
        assert any(is_found(kernel, device) for device in (gpu, cpu))
    finally:
        cpu.close()


def is_found(kernel: Kernel, device: GpuDevice | CpuDevice) -> bool:
    """Whether some trial shows an error, or the named kind: a race in which all write the same is only warned of."""
    for index in range(TRIALS_TO_FIND):
        attempt, probe = attempt_of(kernel, 0, index), probe_of(kernel, 0, index, 3, 2.0)
        defects = run_trial(kernel, attempt.case, attempt.tune, device, probe).defects
        if any(one.severity == "error" or (kernel.broken and one.kind == kernel.broken.kind) for one in defects):
            return True
    return False


@pytest.mark.soak
@pytest.mark.parametrize("shard", range(SHARDS))
def test_correct_kernels_have_no_findings_in_fifty_thousand_trials(gpu: GpuDevice, shard: int) -> None:
    correct = [kernel for kernel in every_kernel() if not kernel.broken]
    for index in range(shard, SOAK, SHARDS):
        kernel, number = correct[index % len(correct)], index // len(correct)
        attempt = attempt_of(kernel, seed_of("gpu soak"), number, budget=1 << 12)
        trial = run_trial(kernel, attempt.case, attempt.tune, gpu, probe_of(kernel, 0, number, 3, 10.0))
        assert trial.defects == (), text_of(trial)
