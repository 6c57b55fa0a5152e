"""The text of a kernel beside what nvcc makes of it: a finding where one of both is wrong and the other right."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from our_kernels import our_kernel
from with_nvcc import needs_nvcc

from kfuzz.campaign.trials.locating import locate
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.case import Case, case_of
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices import TEXT, Circumstances, ClaimError, Finding, Job, Outcome, Probe, Run
from kfuzz.devices.cpu.device import CpuDevice

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
        return Outcome(runs, self._findings if is_text else (), through="" if is_text else "nvcc")

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
