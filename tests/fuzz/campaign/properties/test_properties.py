"""Properties: twins are compared by bits that come again, rows of batches are those of the case, lines of a report."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from kfuzz.campaign.properties.checks import absent_rows, batch_invariant, deterministic, streams, strides
from kfuzz.campaign.properties.find_properties import properties
from kfuzz.campaign.properties.property import Examined, NamedOutputs, Twin
from kfuzz.campaign.properties.twins import Agreement, compare_each, compare_twin, first_difference
from kfuzz.campaign.result import KernelResult
from kfuzz.campaign.state import Progress
from kfuzz.cases.case import case_of
from kfuzz.cases.plans.choose import seeded_choices
from kfuzz.cases.plans.scale import MOST_THREADS
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices import Buffer, Circumstances, ClaimError, Finding, Job, Outcome, Probe, Run
from kfuzz.devices.tensors import contiguous_strides
from kfuzz.oracle.numbers.elements import F32, I32
from kfuzz.ui.reports.properties import join_properties, property_entries, property_lines

CLAIM = """// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..65535", cols = "1..4096" }
// let    = { slots = "rows + 3" }
// arrays = { x = "f32[rows within slots, cols] -> x", y = "f32[rows within slots] <- y", n = "i32[1] = rows" }
//
// [claims]
// batch_invariant = true
//
// [[launch]]
// entry = "sums"
// grid  = "slots"
// block = "32"
// args  = ["y", "x", "n", "cols"]
// ///
__global__ void sums(float *y, const float *x, const int *n, int cols);
"""
X = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    path = tmp_path / "sums.cu"
    path.write_text(CLAIM)
    return load(path)


class Answers:
    """Gives each job the next of its answers: those of the trial's own job, or those of its twin."""

    def __init__(self, own: list[float], others: list[float], job: Job) -> None:
        self.own, self.others, self.job, self.calls = own, others, job, 0

    def run(self, job: Job, probe: Probe) -> Outcome:
        self.calls += 1
        left = self.own if job == self.job else self.others
        value = left.pop(0) if len(left) > 1 else left[0]
        return Outcome((Run(Circumstances(), {"y": np.array([value], np.float32)}),))


def examined(kernel: Kernel, answers: Answers, outcome: Outcome = Outcome()) -> Examined:  # noqa: B008  frozen
    case = case_of(kernel.op, {"x": X})
    bound = kernel.bind(case.arrays, {})
    return Examined(
        kernel,
        case,
        {},
        Probe(),
        replace(bound, job=answers.job),
        outcome,
        True,
        answers.run,
        lambda *_: True,
        "cpu",
        tuple,
    )


def everything(got: NamedOutputs) -> NamedOutputs:
    return got


@pytest.mark.parametrize(
    ("own", "others", "agreement"),
    [
        ([1.0], [1.0], Agreement.SAME),
        ([float("nan")], [-float("nan")], Agreement.SAME),
        ([0.0], [-0.0], Agreement.DIFFERENT),
        ([1.0], [2.0], Agreement.DIFFERENT),
        ([1.0, 1.0, 2.0], [2.0], Agreement.VARYING),
        ([1.0], [2.0, 2.0, 2.0, 1.0], Agreement.VARYING),
    ],
)
def test_a_difference_counts_if_it_comes_again_each_time(
    kernel: Kernel, own: list[float], others: list[float], agreement: Agreement
) -> None:
    job = kernel.bind({"x": X}, {}).job
    answers = Answers(own, others, job)
    found = compare_twin(examined(kernel, answers), Twin(replace(job, align=4), everything, everything))
    assert found.agreement is agreement
    assert answers.calls == 34 if agreement is Agreement.DIFFERENT else answers.calls < 12


def answer_of(value: float) -> Outcome:
    return Outcome((Run(Circumstances(), {"y": np.array([value], np.float32)}),))


def test_a_job_does_not_run_again_if_the_trial_has_given_the_bits_of_its_twin(kernel: Kernel) -> None:
    job = kernel.bind({"x": X}, {}).job
    twin = Twin(replace(job, align=4), everything, everything)
    same, other = Answers([5.0], [1.0], job), Answers([1.0], [2.0], job)
    assert compare_twin(examined(kernel, same, answer_of(1.0)), twin).agreement is Agreement.SAME
    assert same.calls == 1
    assert compare_twin(examined(kernel, other, answer_of(1.0)), twin).agreement is Agreement.DIFFERENT
    assert other.calls == 34


