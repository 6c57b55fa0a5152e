"""An answer that only a fragile form explains is a warning, and no defect of a claim that names the form."""

from pathlib import Path

import numpy as np
import pytest
from layer_norm_claims import kernel_of

from kfuzz.campaign.trials.defect import Defect
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.case import case_for
from kfuzz.devices import Circumstances, Job, Outcome, Probe, Run

UNNAMED = '// functions = { rsqrt = "rsqrtf" }'
X = np.array([[-1.5, 0.25, 1.25, -0.75, 0.5, 1.0, -1.0, 0.25]], np.float32) + np.float32(3000)


class Cancelling:
    """A device whose kernel takes the variance as E[x^2] - mean^2, which is 0 here."""

    name = "cancelling"

    def run(self, _job: Job, _probe: Probe) -> Outcome:
        mean = X.mean(dtype=np.float32)
        y = (X - mean) / np.sqrt((X * X).mean(dtype=np.float32) - mean * mean + np.float32(1e-5))
        return Outcome((Run(Circumstances("once"), {"y": y}),))

    def close(self) -> None:
        pass


def defects(folder: Path, accuracy: str) -> tuple[Defect, ...]:
    kernel = kernel_of(folder, accuracy)
    case = case_for(kernel, {"x": X, "w": np.ones(8, np.float32), "b": np.zeros(8, np.float32)})
    return run_trial(kernel, case, {}, Cancelling(), Probe()).defects


def test_it_is_a_warning_with_the_digits_lost_and_what_a_stable_form_gives(tmp_path: Path) -> None:
    (defect,) = defects(tmp_path, UNNAMED)
    assert (defect.kind, defect.severity, defect.sign) == ("inaccurate", "warning", "inaccurate")
    assert defect.worst is not None
    assert defect.worst.got < -400 < -1.7 < defect.worst.lo < defect.worst.want < defect.worst.hi < -1.5
    assert 'where the form "two pass" errs by at most' in defect.message
    assert "digits are lost); 8 of 8 elements inaccurate" in defect.message
    assert defect.causes == (defect.bucket,), "an error with another cause is a bug of its own"


@pytest.mark.parametrize("form", ["moments", "moments folded"])
def test_a_claim_that_names_the_form_is_not_warned(tmp_path: Path, form: str) -> None:
    assert defects(tmp_path, f'{UNNAMED}\n// form = "{form}"') == ()


def test_a_stable_form_that_is_claimed_makes_it_an_error(tmp_path: Path) -> None:
    assert [one.severity for one in defects(tmp_path, f'{UNNAMED}\n// form = "two pass"')] == ["error"]
