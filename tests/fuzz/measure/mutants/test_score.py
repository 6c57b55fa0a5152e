"""The score: the result of each mutant, what a run keeps, and that neither can be wrong in silence."""

import json
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from doubling import DOUBLES, doubling

from kfuzz.cases.errors import CaseError
from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.devices import Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.measure.mutants.crew import Batch, Waiting, run_batches
from kfuzz.measure.mutants.figures import accused_controls, as_json, figures, idle_operators, score_lines
from kfuzz.measure.mutants.mutate import Mutant, mutants
from kfuzz.measure.mutants.run import FILE, SCHEMA, HowFar, ScoreReport, run_score
from kfuzz.measure.mutants.survivors import FILE as FILE_OF_REASONS
from kfuzz.measure.mutants.survivors import ReasonError, ReviewedReason, read_reasons, standing, wrongly_excused
from kfuzz.measure.mutants.trials import AnswerRecorder, Control, Fate, Score, ScoreOptions, control_of, score_of
from kfuzz.ui.commands.group import main

pytestmark = pytest.mark.slow

KERNEL = load(KERNELS / "reduce" / "warp_max_down.cu")
SCORED = load(KERNELS / "transpose" / "naive.cu")
"""The kernel to which the fewest operators apply."""
FEW = ScoreOptions(seed=3, max_cases=12)


@pytest.fixture(scope="module")
def control(device: CpuDevice) -> Control:
    return control_of(KERNEL, device, FEW)


def by_hand(before: str, after: str, kernel: Kernel = KERNEL) -> Mutant:
    """A mutant that replaces one piece of text, which stands there once."""
    assert kernel.source.count(before) == 1
    return Mutant(kernel.name, "by hand", 1, before, after, kernel.source.replace(before, after))


def made_up(**given: object) -> Score:
    """A score of no mutant in particular."""
    plain = Score("0", "op/name", "by hand", 1, "a", "b", "survived", 12, 0.1, identical=True)
    return replace(plain, **given)  # type: ignore[arg-type]  # names and types are those of Score


def test_the_control_of_a_correct_kernel_shows_nothing(control: Control) -> None:
    assert control.trials == len(control.answers) == FEW.max_cases
    assert control.defects == ()


def test_the_answer_of_a_trial_is_that_of_its_first_job(device: CpuDevice) -> None:
    """A look at a property runs parts of a case afterwards: their answers are no answers to the case."""
    recorder = AnswerRecorder(device)
    recorder.run(doubling(), Probe())
    first = recorder.answer
    recorder.run(doubling(DOUBLES.replace("2.0f", "3.0f")), Probe())
    assert recorder.answer == first
    assert recorder.runs[0].outputs["y"].tolist() == [2, 4, 6, 8]
    recorder.forget()
    recorder.run(doubling(DOUBLES.replace("2.0f", "3.0f")), Probe())
    assert recorder.answer != first


def test_the_control_of_a_broken_kernel_is_accused(device: CpuDevice) -> None:
    broken = load(KERNELS / "broken" / "max_starts_at_flt_min.cu")
    control = control_of(broken, device, FEW)
    assert control.defects
    assert accused_controls(ScoreReport(FEW, {broken.name: control})) == [control]


def test_a_wrong_mutant_is_killed_by_the_trial_that_shows_it(device: CpuDevice, control: Control) -> None:
    score = score_of(by_hand("fmaxf(value,", "fminf(value,"), KERNEL, device, FEW, control)
    assert score.status == "killed"
    assert score.kind in ("numeric", "special")
    assert 1 <= score.trials <= FEW.max_cases


def test_a_mutant_that_changes_nothing_survives_bit_for_bit(device: CpuDevice, control: Control) -> None:
    score = score_of(
        by_hand("int lane = threadIdx.x % 32", "int lane = threadIdx.x & 31"), KERNEL, device, FEW, control
    )
    assert (score.status, score.identical, score.trials) == ("survived", True, FEW.max_cases)


def test_a_survivor_with_other_bits_is_not_identical(device: CpuDevice, control: Control) -> None:
    other = replace(control, answers=("", *control.answers[1:]))  # so each element of the first trial is compared
    score = score_of(by_hand("int lane = threadIdx.x % 32", "int lane = threadIdx.x & 31"), KERNEL, device, FEW, other)
    assert (score.status, score.identical) == ("survived", True)
    other_zero = by_hand("y[row] = maximum;", "y[row] = maximum == 0.0f ? -maximum : maximum;")
    score = score_of(other_zero, KERNEL, device, FEW, control)
    assert (score.status, score.identical) == ("survived", True)  # the op takes either zero


