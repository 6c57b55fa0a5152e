"""`kfuzz.testing`: a test of a user's own in one import, and a failure that a person can read."""

from pathlib import Path

import numpy as np
import pytest

import kfuzz
from kfuzz import load
from kfuzz.campaign.trials.trial import Trial
from kfuzz.cases.case import Case, case_of
from kfuzz.cases.plans.plan import Attempt
from kfuzz.cases.recipe import Band, Base, Recipe
from kfuzz.claims.kernel import KERNELS
from kfuzz.testing import DefectError, check

pytest_plugins = ["pytester"]
TUNE = {"threads": 32}
X = np.array([[-np.inf, 0.0]], np.float32)
OWN = """
import kfuzz
from hypothesis import Phase, given, settings
from kfuzz.testing import attempts

RIGHT, WRONG = {right!r}, {wrong!r}
few = settings(deadline=None, max_examples=10, derandomize=True, database=None, phases=[Phase.generate])

@few
@given(attempts(RIGHT))
def test_by_call(attempt):
    kfuzz.check(RIGHT, attempt, "cpu")

@few
@given(attempts(WRONG))
def test_by_fixture(kfuzz_check, attempt):
    kfuzz_check(WRONG, attempt)
"""


def tried(kernel: str) -> Trial:
    mine = load(KERNELS / kernel)
    tune = {name: values[0] for name, values in mine.tune.items()}
    return check(mine, Attempt(case_of("softmax", {"x": X}), tune), "cpu")


def test_a_right_kernel_passes_and_its_trial_says_what_was_judged() -> None:
    trial = tried("softmax/online_block.cu")
    assert trial.rows == 1
    assert repr(trial) == "<Trial of softmax/online_block on cpu: softmax rows=1 cols=2; x: -inf, 0: kept, 1 rows>"


def test_a_wrong_kernel_raises_the_class_of_its_kind_with_the_evidence() -> None:
    with pytest.raises(DefectError, match="  case      softmax rows=1 cols=2; x: -inf, 0\\n") as error:
        tried("broken/leading_neg_inf.cu")
    assert type(error.value).__name__ == "SpecialError"
    assert type(error.value).__module__ == "kfuzz.testing"


def test_a_check_of_a_file_searches_and_says_what_is_wrong() -> None:
    report = kfuzz.check(KERNELS / "softmax" / "online_block.cu", device="cpu", cases=10)
    assert (report.exit_code, report.result.trials) == (0, 10)
    with pytest.raises(DefectError, match="leading -inf") as error:
        kfuzz.check("broken/leading_neg_inf", device="cpu", cases=20)
    assert type(error.value).__name__ == "SpecialError"


def test_a_check_of_a_kernel_that_cannot_be_judged_fails(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def f(x):\n    raise NotImplementedError('not for me')\n")
    with pytest.raises(DefectError, match=r"could not be judged: .*not for me"):
        kfuzz.check(tmp_path / "mine.py", device="cpu", cases=5, op="row_sum")


def test_what_a_failure_shows_has_one_line() -> None:
    case = case_of("softmax", {"x": Recipe(1, 2)})
    assert repr(case) == "<Case softmax rows=1 cols=2; x: 0 x2>"
    assert repr(Recipe(1, 2)) == "<Recipe 1x2: 0>"
    assert repr(Attempt(case, TUNE)) == "<Attempt softmax rows=1 cols=2; x: 0 x2 threads=32>"
    assert isinstance(case, Case)
    made = eval(Recipe(1, 2).python, {"Recipe": Recipe, "Band": Band, "Base": Base})  # noqa: S307  our own text
    assert made == Recipe(1, 2)


@pytest.mark.soak
def test_an_own_test_takes_two_imports_and_its_failure_few_lines(pytester: pytest.Pytester) -> None:
    right, wrong = KERNELS / "softmax" / "online_block.cu", KERNELS / "broken" / "leading_neg_inf.cu"
    pytester.makepyfile(OWN.format(right=str(right), wrong=str(wrong)))
    done = pytester.runpytest_subprocess("-q", "--tb=short", "-p", "no:cacheprovider", "--kfuzz-device", "cpu")
    done.assert_outcomes(passed=1, failed=1)
    shown = done.stdout.str()
    assert "SpecialError" in shown
    assert "<Attempt softmax rows=" in shown
    assert not any(word in shown for word in ("Recipe(", "Band(", "Case(", "array("))
