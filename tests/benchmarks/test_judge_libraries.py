"""The claims of libraries' functions are valid, and a function that breaks its claim is reported as broken."""

from pathlib import Path

import pytest

from benchmarks.detection.judge_libraries import LIBRARIES, claims_of, judge
from kfuzz.claims.kernel import load

pytestmark = pytest.mark.soak


def test_each_file_claims_functions_that_kfuzz_can_judge(tmp_path: Path) -> None:
    first = {claim.path: claim for library in LIBRARIES for claim in claims_of(library)}
    for claim in first.values():
        assert load(claim.write(tmp_path, "gpu")).arrays


def test_a_cast_is_kept_under_the_claim_that_is_true_of_it_and_broken_under_the_other(tmp_path: Path) -> None:
    pytest.importorskip("ml_dtypes")
    found = {claim.name: judge(claim, "cpu", 1.0, tmp_path) for claim in claims_of("numpy") if "f32-e4m3" in claim.name}
    assert found["cast-f32-e4m3-nan"].status == "kept"
    assert found["cast-f32-e4m3-finite"].status == "broken"
    assert found["cast-f32-e4m3-finite"].words.startswith("special")