def test_a_survivor_that_rounds_otherwise_is_not_identical(device: CpuDevice) -> None:
    sgemm = load(KERNELS / "sgemm" / "naive.cu")
    before, after = "sum += row_of_a[i] * b[static_cast<size_t>(i) * n + col]", "sum = fmaf({}, {}, sum)"
    fused = by_hand(before, after.format("row_of_a[i]", "b[static_cast<size_t>(i) * n + col]"), sgemm)
    more = replace(FEW, max_cases=24)  # some sum of three products and more, of which none cancels
    score = score_of(fused, sgemm, device, more, control_of(sgemm, device, more))
    assert (score.status, score.identical) == ("survived", False)


def test_a_mutant_that_does_not_compile_is_stillborn(device: CpuDevice, control: Control) -> None:
    score = score_of(by_hand("const int lane", "const int lame"), KERNEL, device, FEW, control)
    assert score.status == "stillborn"
    assert "lane" in score.message


def test_a_mutant_that_only_earns_a_warning_is_warned(device: CpuDevice, control: Control) -> None:
    joined = KERNEL.source.replace(
        "__shfl_down_sync(0xffffffffu, value, offset)", "__shfl_xor_sync(0xffffffffu, value, offset)"
    )
    assert joined.count("if (lane == 0) {") == 1
    source = joined.replace("if (lane == 0) {", "if (lane >= 0) {")
    all_write = Mutant(KERNEL.name, "by hand", 1, "one lane writes", "every lane does", source)
    score = score_of(all_write, KERNEL, device, FEW, control)
    assert (score.status, score.kind) == ("warned", "race")


@pytest.mark.soak
def test_a_mutant_that_never_ends_costs_seconds_and_is_killed(device: CpuDevice, control: Control) -> None:
    score = score_of(by_hand("offset /= 2", "offset /= 1"), KERNEL, device, FEW, control)
    assert (score.status, score.kind) == ("killed", "hang")


# -- runs ------------------------------------------------------------------------------------------------------------


def settled(report: ScoreReport) -> dict[str, tuple[object, ...]]:
    return {key: (one.status, one.trials, one.kind, one.bucket) for key, one in report.scores.items()}


def ignore(_: HowFar) -> None:
    """Nobody listens."""


