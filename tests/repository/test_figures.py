"""The figures of README.md and docs/limits.md are those of the data that was measured."""

import re
from pathlib import Path

import pytest
from paths import ROOT

from benchmarks.measurement import read

README = (ROOT / "README.md").read_text(encoding="utf-8")
DATA = ROOT / "benchmarks" / "detection" / "data"
RESULTS, SCORE = read(DATA / "results.json"), read(DATA / "score.json")


def rows_of(text: str) -> dict[str, tuple[str, str]]:
    """Name, share and accusations of each row of the table in this text."""
    rows = re.findall(r"^\| (.+?) \| (?:\*\*)?([\d.]+%)(?:\*\*)?(?: of \d+)? \| (.+?) \|$", text, re.MULTILINE)
    return {name.strip("*"): (share, accused.strip("*")) for name, share, accused in rows}


def measured_rows() -> dict[str, tuple[str, str]]:
    """The same of the measurement."""
    return {
        one["name"]: (f"{one['share']:.1%}", f"{one['accused']} of {one['kernels']}") for one in RESULTS.table("rivals")
    }


def figures_of_mutants() -> tuple[str, str]:
    """How many mutants compile and are equivalent, as README says it, and how many were found of how many."""
    compiled, equivalent = RESULTS["compiled"], RESULTS["equivalent"]
    share = measured_rows()["kfuzz"][0]
    return f"{compiled} mutants that compile, of which {equivalent} are", f"{share} of {compiled - equivalent}"


def figures_of_all_kernels() -> list[str]:
    """What README says of the measurement with one bug of each sort in each kernel."""
    different = SCORE["compiled"] - SCORE["equivalent"]
    share = (SCORE["killed"] + SCORE["warned"]) / different
    return [
        f"each of {SCORE['of_operators']} sorts in {SCORE['of_kernels']} kernels",
        f"{share:.1%} of {different} mutants",
        f"accuses {SCORE['accused']} of the {SCORE['of_kernels']} kernels",
    ]


def missing(text: str) -> list[str]:
    """The figures of the measurement that a text lacks."""
    words = " ".join(text.replace("**", "").split())
    return [one for one in (*figures_of_mutants(), *figures_of_all_kernels()) if one not in words]


def test_the_table_of_the_readme_has_the_measured_figures() -> None:
    assert rows_of(README) == measured_rows()
    assert missing(README) == []


def test_a_figure_that_was_changed_is_noticed() -> None:
    compiled, found = figures_of_mutants()
    assert missing(README.replace("7493", "7494")) == [compiled]
    assert missing(README.replace("7282", "7283")) == [found]
    assert missing(README.replace("3602", "3603")) == [figures_of_all_kernels()[1]]
    assert rows_of(README.replace("84.2%", "84.3%")) != measured_rows()


def figures_beside(readme: str) -> list[str]:
    """What README must say of compute-sanitizer and of libraries, if these pages say it of the measurements."""
    benchmarks = ROOT / "benchmarks"
    detection = page(benchmarks / "detection")
    tools = re.search(
        r"find (\d+) of all (\d+) bugs by an error and (\d+) by a warning, and they accuse (\d+) of", detection
    )
    libraries = re.search(r"(\d+) defects of \d+ functions in (\d+) libraries", page(benchmarks / "libraries"))
    assert tools
    assert libraries
    wanted = [
        f"of {tools[2]} planted",
        f"[{tools[1]} errors, {tools[3]} warnings]",
        f"{tools[2]} errors",
        f"{tools[4]} accused",
    ]
    wanted.append(f"{libraries[1]} defects in functions of {libraries[2]} Python libraries")
    return [one for one in wanted if one not in " ".join(readme.split())]


def page(folder: Path) -> str:
    return " ".join((folder / "README.md").read_text(encoding="utf-8").split())


def test_the_readme_says_what_the_pages_say_of_libraries_and_other_tools() -> None:
    assert figures_beside(README) == []
    assert figures_beside(README.replace("153 defects", "154 defects")) != []
    assert figures_beside(README.replace("[40 errors", "[41 errors")) == ["[40 errors, 12 warnings]"]


def test_the_page_of_limits_has_the_measured_share() -> None:
    _, found = figures_of_mutants()
    assert found in (ROOT / "docs" / "limits.md").read_text(encoding="utf-8").replace(" %", "%")


def counts_in(text: str) -> list[str]:
    """Counts of what kfuzz comes with: the next op, kernel or operator would make them wrong."""
    pattern = r"\d+\W+(?:correct kernels|kernels that come|ops\b|operators\b|exhibits\b|that are wrong on purpose)"
    return re.findall(pattern, " ".join(text.split()))


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md"])
def test_a_page_does_not_count_what_a_new_file_adds_to(page: str) -> None:
    assert counts_in((ROOT / page).read_text(encoding="utf-8")) == []


def test_a_count_by_hand_is_noticed() -> None:
    assert counts_in("**128 ops**: softmax") == ["128 ops"]
    assert counts_in("the 198 kernels\nthat come with kfuzz, and the 166 that are wrong on purpose") == [
        "198 kernels that come",
        "166 that are wrong on purpose",
    ]
