"""The wording of what was not judged."""

import pytest

from kfuzz.campaign.trials.unjudged import Unjudged, without_numbers
from kfuzz.devices import Refusal


@pytest.mark.parametrize(
    ("reason", "counted"),
    [
        ("12 elements of rows with infinities", "elements of rows with infinities"),
        (Refusal("use fp16 or bf16 for x, not 3 tensors", 7), Refusal("use fp16 or bf16 for x, not N tensors", 7)),
        ("sizes beyond 2^31 elements", "sizes beyond 2^31 elements"),
    ],
)
def test_reasons_of_several_cases_differ_in_whole_numbers_alone(reason: Unjudged, counted: Unjudged) -> None:
    assert without_numbers(reason) == counted