def test_all_twins_of_a_trial_run_together(kernel: Kernel) -> None:
    job = kernel.bind({"x": X}, {}).job
    asked: list[int] = []

    def run_jobs(jobs: Sequence[tuple[Job, Probe]]) -> list[Callable[[], Outcome]]:
        asked.append(len(jobs))
        return [partial(answer_of, float(one.align)) for one, _ in jobs]

    trial = replace(examined(kernel, Answers([4.0], [4.0], job), answer_of(4.0)), run_jobs=run_jobs)
    twins = [Twin(replace(job, align=align), everything, everything) for align in (4, 8, 4)]
    found = [one.agreement for one in compare_each(trial, twins)]
    assert asked == [3]
    assert found == [Agreement.SAME, Agreement.VARYING, Agreement.SAME]


def test_a_difference_names_the_element_and_what_it_is_in_both() -> None:
    left, right = {"y": np.array([[1.0, 2.0]], np.float32)}, {"y": np.array([[1.0, 3.0]], np.float32)}
    found = first_difference(left, right)
    assert found is not None
    assert (found.place, found.left, found.right) == ("y[0, 1]", "2 (0x40000000)", "3 (0x40400000)")
    assert first_difference(left, dict(left)) is None


def test_other_batches_have_the_rows_of_the_case_in_other_numbers_and_places(kernel: Kernel) -> None:
    job = kernel.bind({"x": X}, {}).job
    trial = examined(kernel, Answers([1.0], [1.0], job))
    batches = dict(batch_invariant.other_batches(trial, seeded_choices(3)))
    assert {len(rows) for rows in batches.values()} >= {1, 4}
    assert any(len(rows) > 4 for rows in batches.values())
    assert any(rows.tolist() == [3, 2, 1, 0] for rows in batches.values())
    for rows in batches.values():
        case = batch_invariant.with_rows(kernel, trial.case, rows)
        assert case.arrays["x"].tolist() == X[rows].tolist()


def test_another_batch_has_no_more_threads_than_are_simulated_in_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "sums.cu"
    path.write_text(CLAIM.replace("rows", "lines").replace('block = "32"', 'block = "1024"'))
    kernel = load(path)
    trial = examined(kernel, Answers([1.0], [1.0], kernel.bind({"x": X}, {}).job))
    larger, _ = batch_invariant.batch_sizes(trial, 4)
    assert larger
    assert max(larger) <= 4 * MOST_THREADS // (7 * 1024)


def test_the_rows_that_are_not_there_hold_others_of_the_case_or_hostile_numbers(kernel: Kernel) -> None:
    job = kernel.bind({"x": X}, {}).job
    x, y, n = (next(one for one in job.buffers if one.name == name) for name in ("x", "y", "n"))
    assert x.content is not None
    assert (x.shape, x.absent, np.array(x.content)[4:].tolist()) == ((7, 3), 9, X[:3].tolist())
    assert (y.shape, y.absent, y.keeps_absent, n.fill) == ((7,), 3, True, 4)
    hostile = [absent_rows.fill_absent(x, choice).content for choice in range(4)]
    for content in hostile:
        assert content is not None
        assert np.array(content)[:4].tolist() == X.tolist()
    assert sum(bool(np.isnan(np.array(one)[4:]).all()) for one in hostile) == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rows within slots, cols] -> x", "rows within 2, cols] -> x", "there are no fewer slots than rows"),
        ('n = "i32[1] = rows"', 'n = "i32[rows within slots]"', "'within' is for an input or an output"),
        ('n = "i32[1] = rows"', 'n = "f32[1] = rows"', "a fill of f32 is a decimal number"),
    ],
)
def test_a_claim_of_rows_that_makes_no_sense_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "wrong.cu"
    path.write_text(CLAIM.replace(old, new))
    with pytest.raises(ClaimError, match=message):
        load(path).bind({"x": X}, {})


