"""No message says "1 trials": numbers get their nouns from one helper, and none of the old wordings is left."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from paths import ROOT

from kfuzz.oracle.numbers.plural import plural
from kfuzz.oracle.numbers.verdict import Reason, Why

NOUNS = "trial|row|run|case|kernel|element|finding|warning|way|launch|mutant|byte|line|bug"
BY_HAND = re.compile(rf"(?:{NOUNS})(?:e?s)?\{{'|\((?:e?s)\)\b|\"(?:{NOUNS})\" if len")
"""An f-string that makes a plural by itself: `trial{'s' * (n != 1)}`."""


def plurals_by_hand(root: Path) -> Iterator[str]:
    for path in sorted([*root.glob("fuzz/**/*.py"), *root.glob("oracle/**/*.py")]):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if BY_HAND.search(line):
                yield f"{path.relative_to(root)}:{number}"


def test_no_message_makes_a_plural_by_itself() -> None:
    assert list(plurals_by_hand(ROOT)) == []


def test_a_plural_made_by_hand_is_seen(tmp_path: Path) -> None:
    (tmp_path / "fuzz").mkdir()
    (tmp_path / "fuzz" / "some.py").write_text("f\"{n} trial{'s' * (n != 1)}\"\n")
    assert list(plurals_by_hand(tmp_path)) == ["fuzz/some.py:1"]


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (plural(1, "trial"), "1 trial"),
        (plural(0, "trial"), "0 trials"),
        (plural(2, "launch", "launches"), "2 launches"),
        (str(Reason(Why.NAN, 1)), "1 row with NaN: the claim does not speak of NaN"),
        (str(Reason(Why.NAN, 2)), "2 rows with NaN: the claim does not speak of NaN"),
        (str(Reason(Why.NAN)), "rows with NaN: the claim does not speak of NaN"),
    ],
)
def test_a_number_agrees_with_its_noun(words: str, reported: str) -> None:
    assert words == reported
