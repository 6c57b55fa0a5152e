"""What a claim by a reference gets beside its arrays."""

from pathlib import Path

from kfuzz.claims.language.keys import WrittenClaim
from kfuzz.claims.references.references import with_some_places

POOL = """INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, (cols - 5) // 2 + 1]"}


def formula(N, x):
    return x
"""


def test_an_answer_behind_a_window_has_some_places_by_a_rule_in_the_claims_language(tmp_path: Path) -> None:
    path = tmp_path / "pool.py"
    path.write_text(POOL)
    assert with_some_places(WrittenClaim(op=str(path))).where == ("(cols - 5) / 2 + 1 >= 1",)
