"""Exhibits: a right file and the edits that make it wrong read as one kernel file."""

from pathlib import Path

import pytest
from paths import DATA

from kfuzz.claims.kernel import KERNELS, load
from kfuzz.claims.language.front_matter import text_of
from kfuzz.common.text.exhibits import compose, description_of, is_exhibit, list_kernel_files, read
from kfuzz.devices import ClaimError
from kfuzz.ui.targets.changed import included_files
from kfuzz.ui.targets.project import files_below
from kfuzz.ui.targets.targets import find_files

EVERY = sorted(path for folder in (KERNELS, DATA) for path in folder.rglob("*.toml") if is_exhibit(path))
RIGHT = (KERNELS / "softmax" / "three_pass_thread.cu").read_text(encoding="utf-8")
EXHIBIT = """\
base = "right.cu"
why = "The sum is taken twice."
old = "sum += "
new = "sum += 2 * "
"""


@pytest.fixture
def exhibit(tmp_path: Path) -> Path:
    (tmp_path / "right.cu").write_text(RIGHT, encoding="utf-8")
    path = tmp_path / "twice.toml"
    path.write_text(EXHIBIT, encoding="utf-8")
    return path


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_every_edit_matches_its_base_once_and_changes_it(path: Path) -> None:
    exhibit = read(path)
    assert exhibit.edits
    assert all(edit.old != edit.new for edit in exhibit.edits)
    assert exhibit.why.endswith(".")
    assert compose(exhibit)


def test_most_wrong_kernels_are_edits() -> None:
    assert len(EVERY) > 80


def test_an_exhibit_reads_as_a_kernel_file_of_its_name(exhibit: Path) -> None:
    kernel = load(exhibit)
    assert (kernel.name, kernel.path) == ("twice", exhibit.with_suffix(".cu"))
    assert kernel.broken
    assert (kernel.broken.kind, kernel.broken.why) == ("numeric", "The sum is taken twice.")
    assert "sum += 2 * " in kernel.source
    assert kernel.source.endswith(RIGHT[-40:])
    assert load(exhibit.with_suffix(".cu")) == kernel


def test_several_edits_are_a_table_each(exhibit: Path) -> None:
    several = EXHIBIT.replace("old", "[[edit]]\nold") + "\n[[edit]]\nold = 'cols; ++col'\nnew = 'cols - 1; ++col'\n"
    exhibit.write_text(several, encoding="utf-8")
    assert [one.old for one in read(exhibit).edits] == ["sum += ", "cols; ++col"]


def test_a_file_and_a_folder_name_exhibits(exhibit: Path) -> None:
    kernel = exhibit.with_suffix(".cu")
    (exhibit.parent / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    assert find_files(str(exhibit)) == find_files(str(kernel)) == (kernel,)
    assert (
        set(find_files(str(exhibit.parent)))
        == set(files_below(exhibit.parent))
        == {kernel, exhibit.parent / "right.cu"}
    )
    assert list_kernel_files(exhibit.parent) == (exhibit.parent / "right.cu", kernel)


def test_an_exhibit_of_a_python_file_reads_as_one(tmp_path: Path) -> None:
    right, path = tmp_path / "right.py", tmp_path / "twice.toml"
    right.write_text('# /// kernel\n# op = "row_sum"\n# ///\ndef f(x):\n    return x.sum(-1)\n', encoding="utf-8")
    path.write_text(EXHIBIT.replace("right.cu", "right.py").replace("sum += ", "return "), encoding="utf-8")
    kernel = load(path)
    assert (kernel.name, kernel.path) == ("twice", tmp_path / "twice.py")
    assert kernel.broken
    assert (kernel.broken.kind, kernel.broken.why) == ("numeric", "The sum is taken twice.")
    assert text_of(kernel.path).startswith("# Wrong on purpose: ")
    assert text_of(kernel.path).endswith("def f(x):\n    return 2 * x.sum(-1)\n")
    assert set(find_files(str(tmp_path))) == {kernel.path, right}
    assert list_kernel_files(tmp_path, ".py") == (right, kernel.path)
    assert list_kernel_files(tmp_path) == ()
    assert description_of(tmp_path / "twice.cu") is None


def test_a_change_of_the_base_is_a_change_of_the_exhibit(exhibit: Path) -> None:
    assert included_files(exhibit.with_suffix(".cu")) == {exhibit.resolve(), (exhibit.parent / "right.cu").resolve()}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('old = "sum += "', 'old = "sum -= "', "edit 1: its old text occurs 0 times in the base, not once"),
        ('old = "sum += "', 'old = "sum"', r"edit 1: its old text occurs \d+ times in the base, not once"),
        ('old = "sum += "\n', "", "edit: old and new are missing here"),
        ('old = "sum += "\n', '[[edit]]\nold = "sum += "\n\n[[edit]]\n', "edit: old and new are missing"),
        ('new = "sum += 2 * "\n', 'new = "x"\n[[edit]]\nold = "a"\nnew = "b"\n', "edit: write each edit as an"),
        ('base = "right.cu"', 'base = "left.cu"', "No such file"),
        ('why = "The', 'kind = []\nwhy = "The', "kind: write the finding that must be reported"),
        ('why = "The', 'kind = "odd"\nwhy = "The', "unknown kind"),
        ('why = "The sum is taken twice."\n', "", "why: a text is missing here"),
        ('why = "The', 'reason = "The', "unknown key 'reason'; an exhibit has base, kind"),
        ('why = "The', "why = The", "broken TOML"),
    ],
)
def test_a_wrong_exhibit_is_one_line(exhibit: Path, old: str, new: str, message: str) -> None:
    assert old in EXHIBIT
    exhibit.write_text(EXHIBIT.replace(old, new), encoding="utf-8")
    with pytest.raises(ClaimError, match=message) as caught:
        load(exhibit)
    assert "\n" not in str(caught.value)


def test_a_kernel_file_comes_before_an_exhibit_of_its_name(exhibit: Path) -> None:
    exhibit.with_suffix(".cu").write_text(RIGHT, encoding="utf-8")
    assert text_of(exhibit.with_suffix(".cu")) == RIGHT
