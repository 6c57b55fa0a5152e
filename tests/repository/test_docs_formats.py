"""docs/formats.md agrees with the files that kfuzz writes: the page has every field, and every field is written."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from paths import ROOT

from kfuzz.cases import case_file
from kfuzz.cases.case import Origin, Record, case_of
from kfuzz.cases.recipe import Band, Base, Edit, Recipe
from kfuzz.claims.kernel import KERNELS
from kfuzz.claims.language.front_matter import text_of
from kfuzz.devices.memory.vast import LEAST, make_unfilled
from kfuzz.ui.commands.group import main

PAGE = (ROOT / "docs" / "formats.md").read_text()
SIZE_COSTS = {"trials": 3, "new": 1.0, "known": 0.01}
"""Of a callable that compiles for each size."""
ORIGIN = Origin("mine", "mine: special", "special", "y[0] is nan", "cpu", {"threads": 32})
CASE, REPORT, STATE = "A case", "A report", "A campaign's state"


def documented(heading: str) -> list[str]:
    """The fields in the table below a heading."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    text = next(one for one in section if one.startswith(f"{heading}:"))
    firsts = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return [field for cell in firsts for field in re.findall(r"`([^`]+)`", cell)]


def fields_of(value: object, prefix: str = "") -> Iterator[str]:
    """Every field of a document, by its path; a list or an object that is empty has none below it."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from fields_of(inner, f"{prefix}.{name}" if prefix else name)
    elif isinstance(value, list):
        for inner in value:
            yield from fields_of(inner, f"{prefix}[]")
    if prefix and not (isinstance(value, dict | list) and value):
        yield prefix


def parts(path: str) -> list[str]:
    return re.findall(r"[^.\[\]]+|\[\]", path)


def agree(field: str, path: str) -> bool:
    """Whether a documented field and a path of a document are one, as far as the shorter of them goes."""
    return all(one in ("*", other) for one, other in zip(parts(field), parts(path), strict=False))


def disagreements(fields: list[str], documents: list[object]) -> tuple[list[str], list[str]]:
    """What is written and not documented, and what is documented and never written.

    An object that may be null and a list that may be empty are documented by what is in them.
    """
    found = sorted({path for document in documents for path in fields_of(document)})
    length = {one: len(parts(one)) for one in fields}
    missing = [
        path for path in found if not any(agree(one, path) and len(parts(path)) <= length[one] for one in fields)
    ]
    idle = [one for one in fields if not any(agree(one, path) and len(parts(path)) >= length[one] for path in found)]
    return missing, idle


def cases() -> list[object]:
    """A case of each of the four forms, of a narrow type, and one of an op that is not kfuzz's."""
    edits = (Edit(0, -1, 0x3F800000, "add", 2),)
    bounded = Recipe(70, 100, (Band(Base("normal", 0, 0x3F800000, 7), edits),), (0xC2A00000, 0x42A00000))
    arrays = (np.float32([[1, 2]]), bounded, np.zeros((70, 100), np.float32), make_unfilled((LEAST, 1)))
    records = [Record(case_of("softmax", {"x": array}), replace(ORIGIN, severity="warning")) for array in arrays]
    narrow = Recipe(70, 100, (Band(Base("codes", 0, 0, 7), edits),), element="e4m3")
    records.append(Record(case_of("softmax", {"x": narrow})))
    records.append(Record(case_of("mine.py", {"x": arrays[0]}, {"x": ("rows", "cols")})))
    return [json.loads(case_file.encode(record)[0]) for record in records]


@pytest.fixture(scope="session")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, object]:
    """Report and state of a campaign: errors, races, a claim silent of NaN, one against its text, a bad file."""
    folder = tmp_path_factory.mktemp("campaign")
    (folder / "bad.cu").write_text("// /// kernel\n// ///\n")
    quiet = text_of(KERNELS / "softmax" / "online_warp.cu") + "// kfuzz: allow hang: it silences nothing\n"
    fast = re.sub(r"^// exp .*\n", "", quiet, flags=re.MULTILINE).replace(" expf(", " __expf(")  # its exp is inferred
    (folder / "quiet.cu").write_text(fast)
    files = [str(folder / "quiet.cu"), str(folder / "bad.cu")]
    targets = ["tail_dropped", "missing_barrier", "warp_max_xor", "fast_exp_undeclared", *files]
    options = ["--device", "cpu", "--jobs", "1", "--max-cases", "252", "--seed", "1"]
    places = ["--corpus", str(folder / "corpus"), "--out", str(folder / "out"), "--json", str(folder / "report.json")]
    assert CliRunner().invoke(main, ["fuzz", *targets, *options, *places]).exit_code == 1
    return json.loads((folder / "report.json").read_text()), json.loads((folder / "out" / "state.json").read_text())


def test_the_page_has_every_field_of_a_case_and_no_other() -> None:
    assert disagreements(documented(CASE), cases()) == ([], [])


@pytest.mark.slow
def test_the_page_has_every_field_of_a_report_and_no_other(campaign: tuple[object, object]) -> None:
    report, _ = campaign
    slow = {"kernels": [{"size_costs": SIZE_COSTS}]}
    assert disagreements(documented(REPORT), [report, slow]) == ([], [])


@pytest.mark.slow
def test_the_page_has_every_field_of_a_campaigns_state_and_no_other(campaign: tuple[object, object]) -> None:
    _, state = campaign
    slow = {"kernels": {"slow": {"size_costs": SIZE_COSTS}}}
    assert disagreements(documented(STATE), [state, slow]) == ([], [])


def test_a_field_that_is_only_on_one_side_is_reported() -> None:
    document = {"schema": "x", "kernels": {"a/b": {"trials": 1, "colour": "red"}}, "list": [{"n": 1}]}
    fields = ["schema", "kernels.*.trials", "kernels.*.age", "list[].n"]
    assert disagreements(fields, [document]) == (["kernels.a/b.colour"], ["kernels.*.age"])


@pytest.mark.slow
def test_the_page_names_the_versions_that_are_written(campaign: tuple[object, object]) -> None:
    report, state = campaign
    for document in (cases()[0], report, state):
        assert isinstance(document, dict)
        assert f"`{document['schema']}`" in PAGE
