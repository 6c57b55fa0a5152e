"""The table of tests of which one case in so many is tried: each is there, and has cases."""

import re
from collections.abc import Iterable

from paths import TESTS
from seldom import ONE_CASE_IN


def missing(names: Iterable[str]) -> list[str]:
    """The names that are those of no test with cases."""
    found = []
    for name in names:
        file, _, test = name.partition("::")
        path = TESTS / file
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        before, there, _ = text.partition(f"\ndef {test}(")
        if not there or not re.search(r"parametrize|^@[A-Z]+$", before.rpartition("\n\n")[2], re.MULTILINE):
            found.append(name)
    return found


def test_every_test_of_the_table_is_there() -> None:
    assert missing(ONE_CASE_IN) == []
    assert min(ONE_CASE_IN.values()) > 1


def test_a_test_that_is_not_there_is_seen() -> None:
    names = ["repository/test_seldom.py::test_gone", "repository/gone.py::test_a"]
    assert missing(names) == names
