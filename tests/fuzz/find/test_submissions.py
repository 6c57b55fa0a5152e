"""Submissions that are one JSON file: a claim by their definition, the reference and sources beside it, and errors."""

import json
from pathlib import Path

import pytest

from kfuzz.claims.front_matter import read
from kfuzz.find.errors import TargetError
from kfuzz.find.targets import find

DEFINITION = {
    "axes": {"rows": {"type": "var"}, "cols": {"type": "const", "value": 128}},
    "inputs": {
        "x": {"shape": ["rows", "cols"], "dtype": "bfloat16"},
        "w": {"shape": ["cols"], "dtype": "bfloat16"},
    },
    "outputs": {"out": {"shape": ["rows", "cols"], "dtype": "bfloat16"}},
    "reference": "def run(x, w):\n    return x * w\n",
}
SOLUTION = {
    "spec": {"entry_point": "main.py::run", "destination_passing_style": True},
    "sources": [{"path": "main.py", "content": "import torch\n\n\ndef run(x, w, out):\n    out.copy_(x * w)\n"}],
}


def write_submission(folder: Path, solution: object = SOLUTION, definition: object = DEFINITION) -> Path:
    (folder / "definition.json").write_text(json.dumps(definition))
    (folder / "solution.json").write_text(json.dumps(solution))
    return folder / "solution.json"


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path / "cache"))


def test_a_solution_has_the_claim_of_its_definition(tmp_path: Path) -> None:
    (path,) = find(str(write_submission(tmp_path)))
    assert read(path).values == {
        "op": "reference",
        "axes": {"rows": "1..4096", "cols": [128]},
        "arrays": {"x": "bf16[rows, cols] -> x", "w": "bf16[cols] -> w", "out": "bf16[rows, cols] <- y"},
        "call": {"entry": "run", "args": ["x", "w", "out"]},
    }
    assert (path.parent / "reference.py").read_text().endswith("reference = run\n")


def test_a_solution_that_returns_is_not_handed_its_outputs(tmp_path: Path) -> None:
    spec = {"entry_point": "main.py::run", "destination_passing_style": False}
    (path,) = find(str(write_submission(tmp_path, {**SOLUTION, "spec": spec})))
    assert read(path).values["call"] == {"entry": "run", "args": ["x", "w"]}


@pytest.mark.parametrize(
    ("solution", "reported"),
    [
        ([], "a JSON object is expected"),
        ({}, "not a solution of a benchmark: 'spec' is missing"),
        ({**SOLUTION, "spec": {"entry_point": "main.cu::run"}}, "main.cu is not one of its own Python files"),
        (
            {**SOLUTION, "sources": [*SOLUTION["sources"], {"path": "../up.py", "content": ""}]},
            "lies outside of its folder",
        ),
    ],
)
def test_a_file_that_is_not_a_solution_is_an_error_of_one_line(solution: object, reported: str, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=reported):
        find(str(write_submission(tmp_path, solution)))


def test_a_solution_without_its_definition_says_where_that_is_wanted(tmp_path: Path) -> None:
    path = write_submission(tmp_path)
    (tmp_path / "definition.json").unlink()
    with pytest.raises(TargetError, match=r"no definition\.json beside it"):
        find(str(path))
