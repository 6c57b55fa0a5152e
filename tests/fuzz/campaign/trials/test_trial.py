"""Trials: the device's findings and the oracle's verdicts become defects, in buckets that do not change."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from our_kernels import our_kernel

from kfuzz.campaign.trials.trial import Trial, run_trial, unfit
from kfuzz.cases.case import Case, case_of
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices import Circumstances, Device, Finding, Job, Outcome, Probe, Run
from kfuzz.oracle.numbers.verdict import Reason, Why
from kfuzz.testing import DefectError, check_trial

ONLINE = our_kernel("softmax/online_block")
NAIVE, SUM_DOWN = our_kernel("softmax/naive_block"), our_kernel("reduce/warp_sum_down")
TUNE = {"threads": 32}
PROBE = Probe()


class Told:
    """A device that gives the outcome it was told to give, made from the job's right answer."""

    name = "told"

    def __init__(self, tell) -> None:  # noqa: ANN001  a function of the right answer
        self.tell = tell

    def run(self, job: Job, probe: Probe) -> Outcome:
        x = next(buffer.content for buffer in job.buffers if buffer.content is not None)
        e = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
        return self.tell((e / e.sum(axis=-1, keepdims=True)).astype(np.float32))

    def close(self) -> None:
        pass


def outcome(*answers: np.ndarray, findings: tuple[Finding, ...] = ()) -> Outcome:
    return Outcome(tuple(Run(Circumstances(f"run {i}"), {"y": y}) for i, y in enumerate(answers)), findings)


def tried(tell, case: Case | None = None, kernel: Kernel = ONLINE) -> Trial:  # noqa: ANN001  a function of the right answer
    case = case or case_of("softmax", {"x": np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 6)})
    return run_trial(kernel, case, TUNE, Told(tell), PROBE)


def changed(y: np.ndarray, row: int, col: int, value: float) -> np.ndarray:
    y = y.copy()
    y[row, col] = value
    return y


def test_a_right_answer_is_no_defect() -> None:
    trial = tried(lambda y: outcome(y, y, y))
    assert trial.defects == ()
    assert 0 < trial.ratio < 1
    assert (trial.rows, trial.elements) == (2, 12)


def test_a_wrong_element_is_numeric_with_its_place_and_bits() -> None:
    (defect,) = tried(lambda y: outcome(*[changed(y, 1, 5, 0.5)] * 3)).defects
    assert (defect.kind, defect.severity) == ("numeric", "error")
    assert defect.bucket == "softmax/online_block: numeric, wrong elements, tail"
    assert defect.fault == "softmax/online_block: numeric, wrong elements"
    assert "y[1, 5] is 0.5 (0x3f000000), wanted" in defect.message


def test_nan_is_special() -> None:
    (defect,) = tried(lambda y: outcome(*[changed(y, 0, 0, np.nan)] * 3)).defects
    assert defect.kind == "special"


def test_bit_identical_runs_are_judged_once() -> None:
    one = tried(lambda y: outcome(y, y, y))
    other = tried(lambda y: outcome(y, np.nextafter(y, np.float32(1)), y))
    assert one.elements == other.elements == 12
    assert one.defects == other.defects == ()


def test_runs_of_which_one_is_wrong_are_a_race() -> None:
    trial = tried(lambda y: outcome(y, y * np.float32(2), y))
    (defect,) = trial.errors
    assert defect.kind == "race"
    assert "wrong in the run 'run 1', right in 'run 0'" in defect.message


def test_differing_runs_within_the_enclosure_stay_a_warning() -> None:
    warning = Finding("nondeterministic", "bits differ", severity="warning", array="y", index=3)
    trial = tried(lambda y: outcome(y, np.nextafter(y, np.float32(1)), findings=(warning,)))
    assert [defect.kind for defect in trial.defects] == ["nondeterministic"]
    assert trial.errors == ()


def test_bits_that_a_claim_lets_differ_are_no_warning() -> None:
    written = replace(ONLINE.written, claims=replace(ONLINE.claims, deterministic=False))
    varying = replace(ONLINE, written=written)
    warning = Finding("nondeterministic", "bits differ", severity="warning", array="y", index=3)
    right = tried(lambda y: outcome(y, np.nextafter(y, np.float32(1)), findings=(warning,)), kernel=varying)
    assert right.defects == ()
    wrong = tried(lambda y: outcome(y, y * np.float32(2), findings=(warning,)), kernel=varying)
    assert [defect.kind for defect in wrong.defects] == ["race"]


