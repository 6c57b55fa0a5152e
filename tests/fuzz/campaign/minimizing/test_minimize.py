"""Minimize: smaller, the same bucket, by real runs; what an interruption keeps, and how often the case fails."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from our_kernels import our_kernel

from benchmarks.detection.hunt import hunt
from kfuzz.campaign.minimizing import passes
from kfuzz.campaign.minimizing.minimize import (
    Failure,
    Minimized,
    all_passes,
    count_failures,
    failure_of,
    find_defect,
    minimize,
    point_at_worst,
    record_of,
    trial_of,
)
from kfuzz.campaign.minimizing.subject import ONE, Subject, length_of, simpler_values, statements_in, subject_of
from kfuzz.cases.case import Case, Origin, Record, case_of
from kfuzz.cases.case_file import encode
from kfuzz.cases.recipe import Band, Base, Edit, Recipe, bits_of, value_of
from kfuzz.claims.kernel import Kernel
from kfuzz.common.time_limits import limited, time_limits
from kfuzz.devices import Circumstances, Job, Outcome, Probe, Run
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

LEADING = our_kernel("broken/leading_neg_inf")
TAIL = our_kernel("broken/tail_dropped")
OVERFLOW = our_kernel("broken/index_overflow")
RIGHT = our_kernel("softmax/online_thread")
NEG_INF = bits_of(float("-inf"))


def noise(rows: int, cols: int, *edits: Edit) -> Recipe:
    return Recipe(rows, cols, (Band(Base("normal", 0, ONE, 7)), Band(Base("normal", 0, ONE, 8), edits)))


def failing(kernel: Kernel, case: Case, tune: dict[str, int], device: CpuDevice) -> Failure:
    """The failure of a case, launched in this way."""
    subject = subject_of(kernel, case, tune, False, 0)
    trial = trial_of(subject, 3, device, 0, 5.0)
    defect = trial.errors[0]
    return Failure(point_at_worst(subject, defect), defect, 3)


class Counted:
    """The cpu device, counting its jobs; after so many, Ctrl-C."""

    name = "cpu"

    def __init__(self, device: CpuDevice, interrupt_at: int | None = None) -> None:
        self._device, self._interrupt_at, self.jobs = device, interrupt_at, 0

    def run(self, job: Job, probe: Probe) -> Outcome:
        self.jobs += 1
        if self.jobs == self._interrupt_at:
            raise KeyboardInterrupt
        return self._device.run(job, probe)

    def find_store(self, job: Job, probe: Probe, array: str, index: int) -> tuple[str, int] | None:
        self.jobs += 1
        return self._device.find_store(job, probe, array, index)

    def close(self) -> None:
        pass


class Moody:
    """Gives zeros where the probe's seed is odd, and the right answer else."""

    name = "moody"

    def run(self, job: Job, probe: Probe) -> Outcome:
        x = next(buffer.content for buffer in job.buffers if buffer.content is not None).astype(np.float64)
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        y = (e / e.sum(axis=-1, keepdims=True) * (1 - probe.seed % 2)).astype(np.float32)
        return Outcome((Run(Circumstances(), {"y": y, "x": y}),))

    def close(self) -> None:
        pass


def large(cpu: CpuDevice) -> Failure:
    """Forty rows of 300, half of them with -inf in front."""
    return failing(
        LEADING,
        case_of("softmax", {"x": noise(40, 300, Edit(0, 70, NEG_INF), Edit(200, 210, ONE))}),
        {"threads": 64},
        cpu,
    )


def test_leading_neg_inf_becomes_two_elements(cpu: CpuDevice) -> None:
    found = minimize(large(cpu), cpu, max_time=600)
    subject = found.failure.subject
    assert found.stop == "smallest"
    assert str(subject.case) == "softmax rows=1 cols=2; x: -inf, 0"
    assert subject.tune == {"threads": 1}
    assert (found.failing, found.again) == (10, 10)


