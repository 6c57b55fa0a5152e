"""A kept result is used again only where the entry of the list, the rule, kfuzz and the library are the same."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.libraries import functions
from benchmarks.libraries import records as on_disk
from benchmarks.libraries.judge import groups_of
from benchmarks.libraries.judging import Result
from benchmarks.libraries.records import WORDS, Records, part_of, rule_of

ROOT = next(one for one in functions.library("numpy").functions() if one.key == "number-sqrt-f16")
KEPT = Result("kept", "", 5, 5, 1.0, 0.25)


@pytest.fixture
def records(tmp_path: Path) -> Records:
    records = Records(tmp_path, "cpu")
    records.started(ROOT).touch()
    records.keep(ROOT, KEPT)
    return records


def test_a_result_is_done_until_what_it_was_made_of_is_another(records: Records) -> None:
    assert records.is_done(ROOT)
    assert records.drop_others([ROOT]) == []
    again = records.read(ROOT)
    assert again is not None
    assert again.result == KEPT


@pytest.mark.parametrize("name", WORDS)
def test_a_result_of_another_entry_rule_version_or_kfuzz_is_dropped_and_listed(records: Records, name: str) -> None:
    kept = json.loads(records.path(ROOT).read_text())
    kept["made"][name] = "another"
    records.path(ROOT).write_text(json.dumps(kept))
    assert not records.is_done(ROOT)
    assert replace(records, ignored=frozenset({name})).is_done(ROOT)
    assert records.drop_others([ROOT]) == [f"numpy/number-sqrt-f16: {WORDS[name]}"]
    assert records.read(ROOT) is None


def test_an_entry_is_another_when_its_call_changes_and_not_when_its_folder_does(records: Records) -> None:
    entry = records.now(ROOT).entry
    assert records.now(replace(ROOT, operator="np.sqrt(x) + 0")).entry != entry
    assert replace(records, folder=Path("elsewhere")).now(ROOT).entry == entry
    assert replace(records, device="gpu").now(ROOT).entry != entry


def test_the_functions_are_judged_in_parts_that_occupy_every_process() -> None:
    claims = {"numpy": [ROOT] * 100, "scipy": [ROOT] * 20}
    parts = list(groups_of(claims, 4))
    assert sum(map(len, parts)) == 120
    assert len(parts) >= 12
    assert len(list(groups_of({"numpy": [ROOT] * 3}, 8))) == 3


def test_the_rule_of_a_function_is_not_that_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: rule_of(name) for name in ("sqrt", "exp")}
    changed = tmp_path / "exact_values.py"
    text = on_disk.EXACT.read_text()
    row = '    "sqrt": mp.sqrt,\n'
    assert row in text
    changed.write_text(text.replace(row, '    "sqrt": lambda x: mp.root(x, 2),\n'))
    monkeypatch.setattr(on_disk, "EXACT", changed)
    rule_of.cache_clear()
    after = {name: rule_of(name) for name in before}
    rule_of.cache_clear()
    assert after["sqrt"] != before["sqrt"]
    assert after["exp"] == before["exp"]


OPS = """\
from math import log, pi


def twice(x):
    return 2 * x


def half(x):  # of its row alone
    return x / pi


FUNCTIONS = {
    "double": lambda x: twice(x),
    "half": half,
}


def formula(x):
    return FUNCTIONS["FUNCTION"](x)
"""


def test_a_function_is_made_of_its_row_and_what_that_uses() -> None:
    double = part_of(OPS, "double")
    for changed in (OPS.replace("x / pi", "x / log(2)"), OPS.replace('    "half": half,\n', '    "third": half,\n')):
        assert part_of(changed, "double") == double
        assert part_of(changed, "half") != part_of(OPS, "half")
    for other in (OPS.replace("2 * x", "x + x"), OPS.replace('["FUNCTION"](x)', '["FUNCTION"](-x)')):
        assert part_of(other, "double") != double