def test_runs_that_differ_are_not_deterministic_unless_a_race_explains_it(kernel: Kernel) -> None:
    job = kernel.bind({"x": X}, {}).job
    runs = tuple(
        Run(Circumstances(order), {"y": np.array([value] * 7, np.float32)})
        for order, value in (("forward", 1.0), ("reverse", 2.0))
    )
    answers = Answers([1.0], [1.0], job)
    found = deterministic.look(examined(kernel, answers, Outcome(runs)))
    assert isinstance(found, Finding)
    assert found.message == "y[0] is 1 (0x3f800000) (forward) or 2 (0x40000000) (reverse)"
    raced = Outcome(runs, (Finding("race", "two unordered accesses"),))
    assert deterministic.look(examined(kernel, answers, raced)) is None
    assert deterministic.look(examined(kernel, answers, Outcome(runs[:1]))) is None


def test_the_last_lines_say_what_held_and_what_was_not_tested(kernel: Kernel) -> None:
    progress = Progress(trials=9, looks={"batch_invariant": [3, 1], "deterministic": [9, 0]})
    result = KernelResult(kernel, progress)
    assert set(property_entries(result)) == set(properties())
    lines = dict(line.split(": ", 1) for line in property_lines([result]))
    assert lines["batch invariance"] == "did not hold in 1 of 4 trials (claimed)"
    assert lines["run-to-run determinism"] == "held in 9 trials (claimed)"
    assert lines["rows that are not there"] == "not tested: no trial came to it"  # claimed, so it has its own line
    assert lines["not tested"].startswith("draws, capture in a CUDA graph, ")
    assert lines["not tested"].endswith("strided tensors (--json says why)")
    both = dict(line.split(": ", 1) for line in property_lines([result, KernelResult(kernel, replace(progress))]))
    assert both["batch invariance"].startswith("held in 0 of")


def test_parts_of_a_campaign_add_up_their_trials(kernel: Kernel) -> None:
    parts = [
        property_entries(KernelResult(kernel, Progress(trials=1, looks=looks)))
        for looks in ({}, {"deterministic": [2, 0]})
    ]
    joined = join_properties([*map(MappingProxyType, parts), parts[1]])
    assert (joined["deterministic"]["held"], joined["deterministic"]["untested"]) == (4, "")
    assert joined["batch_invariant"]["untested"] == "no trial came to it"


@pytest.mark.parametrize("shape", [(5,), (3, 4), (1, 4), (3, 1), (2, 3, 4)])
def test_each_layout_holds_the_elements_of_the_tensor_among_others(shape: tuple[int, ...]) -> None:
    content = np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)
    layouts = strides.layouts_of(shape)
    assert layouts
    for one in layouts:
        sizes, steps, offset = one.layout
        rows = np.broadcast_to(content[:1], shape) if one.is_expanded else content
        laid = strides.spread_input(Buffer("x", F32, shape, rows), one.layout)
        assert laid.content is not None
        memory = np.array(laid.content)
        places = offset + sum(np.indices(shape)[axis] * step for axis, step in enumerate(steps))
        assert memory[places].tolist() == rows.tolist()
        assert np.isnan(np.delete(memory, places.reshape(-1))).all()
        assert (sizes, steps, offset) != (shape, contiguous_strides(shape), 0)


def test_what_lies_between_indices_is_an_index() -> None:
    layout = next(one for one in strides.layouts_of((3,)) if one.layout[1] == (2,))
    laid = strides.spread_input(Buffer("t", I32, (3,), np.array([7, 8, 9], np.int32)), layout.layout)
    assert np.array(laid.content).tolist() == [7, 0, 8, 0, 9]


def test_two_calls_at_once_are_wrong_if_they_race() -> None:
    run = Run(Circumstances(), {})
    found = streams.read_outcome(Outcome((run,), (Finding("race", "two unordered accesses"),)))
    assert isinstance(found, Finding)
    assert found.message == "two unordered accesses; each call is on a stream of its own"
    assert streams.read_outcome(Outcome((run,), (Finding("race", "both write 1", severity="warning"),))) is True
    assert streams.read_outcome(Outcome()) is None