def test_runs_that_are_all_wrong_are_numeric_however_they_differ() -> None:
    warning = Finding("nondeterministic", "bits differ", severity="warning", array="y", index=3)
    trial = tried(lambda y: outcome(y * np.float32(2), y * np.float32(3), findings=(warning,)))
    assert [defect.kind for defect in trial.errors] == ["numeric"]


def test_an_unwritten_element_is_not_also_numeric() -> None:
    finding = Finding("unwritten", "never written", array="y", index=11)
    runs = lambda y: (changed(y, 1, 5, np.nan), changed(y, 1, 5, 1e10))  # noqa: E731  two poisons
    assert [d.kind for d in tried(lambda y: outcome(*runs(y), findings=(finding,))).defects] == ["unwritten"]
    more = tried(lambda y: outcome(*(changed(r, 0, 0, 7.0) for r in runs(y)), findings=(finding,)))
    assert sorted(d.kind for d in more.errors if d.kind != "special") == ["numeric", "unwritten"]


def test_what_an_uninitialised_read_explains_is_not_also_a_race() -> None:
    finding = Finding("uninitialised", "read of tmp", array="tmp")
    trial = tried(lambda y: outcome(y, y * np.float32(2), findings=(finding,)))
    assert [defect.kind for defect in trial.defects] == ["uninitialised"]


def test_an_outcome_without_runs_has_only_the_devices_findings() -> None:
    trial = tried(lambda y: Outcome((), (Finding("hang", "time was up", array="y"),)))
    assert [defect.bucket for defect in trial.defects] == ["softmax/online_block: hang"]
    assert trial.rows == trial.elements == 0


def test_a_hang_is_one_bucket_wherever_its_thread_was_when_time_was_up() -> None:
    write, read = line_of(ONLINE, "shared[tid] = value;"), line_of(ONLINE, "return shared[0];")
    hangs = tuple(Finding("hang", f"time was up at {line}", line=line) for line in (write, read))
    trial = tried(lambda y: Outcome((), hangs))
    assert [(defect.bucket, defect.line) for defect in trial.defects] == [("softmax/online_block: hang", write)]
    assert len(seen_at(ONLINE, write, read)) == 2  # of any other kind they are two


def line_of(kernel: Kernel, text: str) -> int:
    return next(number for number, line in enumerate(kernel.source.split("\n"), 1) if text in line)


def seen_at(kernel: Kernel, *lines: int) -> list[str]:
    """The buckets, without the kernel's name, of findings at these lines, each by itself."""
    case = case_of("softmax", {"x": np.zeros((1, 1), np.float32)})
    found = tuple(Finding("uninitialised", f"thread {line}", line=line) for line in lines)
    trial = run_trial(kernel, case, TUNE, Told(lambda y: Outcome((), found)), PROBE)
    return [defect.bucket.partition(": ")[2] for defect in trial.defects]


def test_findings_on_the_same_lines_are_one_bucket() -> None:
    write, read = line_of(ONLINE, "shared[tid] = value;"), line_of(ONLINE, "return shared[0];")
    one = Finding("race", "thread 3", line=write, other_line=read, array="cache", index=4)
    two = replace(one, message="thread 5", line=read, other_line=write, index=8)
    trial = tried(lambda y: outcome(y, findings=(one, two)))
    bucket = "softmax/online_block: race, `shared[tid] = value;` / `return shared[0];`"
    assert [(defect.bucket, defect.message) for defect in trial.defects] == [(bucket, "thread 3")]


def test_a_bucket_outlives_an_edit_above_it_and_not_one_of_its_line(tmp_path: Path) -> None:
    number = line_of(ONLINE, "__syncthreads();")
    text = ONLINE.source
    begin = text.index("// ///", text.index("// /// kernel") + 1) + len("// ///")
    moved = write_kernel(
        tmp_path / "online_block.cu", f"{text[:begin]}\n\n#include <float.h>  // two more{text[begin:]}"
    )
    changed = write_kernel(tmp_path / "c" / "online_block.cu", text.replace("__syncthreads();", "__syncwarp();"))
    assert seen_at(ONLINE, number) == seen_at(moved, number + 2) == ["uninitialised, `__syncthreads();`"]
    assert seen_at(changed, number) == ["uninitialised, `__syncwarp();`"]


def write_kernel(path: Path, source: str) -> Kernel:
    path.parent.mkdir(exist_ok=True)
    path.write_text(source, encoding="utf-8")
    return load(path)


def test_lines_of_the_same_text_are_buckets_of_their_own() -> None:
    lines = [number for number, line in enumerate(ONLINE.source.split("\n"), 1) if "__syncthreads();" in line]
    assert seen_at(ONLINE, *lines[:2]) == ["uninitialised, `__syncthreads();`", "uninitialised, `__syncthreads();` #2"]