def test_the_bucket_stays_and_every_step_was_run(cpu: CpuDevice) -> None:
    failure = large(cpu)
    counted = Counted(cpu)
    found = minimize(failure, counted)
    assert found.failure.defect.bucket == failure.defect.bucket
    assert counted.jobs == found.tried + found.again + 1  # the smallest is run once more to see which line stored it
    assert find_defect(found.failure.subject, failure, cpu) is not None


def test_of_a_kernel_with_several_buckets_each_keeps_its_own(cpu: CpuDevice) -> None:
    quarry = hunt(TAIL, "numeric", 3, cpu, 300)
    assert quarry is not None
    found = minimize(quarry.failure, cpu)
    assert found.failure.defect.bucket == quarry.failure.defect.bucket
    assert found.failure.subject.axes["cols"] <= 7


def test_the_same_twice_gives_the_same_bytes(cpu: CpuDevice) -> None:
    first, second = (record_of(minimize(large(cpu), cpu), "cpu") for _ in range(2))
    assert encode(first) == encode(second)


def test_what_is_smallest_stays_as_it_is(cpu: CpuDevice) -> None:
    smallest = minimize(large(cpu), cpu)
    again = minimize(smallest.failure, cpu)
    assert again.failure.subject.weight == smallest.failure.subject.weight


def test_ctrl_c_keeps_the_smallest_so_far_which_still_fails(cpu: CpuDevice) -> None:
    failure = large(cpu)
    found = minimize(failure, Counted(cpu, interrupt_at=8))
    assert found.stop == "interrupted"
    assert (found.failing, found.again) == (0, 0)
    assert found.failure.subject.weight < failure.subject.weight
    assert find_defect(found.failure.subject, failure, cpu) is not None
    origin = record_of(found, "cpu").origin
    assert origin is not None
    assert not origin.minimized


def test_it_ends_when_it_is_out_of_runs_or_time(cpu: CpuDevice) -> None:
    assert minimize(large(cpu), cpu, most_runs=3).stop == "out of runs"
    assert minimize(large(cpu), cpu, max_time=0.0).stop == "out of time"


def test_the_end_of_the_whole_command_keeps_the_smallest_so_far(cpu: CpuDevice) -> None:
    failure = large(cpu)
    with limited(replace(time_limits(), until=time.monotonic())):
        minimized = minimize(failure, cpu, again=0)
    assert (minimized.stop, minimized.tried) == ("out of time", 0)
    assert minimized.failure.subject is failure.subject


@pytest.mark.soak
def test_a_case_too_long_to_be_written_out_stays_a_recipe(cpu: CpuDevice) -> None:
    case = case_of("softmax", {"x": noise(900, 90, Edit(3, 3, bits_of(15.0)))})
    found = minimize(failing(OVERFLOW, case, {"threads": 32}, cpu), cpu)
    axes = found.failure.subject.axes
    assert axes["rows"] == 2
    assert 65536 <= axes["cols"] <= 65537  # the second row must begin beyond 16 bits
    document, sidecars = encode(record_of(found, "cpu"))
    assert len(document) < 2000
    assert not sidecars


def test_it_says_how_often_a_flaky_case_fails() -> None:
    subject = subject_of(RIGHT, case_of("softmax", {"x": np.ones((1, 4), np.float32)}), {"threads": 32}, False, 1)
    defect = trial_of(subject, 3, Moody(), 1, 5.0).errors[0]
    failing, again = count_failures(Failure(subject, defect, 3), Moody(), again=40)
    assert again == 40
    assert 8 <= failing <= 32


def test_a_case_that_is_kept_has_no_failure(cpu: CpuDevice) -> None:
    record = Record(case_of("softmax", {"x": np.zeros((2, 5), np.float32)}))
    assert failure_of(record, RIGHT, cpu) is None


