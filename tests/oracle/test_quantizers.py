"""Right quantizers lie inside, whichever way they take; under an untrue claim, or wrong, they do not."""

import numpy as np
import pytest

from tests.oracle.selfcheck import planted_quantizers
from tests.oracle.selfcheck.quantizers import FORMATS, UNTRUE, WAYS, check_way


@pytest.mark.parametrize("number", range(len(WAYS)), ids=lambda number: WAYS[number].name)
def test_no_code_and_no_scale_of_a_right_quantizer_is_outside(number: int) -> None:
    for element in FORMATS:
        tally = check_way(number, element, 24, 2)
        assert (tally.accused, tally.scales) == (0, 0), tally
        assert tally.judged > 0.9 * tally.elements, tally


@pytest.mark.parametrize("name", UNTRUE)
def test_a_right_quantizer_is_outside_of_a_claim_that_is_not_true_of_it(name: str) -> None:
    number, claim = UNTRUE[name]
    tally = check_way(number, FORMATS[0], 600, 1, claim)
    assert tally.accused + tally.scales > 0


@pytest.mark.slow
def test_every_planted_quantizer_is_seen_in_nearly_every_group_where_it_differs() -> None:
    found = [planted_quantizers.count_bug(*bug, 600) for bug in planted_quantizers.bugs()]
    assert len(found) == 28
    assert all(bug.caught["kfuzz"] for bug in found)
    assert np.mean([bug.caught["kfuzz"] / bug.active for bug in found]) > 0.95
    assert not any(bug.accused["kfuzz"] for bug in found)
    assert any(bug.accused["equal codes"] for bug in found), "partner: another criterion accuses right groups"
