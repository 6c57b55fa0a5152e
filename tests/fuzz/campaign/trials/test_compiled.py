"""The text of a kernel beside what nvcc makes of it, and the code for two targets of a compiler: a finding where one of
both is wrong and the other right.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from our_kernels import our_kernel
from with_nvcc import needs_nvcc

from kfuzz.campaign.minimizing.minimize import Failure, minimize, record_of
from kfuzz.campaign.minimizing.subject import subject_of
from kfuzz.campaign.schedule import probe_of
from kfuzz.campaign.trials.locating import locate
from kfuzz.campaign.trials.replay import replay
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.case import Case, case_of
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices import TEXT, Circumstances, ClaimError, Finding, Job, Outcome, Probe, Refusal, Run
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.targets import TargetOptions

COMPILED = Path(__file__).parents[3] / "data" / "compiled"
PROBE = Probe(check=True, runs=2, seed=1, timeout=20.0)


@pytest.fixture(scope="module")
def through() -> Iterator[CpuDevice]:
    with CpuDevice("nvcc") as device:
        yield device


def edited(folder: Path, name: str, *edits: tuple[str, str]) -> Kernel:
    text = (COMPILED / f"{name}.cu").read_text()
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = folder / f"{name}.cu"
    path.write_text(text)
    return load(path)


def five_rows() -> Case:
    """Rows of 100, of which the fifth begins a block: its scale is that of no other row."""
    scale = np.array([[1.0], [2.0], [4.0], [8.0], [16.0]], np.float32)
    return case_of("group_dequantize", {"q": np.ones((5, 100), np.int8), "scale": scale}, {"height": 1, "width": 100})


def kinds(trial: Trial) -> list[tuple[str, str]]:
    return [(one.severity, one.kind) for one in trial.defects]


@needs_nvcc
@pytest.mark.slow(2)
def test_code_that_is_wrong_where_its_text_is_right_is_an_error(through: CpuDevice) -> None:
    kernel = load(COMPILED / "row_from_float.cu")
    trial = run_trial(kernel, five_rows(), {}, through, PROBE)
    assert kinds(trial) == [("error", "compiled-otherwise")]
    (found,) = trial.defects
    assert found.bucket == "row_from_float: compiled-otherwise, numeric, wrong elements, head"
    assert found.message.startswith("y[4, 0] is 8 (0x41000000), wanted 16 in [")
    assert found.message.endswith(
        "; the text itself gives 16 (0x41800000), which is right: nvcc has made other code of it"
    )
    assert locate(found, kernel, five_rows(), through, PROBE).line == 23
    with CpuDevice() as text:
        assert run_trial(kernel, five_rows(), {}, text, PROBE).defects == ()


@needs_nvcc
@pytest.mark.slow
def test_code_that_fuses_nothing_is_right_as_its_text_is(through: CpuDevice, tmp_path: Path) -> None:
    kernel = edited(
        tmp_path,
        "row_from_float",
        ("// ///\n\nconst", '//\n// [accuracy]\n// flags = ["-fmad=false"]\n// ///\n\nconst'),
    )
    trial = run_trial(kernel, five_rows(), {}, through, PROBE)
    assert (trial.defects, trial.rows) == ((), 5)


@needs_nvcc
@pytest.mark.slow
def test_a_text_that_is_wrong_alone_is_a_warning(through: CpuDevice) -> None:
    kernel = load(COMPILED / "offset_codes.cu")
    arrays = {"q": np.full((1, 3), 1, np.int8), "scale": np.array([[0.1]], np.float32)}
    trial = run_trial(kernel, case_of("group_dequantize", arrays, {"height": 1, "width": 3}), {}, through, PROBE)
    assert kinds(trial) == [("warning", "compiled-otherwise")]
    (found,) = trial.defects
    assert "compiled-otherwise (warning)" in found.bucket
    assert found.message.startswith("y[0, 0] is 0.100000381 (0x3dcccd00), wanted ")
    assert found.message.endswith("; nvcc makes code of it that gives 0.100000001 (0x3dcccccd), which is right")


@needs_nvcc
@pytest.mark.slow
def test_what_is_wrong_in_both_is_wrong_as_ever(through: CpuDevice, tmp_path: Path) -> None:
    kernel = edited(tmp_path, "row_from_float", ("scale[row]", "scale[row] * 3.0f"))
    assert kinds(run_trial(kernel, five_rows(), {}, through, PROBE)) == [("error", "numeric")]


@needs_nvcc
@pytest.mark.slow
def test_a_file_that_only_nvcc_takes_is_judged_by_its_code(through: CpuDevice, tmp_path: Path) -> None:
    only_nvcc = '#ifndef __NVCC__\n#error "not by others"\n#endif\nconstexpr int COLS'
    kernel = edited(tmp_path, "row_from_float", ("constexpr int COLS", only_nvcc))
    with CpuDevice() as text, pytest.raises(ClaimError, match="not by others"):
        run_trial(kernel, five_rows(), {}, text, PROBE)
    for _ in range(2):
        assert kinds(run_trial(kernel, five_rows(), {}, through, PROBE)) == [("error", "numeric")]


@needs_nvcc
@pytest.mark.slow(2)
def test_other_bits_of_a_right_kernel_are_no_finding(through: CpuDevice) -> None:
    kernel = our_kernel("rms_norm/warp")
    x = np.random.default_rng(1).standard_normal((3, 64)).astype(np.float32)
    case = case_of("rms_norm", {"x": x, "w": x[0] * 3})
    tune = {name: min(sizes) for name, sizes in kernel.tune.items()}
    job = kernel.bind(case.arrays, tune).job
    answers = [through.run(one, PROBE).runs[0].outputs["y"].tobytes() for one in (job, replace(job, through=TEXT))]
    assert answers[0] != answers[1]
    assert run_trial(kernel, case, tune, through, PROBE).defects == ()


class Compiling:
    """A device that adds to the right answer what a compiler is to have done to it: in its code, or in the text."""

    name = "compiling"

    def __init__(self, code: Sequence[float], text: Sequence[float], findings: tuple[Finding, ...] = ()) -> None:
        self._code, self._text, self._findings = code, text, findings

    def run(self, job: Job, probe: Probe) -> Outcome:
        x = next(one.content for one in job.buffers if one.content is not None).astype(np.float64)
        y = np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)
        is_text = job.through == TEXT
        added = (self._text if is_text else self._code)[: probe.runs]
        runs = tuple(Run(Circumstances(f"run {i}"), {"y": (y + one).astype(np.float32)}) for i, one in enumerate(added))
        findings = self._findings if is_text else ()
        return Outcome(runs, findings, through="" if is_text else "nvcc", other_ways=() if is_text else (TEXT,))

    def close(self) -> None:
        pass


RACE = (Finding("race", "two threads", line=1),)
SAID = {
    "both right": ([0, 0], [0, 0], (), []),
    "the code wrong": ([1, 1], [0, 0], (), [("error", "compiled-otherwise")]),
    "the text wrong": ([0, 0], [1, 1], (), [("warning", "compiled-otherwise")]),
    "the code wrong in some runs": ([1, 0], [0, 0], (), [("error", "race")]),
    "the text wrong in some runs": ([1, 1], [0, 1], (), [("error", "numeric")]),
    "the text wrong in some runs alone": ([0, 0], [1, 0], (), []),
    "a text that races": ([1, 1], [0, 0], RACE, [("error", "numeric")]),
}


@pytest.mark.parametrize("how", SAID)
def test_answers_that_vary_say_nothing_of_a_compiler(how: str) -> None:
    code, text, findings, wanted = SAID[how]
    case = case_of("softmax", {"x": np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 6)})
    device = Compiling(code, text, findings)
    trial = run_trial(our_kernel("softmax/online_block"), case, {"threads": 32}, device, Probe(runs=2))
    assert kinds(trial) == wanted


class OfTargets:
    """A device whose compiler adds to the right answer of each target what is given; one that is not given refuses.

    `own` is the answer of a job that asks for no target; `sm_90` is given where a file that forgets its earlier calls
    answers otherwise.
    """

    name = "of targets"

    def __init__(self, own: Sequence[float], findings: tuple[Finding, ...] = (), **others: Sequence[float]) -> None:
        self._added, self._findings = {"": own, "sm_90": own, **others}, findings
        self.asked = list[str]()

    def run(self, job: Job, probe: Probe) -> Outcome:
        self.asked.append(job.through)
        if job.through not in self._added:
            return Outcome(refusal=Refusal("it takes no such GPU"))
        x = next(one.content for one in job.buffers if one.content is not None).astype(np.float64)
        with np.errstate(all="ignore"):  # a smaller case may have infinities
            e = np.exp(x - x.max(axis=-1, keepdims=True))
            y = e / e.sum(axis=-1, keepdims=True)
        every = self._added[job.through][: probe.runs]
        runs = tuple(Run(Circumstances(f"run {i}"), {"y": (y + one).astype(np.float32)}) for i, one in enumerate(every))
        findings = self._findings if job.through == "sm_80" else ()
        return Outcome(runs, findings, through=job.through or "sm_90", other_ways=("sm_80", "sm_100"))

    def close(self) -> None:
        pass


RIGHT, WRONG, VARYING = [0, 0], [1, 1], [0, 1]
ERROR = [("error", "compiled-otherwise")]
NUMERIC = [("error", "numeric")]
TARGETS = {
    "all right": (OfTargets(RIGHT, sm_80=RIGHT), []),
    "the other wrong": (OfTargets(RIGHT, sm_80=WRONG), ERROR),
    "the own wrong": (OfTargets(WRONG, sm_80=RIGHT), ERROR),
    "both wrong": (OfTargets(WRONG, sm_80=WRONG), NUMERIC),
    "the first other refused, the second wrong": (OfTargets(RIGHT, sm_100=WRONG), ERROR),
    "the first other right, the second wrong": (OfTargets(RIGHT, sm_80=RIGHT, sm_100=WRONG), []),
    "all others refused": (OfTargets(RIGHT), []),
    "all others refused, the own wrong": (OfTargets(WRONG), NUMERIC),
    "the other varies": (OfTargets(RIGHT, sm_80=VARYING), []),
    "the other varies from a wrong one": (OfTargets(WRONG, sm_80=VARYING), NUMERIC),
    "the other races": (OfTargets(RIGHT, RACE, sm_80=WRONG), []),
    "wrong without the earlier calls": (OfTargets(RIGHT, sm_90=WRONG, sm_80=WRONG), []),
    "right without the earlier calls": (OfTargets(WRONG, sm_90=RIGHT, sm_80=RIGHT), NUMERIC),
}
COMPARING = Probe(runs=2, options=(TargetOptions(compares=True),))


def softmax_case() -> Case:
    return case_of("softmax", {"x": np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 6)})


def trial_on(device: OfTargets, probe: Probe) -> Trial:
    return run_trial(our_kernel("softmax/online_block"), softmax_case(), {"threads": 32}, device, probe)


@pytest.mark.parametrize("how", TARGETS)
def test_the_code_for_two_targets_has_to_be_right(how: str) -> None:
    device, wanted = TARGETS[how]
    assert kinds(trial_on(device, COMPARING)) == wanted


@pytest.mark.parametrize(("own", "other"), [(RIGHT, WRONG), (WRONG, RIGHT)])
def test_a_finding_names_both_targets(own: list[float], other: list[float]) -> None:
    (found,) = trial_on(OfTargets(own, sm_80=other), COMPARING).defects
    right, wrong = ("sm_90", "sm_80") if own == RIGHT else ("sm_80", "sm_90")
    worst = found.worst
    assert worst is not None
    assert f"; the code for {right} gives {worst.want:.2f}" in found.message
    assert f", which is right; that for {wrong} gives {worst.got:.9g} (0x{worst.got_bits})" in found.message


def test_only_some_trials_run_the_code_for_a_second_target() -> None:
    kernel = our_kernel("softmax/online_block")
    chosen = [n for n in range(40) if probe_of(kernel, 1, n, 2, 3.0).option(TargetOptions).compares]
    assert chosen == [4, 11, 18, 25, 32, 39]
    device = OfTargets(RIGHT, sm_80=WRONG)
    assert trial_on(device, Probe(runs=2)).defects == ()
    assert device.asked == [""]


def test_a_kept_case_is_replayed_and_made_smaller_on_both_targets() -> None:
    kernel, device = our_kernel("softmax/online_block"), OfTargets(RIGHT, sm_80=WRONG)
    subject = subject_of(kernel, softmax_case(), {"threads": 32}, False, 0)
    (found,) = trial_on(device, COMPARING).defects
    smaller = minimize(Failure(subject, found, 2), device, again=2)
    assert smaller.failure.subject.case.elements == 2
    assert (smaller.failing, smaller.again) == (2, 2)
    record = record_of(smaller, device.name)
    assert replay(record, kernel, device).status == "broken"
    assert record.origin is not None
    of_another = replace(record, origin=replace(record.origin, kind="numeric"))
    assert replay(of_another, kernel, device).status == "fixed"