def test_the_failure_of_a_kept_case_is_the_one_it_was_kept_for(cpu: CpuDevice) -> None:
    small = minimize(large(cpu), cpu)
    record = record_of(small, "cpu")
    found = failure_of(record, LEADING, cpu)
    assert found is not None
    assert found.defect.bucket == small.failure.defect.bucket
    assert found.runs == 3


def test_for_another_kernel_any_error_will_do(cpu: CpuDevice) -> None:
    origin = Origin("somebody/else", "somebody/else: race", "race", "", "cpu", {})
    record = Record(case_of("softmax", {"x": np.array([[-np.inf, 1, 2]], np.float32)}), origin)
    found = failure_of(record, LEADING, cpu)
    assert found is not None
    assert found.defect.bucket == "broken/leading_neg_inf: special, -inf minus -inf"


def test_every_file_of_the_folder_is_a_pass_with_a_place_of_its_own() -> None:
    files = sorted(path.stem for path in Path(passes.__path__[0]).glob("*.py") if path.stem != "__init__")
    found = all_passes()
    assert sorted(each.__name__.rpartition(".")[2] for each in found) == files  # type: ignore[attr-defined]  # modules
    worths = [each.WORTH for each in found]
    assert worths == sorted(set(worths))


def proposals(subject: Subject, accept: int) -> list[Subject]:
    """What the passes propose, if every so many-th proposal is accepted."""
    found = []
    for each in all_passes():
        candidates, accepted = each.candidates(subject), None
        for number in range(200):
            try:
                found.append(next(candidates) if accepted is None else candidates.send(accepted))
            except StopIteration:
                break
            accepted = number % accept == 0
    return found


@pytest.mark.parametrize("accept", [1, 3, 1000])
@pytest.mark.parametrize(
    ("kernel", "arrays"),
    [
        ("broken/leading_neg_inf", {"x": noise(40, 300, Edit(-3, -1, NEG_INF))}),
        ("broken/leading_neg_inf", {"x": np.arange(21, dtype=np.float32).reshape(3, 7)}),
        ("broken/sgemm_row_stride", {"a": noise(5, 7), "b": noise(7, 90)}),
        ("broken/merge_needs_alias", {name: noise(9, 1) for name in ("m1", "s1", "m2", "s2")}),
        ("broken/shared_over_read", {name: noise(1, 5000) for name in ("m", "s")}),
        ("broken/no_bounds_check", {"x": noise(33, 200)}),
    ],
)
def test_whatever_a_pass_proposes_is_a_case_of_its_op(kernel: str, arrays: dict[str, Recipe], accept: int) -> None:
    found = our_kernel(kernel)
    tune = {name: values[-1] for name, values in found.tune.items()}
    subject = replace(subject_of(found, case_of(found.op, arrays), tune, True, 9), worst={"rows": 2, "cols": 4})
    proposed = proposals(subject, accept)
    assert len(proposed) > 5
    for each in proposed:
        assert dict(each.case.axes) == each.axes
        assert min(each.axes.values()) > 0
        assert all(each.tune[name] in found.tune[name] for name in found.tune)


PRODUCT = '''"""product: a matrix times a column."""
INPUTS = {"a": "float[m, k]", "b": "float[k, 1]"}
OUTPUTS = {"y": "float[m, 1]"}


def formula(N, a, b):
    return N.matmul(a, b, "k")
'''


def test_an_array_whose_rows_are_another_ones_columns_is_not_made_longer(tmp_path: Path) -> None:
    """Of a 2048 x 1048576 matrix and a column of as many numbers it made 262144 columns and a column of 8192."""
    (tmp_path / "product.py").write_text(PRODUCT)
    (tmp_path / "f.py").write_text("import numpy\n\n\ndef f(a, b):\n    return numpy.matmul(a, b)\n")
    found = kernel_with(tmp_path / "f.py", Unclaimed(str(tmp_path / "product.py")))
    case = case_of(found.op, {"a": noise(32, 8192), "b": noise(8192, 1)})
    assert all(one.case.axes for one in proposals(subject_of(found, case, {}, True, 9), 1000))