def test_a_line_beyond_the_end_of_the_file_is_reported_by_number() -> None:
    assert seen_at(ONLINE, 100_000) == ["uninitialised, line 100000"]


def test_writes_before_and_beyond_an_array_are_two_buckets() -> None:
    before = Finding("out-of-bounds", "write", array="y", index=-1)
    trial = tried(lambda y: outcome(y, findings=(before, replace(before, index=12))))
    assert [d.bucket[22:] for d in trial.defects] == ["out-of-bounds, y, before it", "out-of-bounds, y, beyond it"]


def test_rows_of_which_the_claim_says_nothing_are_not_judged() -> None:
    x = np.zeros((2, 6), np.float32)
    x[1, 3] = np.nan
    trial = run_trial(
        ONLINE, case_of("softmax", {"x": x}), TUNE, Told(lambda y: outcome(y * 0 + np.float32(1 / 6))), PROBE
    )
    assert trial.defects == ()
    assert (Why.NAN in {reason.why for reason in trial.reasons if isinstance(reason, Reason)}) == (
        ONLINE.special.nan is None
    )


def test_a_trial_notes_what_a_silent_claim_could_promise() -> None:
    x = np.zeros((2, 6), np.float32)
    x[1, 3] = np.nan
    case = case_of("softmax", {"x": x})
    silent = our_kernel("softmax/online_block")
    assert silent.special.nan is None

    def row_of_nan(y: np.ndarray) -> Outcome:
        y = np.full_like(y, 1 / 6)
        y[1:2] = np.nan
        return outcome(y)

    def all_equal(y: np.ndarray) -> Outcome:
        return outcome(np.full_like(y, 1 / 6))

    assert run_trial(silent, case, TUNE, Told(row_of_nan), PROBE).silences == {"nan": ("row", "ieee", "propagate")}
    assert run_trial(silent, case, TUNE, Told(all_equal), PROBE).silences == {"nan": ()}
    assert tried(outcome).silences == {}


def test_each_bucket_has_an_exception_of_its_own() -> None:
    wrong = tried(lambda y: outcome(*[changed(y, 1, 5, 0.5)] * 3))
    nan = tried(lambda y: outcome(*[changed(y, 0, 0, np.nan)] * 3))
    classes = []
    for trial in (wrong, nan, wrong):
        with pytest.raises(DefectError, match="softmax/online_block: ") as error:
            check_trial(trial)
        classes.append(error.type)
    assert classes[0] is classes[2] is not classes[1]
    check_trial(tried(outcome))


@pytest.mark.parametrize(
    ("kernel", "case", "words"),
    [
        (ONLINE, case_of("transpose", {"x": np.zeros((2, 2), np.float32)}), "it computes softmax"),
        (SUM_DOWN, case_of("row_sum", {"x": np.zeros((1, 33), np.float32)}), "cols=33; it claims"),
        (NAIVE, case_of("softmax", {"x": np.full((1, 2), 81, np.float32)}), "x has 81..81; it"),
    ],
)  # fmt: skip
def test_a_case_that_is_not_claimed_says_why(kernel: Kernel, case: Case, words: str) -> None:
    assert words in unfit(kernel, case)


def test_a_right_kernel_is_kept_on_the_cpu(device: Device) -> None:
    x = np.array([[-np.inf, 0, 1, 120, -300], [-np.inf] * 5, [3e38, -3e38, 0, 0, 0]], np.float32)
    for check in (False, True):
        trial = run_trial(ONLINE, case_of("softmax", {"x": x}), TUNE, device, Probe(check=check))
        assert trial.errors == ()
        assert trial.elements == 15


def test_a_wrong_kernel_is_found_on_the_cpu(device: Device) -> None:
    x = np.full((2, 40), -np.inf, np.float32)
    x[:, 39] = 0
    trial = run_trial(our_kernel("broken/leading_neg_inf"), case_of("softmax", {"x": x}), TUNE, device, PROBE)
    assert {defect.kind for defect in trial.errors} == {"special"}
    assert "-inf minus -inf" in trial.errors[0].message


def test_a_race_is_found_on_the_cpu_with_its_lines(device: Device) -> None:
    x = np.zeros((1, 64), np.float32)
    case = case_of("softmax", {"x": x})
    trial = run_trial(our_kernel("broken/missing_barrier"), case, {"threads": 64}, device, Probe(check=True))
    race = next(defect for defect in trial.defects if defect.kind == "race")
    assert race.line is not None