def interrupting(after: int) -> Callable[[HowFar], None]:
    """A listener that presses Ctrl-C once so many mutants are done."""

    def listen(progress: HowFar) -> None:
        if progress.done == after:
            raise KeyboardInterrupt

    return listen


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the score of every mutant is kept."""
    return tmp_path_factory.mktemp("score")


@pytest.fixture(scope="module")
def whole(kept: Path) -> ScoreReport:
    return run_score([SCORED], CpuDevice, FEW, 2, kept, ignore)


def test_every_mutant_gets_a_score_and_the_control_its_trials(whole: ScoreReport) -> None:
    assert len(whole.scores) == len({mutant.operator for mutant in mutants(SCORED)})
    assert whole.controls[SCORED.name].trials == FEW.max_cases
    assert figures(whole.scores.values(), ()).rate > 0.9
    lines = list(score_lines(whole, ()))
    assert lines[0] == f"kfuzz seeded {len(whole.scores)} bugs into 1 kernel, one at a time"
    assert any(
        re.match(r"\d+ of the \d+ others were found \(\d+\.\d%\), half of these within \d+", line) for line in lines
    )


@pytest.mark.soak
def test_a_kernel_is_run_once_however_many_processes_score_its_mutants(control: Control) -> None:
    other = replace(KERNEL, name="other")
    wrong = by_hand("fmaxf(value,", "fminf(value,"), by_hand(": -INFINITY)", ": INFINITY)")
    some = [Batch(KERNEL, wrong[:1]), Batch(KERNEL, wrong[1:]), Batch(other, wrong[:1])]
    waiting = Waiting(some)
    assert [waiting.pop(), waiting.pop(), waiting.pop()] == [Batch(KERNEL), Batch(other), None]
    waiting.controls[KERNEL.name] = control
    assert [waiting.pop(), waiting.pop(), waiting.pop()] == [*(replace(one, control=control) for one in some[:2]), None]
    few = replace(FEW, max_cases=3)
    messages = list(run_batches(some[:2], CpuDevice, few, 2))
    assert [type(one) for one in messages] == [Control, Score, Score]


def test_the_document_of_a_score_has_every_bug(whole: ScoreReport) -> None:
    found = json.loads(as_json(whole, ()))
    assert found["schema"] == "kfuzz-score-report/1"
    assert (found["seed"], found["max_cases"], found["interrupted"]) == (FEW.seed, FEW.max_cases, False)
    assert {one["key"] for one in found["bugs"]} == whole.scores.keys()
    assert sum(found["counts"].values()) == len(found["bugs"])
    assert found["found"] == sum(one["status"] in ("killed", "warned") for one in found["bugs"])
    assert [one["name"] for one in found["kernels"]] == [SCORED.name]


@pytest.mark.parametrize("statuses", [(), ("stillborn",), ("survived",), ("survived", "stillborn")])
def test_where_nothing_was_found_no_figure_is_made_up(statuses: tuple[Fate, ...]) -> None:
    """After Ctrl-C it said `0.0 %, half of them within 0 trials`."""
    scores = {str(place): made_up(status=status, key=str(place)) for place, status in enumerate(statuses)}
    lines = list(score_lines(ScoreReport(FEW, {}, scores, interrupted=True), ()))
    assert lines[0].startswith("interrupted: ")
    assert not any("0.0%" in line or "within 0" in line or "of 0" in line for line in lines)
    assert any("there is no score" in line or "others was found" in line for line in lines)


@pytest.mark.soak
def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path, whole: ScoreReport) -> None:
    first = run_score([SCORED], CpuDevice, FEW, 1, tmp_path, interrupting(7))
    assert first.interrupted
    assert len(first.scores) == 7
    done: list[int] = []
    second = run_score([SCORED], CpuDevice, FEW, 2, tmp_path, lambda progress: done.append(progress.done))
    assert done[0] == 8  # nothing is done twice
    assert settled(second) == settled(whole)
    third = run_score([SCORED], CpuDevice, FEW, 2, tmp_path, interrupting(0))
    assert settled(third) == settled(whole)
    assert third.controls[SCORED.name].trials == FEW.max_cases


@pytest.mark.soak
def test_a_torn_last_line_is_dropped_and_its_mutant_scored_again(
    tmp_path: Path, kept: Path, whole: ScoreReport
) -> None:
    path = tmp_path / FILE
    path.write_bytes((kept / FILE).read_bytes()[:-20])
    done: list[int] = []
    again = run_score([SCORED], CpuDevice, FEW, 2, tmp_path, lambda progress: done.append(progress.done))
    assert done == [len(whole.scores)]  # only one mutant
    assert settled(again) == settled(whole)
    assert len(path.read_text().splitlines()) == 1 + len(again.controls) + len(again.scores)


@pytest.mark.soak
def test_a_control_that_was_kept_gives_way_to_that_of_a_changed_kernel(tmp_path: Path) -> None:
    kept = {"control": {"kernel": KERNEL.name, "trials": 1, "defects": ["it was wrong then"], "seconds": 0.1}}
    header = {"schema": SCHEMA, **asdict(FEW)}
    (tmp_path / FILE).write_text("".join(json.dumps(line) + "\n" for line in (header, kept)))
    now = run_score([KERNEL], CpuDevice, FEW, 1, tmp_path, interrupting(1))
    assert not accused_controls(now)
    again = run_score([KERNEL], CpuDevice, FEW, 1, tmp_path, interrupting(2))
    assert again.controls[KERNEL.name].trials == FEW.max_cases  # and it is what is kept
    assert len((tmp_path / FILE).read_text().splitlines()) == 1 + 2 + 2


@pytest.mark.soak
def test_a_folder_of_another_score_is_left_alone(tmp_path: Path) -> None:
    run_score([KERNEL], CpuDevice, FEW, 1, tmp_path, interrupting(1))
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(CaseError, match="give another folder"):
        run_score([KERNEL], CpuDevice, replace(FEW, seed=4), 1, tmp_path, ignore)
    (tmp_path / FILE).write_bytes(before.replace(b'"control"', b'"kontrol"'))
    with pytest.raises(CaseError, match="not the results of a score"):
        run_score([KERNEL], CpuDevice, FEW, 1, tmp_path, ignore)


# -- reports ---------------------------------------------------------------------------------------------------------

REASON = ReviewedReason("equivalent", "by hand", ("op/name",), ("b",), "because it is so")


def test_a_survivor_is_equivalent_only_with_a_reason_and_without_a_difference() -> None:
    assert standing(made_up(), (REASON,)) == "equivalent"
    assert standing(made_up(), ()) == "unexplained"
    assert standing(made_up(identical=False), (REASON,)) == "unexplained"
    assert standing(made_up(after="c"), (REASON,)) == "unexplained"
    assert standing(made_up(status="killed"), (REASON,)) == "killed"
    assert standing(made_up(identical=False), (replace(REASON, verdict="within the claim"),)) == "within the claim"


def test_a_reason_that_a_kill_refutes_is_reported() -> None:
    killed, other = made_up(status="killed", line=7, key="7"), made_up(status="killed", after="c", key="c")
    assert wrongly_excused([killed, other], (REASON,)) == [killed]
    assert (
        wrongly_excused([killed, other, made_up()], (REASON,)) == []
    )  # two lines say "b", and one of them does survive
    assert wrongly_excused([killed], (replace(REASON, verdict="out of reach"),)) == []
    told_of_all = list(score_lines(ScoreReport(replace(FEW, per_operator=0), {}, {"7": killed}), (REASON,)))
    assert "a reason says that it survives: op/name:7: by hand: b" in told_of_all
    assert not any("a reason says" in line for line in score_lines(ScoreReport(FEW, {}, {"7": killed}), (REASON,)))


def test_an_interrupted_score_says_nothing_of_what_is_not_there() -> None:
    killed = {"7": made_up(status="killed", line=7, key="7"), "8": made_up(operator="max as min", key="8")}
    every = replace(FEW, per_operator=0)
    whole, part = (
        list(score_lines(ScoreReport(every, {}, killed, interrupted), (REASON,))) for interrupted in (False, True)
    )
    beyond = [line for line in whole if line not in part]
    assert any("a reason says" in line for line in beyond)
    assert not any("apply nowhere" in line for line in whole), "it named all operators for one kernel"


def test_a_reason_knows_a_dropped_statement_by_what_it_was() -> None:
    dropped = made_up(before="sum = 0;", after=";")
    assert standing(dropped, (replace(REASON, after=("sum = 0;",)),)) == "equivalent"
    assert standing(dropped, (replace(REASON, after=(";",)),)) == "unexplained"


def test_only_the_equivalent_are_left_out_of_the_rate() -> None:
    killed, stillborn = made_up(status="killed", trials=3), made_up(status="stillborn")
    within = made_up(after="w")
    known = (REASON, replace(REASON, verdict="within the claim", after=("w",)))
    total = figures([killed, killed, killed, stillborn, made_up(), within], known)
    assert (total.compiled, total.equivalent, total.killed, total.rate) == (5, 1, 3, 0.75)
    assert total.median == 3


def test_an_operator_that_does_nothing_is_named() -> None:
    killed = made_up(status="killed", operator="max as min")
    report = ScoreReport(FEW, {}, {"0": killed, "1": made_up(operator="exp fast", key="1")})
    idle = idle_operators(report, ())
    assert "max as min" not in idle
    assert idle["exp fast"] == "made no mutant that was killed"
    assert idle["drop atomic"] == "apply nowhere in these kernels"


def test_a_reason_that_says_too_little_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "reasons.json"
    path.write_text('[{"verdict": "equivalent"}]')
    with pytest.raises(ReasonError, match="reason 1: has verdict; a reason has after, kernels"):
        read_reasons(path)
    path.write_text('[{"verdict": "fine", "operator": "a", "kernels": [], "after": [], "why": ""}]')
    with pytest.raises(ReasonError, match="verdict = 'fine': one of equivalent"):
        read_reasons(path)


def test_without_the_file_of_a_checkout_no_survivor_is_explained(tmp_path: Path) -> None:
    assert FILE_OF_REASONS.is_file()
    assert read_reasons() == read_reasons(FILE_OF_REASONS) != ()
    assert read_reasons(tmp_path / FILE_OF_REASONS.name) == ()
    survivor = ScoreReport(FEW, {}, {"0": made_up()})
    (line,) = (line for line in score_lines(survivor, ()) if line.startswith("survived"))
    assert line.startswith("survived, unexplained: ")


def test_the_command_scores_a_kernel_and_says_how_it_went(tmp_path: Path) -> None:
    asked = ["score", SCORED.name, "--max-cases", "2", "--out", str(tmp_path)]
    result = CliRunner().invoke(main, asked)
    assert result.exit_code == 0, result.output
    assert "bugs into 1 kernel, one at a time" in result.output
    assert "without a seeded bug: no findings, in 2 trials" in result.output
    assert result.stderr == "", "progress is for terminals"
    piped = CliRunner().invoke(main, [*asked, "--json", "-"])
    assert "kfuzz seeded" in piped.stderr
    assert json.loads(piped.stdout)["max_cases"] == 2


def test_a_kernel_that_is_wrong_on_purpose_is_not_mutated() -> None:
    result = CliRunner().invoke(main, ["score", "broken/max_starts_at_zero"])
    assert result.exit_code == 2
    assert "wrong on purpose" in result.output