@given(st.integers(0, 0xFFFFFFFF))
def test_what_is_called_simpler_is_shorter_to_say(bits: int) -> None:
    assert all(length_of(other) < length_of(bits) for other in simpler_values(bits))


def test_zero_one_and_neg_inf_are_the_simplest() -> None:
    every = [0, ONE, NEG_INF, *map(bits_of, (2.0, -3.5, 10.25, 1e-40)), bits_of(float("nan"))]
    assert [length_of(bits) for bits in every] == sorted(length_of(bits) for bits in every)
    assert [value_of(bits) for bits in simpler_values(bits_of(3.7182))][:2] == [0.0, 1.0]


def test_an_array_of_one_value_has_least_to_say() -> None:
    plain, mixed = np.zeros((2, 3), np.float32), np.array([[0, 0, 1], [0, 0, 0]], np.float32)
    assert statements_in(plain) < statements_in(mixed)


def test_keeping_places_of_a_dimension_keeps_them_in_every_array() -> None:
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(12, dtype=np.float32).reshape(3, 4)
    kernel = our_kernel("broken/sgemm_row_stride")
    subject = subject_of(
        kernel, case_of("sgemm", {"a": a, "b": b}), {name: v[0] for name, v in kernel.tune.items()}, False, 0
    )
    kept = subject.keep("k", [0, 2])
    assert np.array_equal(kept.case.arrays["a"], a[:, [0, 2]])
    assert np.array_equal(kept.case.arrays["b"], b[[0, 2]])
    assert kept.axes == {"m": 2, "k": 2, "n": 4}


@pytest.mark.parametrize(
    ("kept", "labels"),
    [(range(257), [0, 256, 256]), ([0, 300, 508, 509], [0, 1, 3]), (range(500, 510), [0, 0, 9])],
)
def test_a_label_goes_with_its_class_and_to_the_next_one_if_that_is_cut(kept: Sequence[int], labels: list[int]) -> None:
    """Two rows of 510 classes and a label of 509 stayed as long as that, since no label was left without its class."""
    x = np.arange(3 * 510, dtype=np.float32).reshape(3, 510)
    given = {"x": x, "labels": np.array([0, 300, 509], np.float32)}
    subject = subject_of(our_kernel("cross_entropy/warp"), case_of("cross_entropy", given), {"threads": 32}, False, 0)
    smaller = subject.keep("cols", kept).case.arrays
    assert np.array_equal(smaller["x"], x[:, list(kept)])
    assert smaller["labels"].tolist() == labels


def test_integers_of_an_answer_are_no_array_to_cut() -> None:
    """Every minimization of a wrong argmax ended with a KeyError."""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    subject = subject_of(our_kernel("argmax/warp"), case_of("argmax", {"x": x}), {"threads": 32}, False, 0)
    assert np.array_equal(subject.keep("cols", [1, 2]).case.arrays["x"], x[:, [1, 2]])


def test_rows_kept_of_a_recipe_are_those_rows() -> None:
    recipe = noise(2000, 3, Edit(1, 1, NEG_INF))
    subject = subject_of(LEADING, case_of("softmax", {"x": recipe}), {"threads": 1}, False, 0)
    assert isinstance(subject.sources["x"], Recipe)
    whole = subject.case.arrays["x"]
    assert np.array_equal(
        subject.keep("rows", [3, 1500]).case.arrays["x"].view(np.uint32), whole[[3, 1500]].view(np.uint32)
    )


def test_a_minimized_case_says_so_only_at_a_fixpoint(cpu: CpuDevice) -> None:
    whole = minimize(large(cpu), cpu)
    for found, is_minimized in ((whole, True), (replace(whole, stop="out of runs"), False)):
        origin = record_of(found, "cpu").origin
        assert isinstance(found, Minimized)
        assert origin is not None
        assert origin.minimized == is_minimized
        assert origin.device == "cpu"
