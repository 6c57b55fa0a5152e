"""Formats of submissions: each is a file, which recognises its submissions and its problems."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from paths import ROOT

from kfuzz.claims.language.front_matter import FrontMatter
from kfuzz.claims.language.languages import language_of
from kfuzz.claims.references import submissions
from kfuzz.claims.references.formats import (
    formats,
    help_of_references,
    is_submission,
    read_submission,
    reference_names,
    unpack,
)
from kfuzz.claims.references.reference_files import reference_of

MODEL = "class Model:\n    def forward(self, x): ...\n\n\ndef get_inputs(): ...\n"
INIT = "\n\ndef get_init_inputs(): ...\n"
TASK = "def generate_input(): ...\n\n\ndef ref_kernel(data): ...\n\n\ndef check_implementation(): ...\n"
DEFINITION = {
    "axes": {"n": {"type": "var"}},
    "inputs": {"x": {"shape": ["n"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["n"], "dtype": "float32"}},
    "reference": "def run(x):\n    return x\n",
}
SOLUTION = {
    "spec": {"entry_point": "main.py::run"},
    "sources": [{"path": "main.py", "content": "def run(x, y): ...\n"}],
}
OTHERS = ("claims/references/submissions", "claims/references/torch", "devices/python")
"""Where names of formats may stand: in their own files, and in the processes that run problems and submissions."""


def test_every_file_of_the_folder_is_a_format() -> None:
    files = {path.stem for path in Path(submissions.__path__[0]).glob("*.py")} - {"__init__"}
    assert len(formats()) == len(files) == len({one.title for one in formats()})


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("class ModelNew(Model):\n    def forward(self, x): ...\n\n\ndef helper(x): ...\n", "ModelNew"),
        ("def helper(x): ...\n\n\ndef custom_kernel(data): ...\n", "custom_kernel"),
        ("def helper(x): ...\n\n\ndef _softmax__default_kernel_impl(x): ...\n", "_softmax__default_kernel_impl"),
        ("custom_kernel = load()\n\n\nclass ModelNew:\n    def forward(self, x): ...\n", "ModelNew"),
    ],
)
def test_a_submission_is_recognised_by_its_function(text: str, entry: str) -> None:
    assert is_submission(Path("answer.py"), text)
    assert read_submission(text).usual == entry


@pytest.mark.parametrize(
    "text", ["def helper(x): ...\n\n\ndef run(x): ...\n", MODEL, "class Other:\n    def forward(self, x): ...\n"]
)
def test_a_file_with_other_functions_is_no_submission(text: str) -> None:
    assert not is_submission(Path("answer.py"), text)


def test_the_functions_of_a_problem_are_none_that_a_caller_wants() -> None:
    text = read_submission(f"{MODEL}{INIT}\n\n{TASK}\n\ndef reference(x): ...\n\n\ndef mine(x): ...\n")
    assert text.public == ("mine", "Model")


@pytest.mark.parametrize(
    ("files", "title"),
    [
        ({"problem.py": MODEL + INIT}, "KernelBench"),
        ({"problem.py": MODEL}, ""),
        ({"problem.py": MODEL + INIT, "config_problem.json": "{}"}, "robust-kbench"),
        ({"problem.py": TASK, "task.yml": "tests:\n"}, "GPU MODE"),
        ({"problem.py": TASK}, ""),
        ({"problem.py": "def reference(x): ...\n"}, ""),
    ],
)
def test_a_reference_has_the_title_of_its_format(files: dict[str, str], title: str, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    front = FrontMatter(tmp_path / "answer.py", "", "", 1, "", {}, language_of(tmp_path / "answer.py"))
    found = reference_of(front, "problem.py")
    assert found.format == title
    assert found.folders == ((str(tmp_path),) if title == "GPU MODE" else ())


@pytest.mark.parametrize(
    ("more", "title"), [({}, "flashinfer-bench"), ({"custom_inputs_entrypoint": None}, "SOL-ExecBench")]
)
def test_a_definition_in_json_is_told_apart_by_its_keys(
    more: dict[str, object], title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path / "cache"))
    (tmp_path / "definition.json").write_text(json.dumps({**DEFINITION, **more}))
    (tmp_path / "solution.json").write_text(json.dumps(SOLUTION))
    path = unpack(tmp_path / "solution.json")
    assert path
    assert reference_of(FrontMatter(path, path.read_text(), "", 1, "", {}, language_of(path)), None).format == title


def test_a_file_that_no_format_unpacks_stays_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("{}")
    assert unpack(tmp_path / "notes.txt") is None
    assert unpack(tmp_path / "missing.json") is None


def named_in(text: str) -> set[str]:
    """The names of formats, but those that are plain words, in the strings of a Python file without its docstrings."""
    names = [one.names for one in formats()]
    words = {word for one in names for word in (one.ending, *one.entries, *one.references, *one.helpers)}
    words = {one for one in words | {one.title for one in formats()} if one and not is_plain(one)}
    tree = ast.parse(text)
    docs = {one.value for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    constants = (one for one in ast.walk(tree) if isinstance(one, ast.Constant) and one not in docs)
    strings = [one.value for one in constants if isinstance(one.value, str)]
    return {word for word in words for one in strings if word in one}


def is_plain(name: str) -> bool:
    """Whether a name is a word like any other: `run`, `Model`."""
    return name.isalpha() and name in (name.lower(), name.capitalize())


def files_that_name_a_format(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder).as_posix()
        if not place.startswith(OTHERS) and named_in(path.read_text(encoding="utf-8")):
            yield place


@pytest.mark.slow
def test_no_other_file_names_a_format() -> None:
    assert list(files_that_name_a_format(ROOT / "fuzz")) == []


def test_the_check_sees_a_file_that_names_a_format(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('ENTRY = "custom_kernel"\n')
    (tmp_path / "b.py").write_text('"""custom_kernel."""\nENTRY = "mine"\n')
    assert list(files_that_name_a_format(tmp_path)) == ["a.py"]


def test_the_option_explains_the_problems_of_every_format() -> None:
    words = help_of_references()
    assert "KernelBench's, or GPU MODE's reference.py beside its task.yml" in words
    assert words.endswith("aten:addmm.default for an operation of torch, aten for that of the folder")


def test_your_own_reference_is_looked_for_first() -> None:
    assert reference_names()[:3] == ("reference", "ref_kernel", "Model")
