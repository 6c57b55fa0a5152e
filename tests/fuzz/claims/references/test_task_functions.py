"""The functions of a task: its reference takes the data as one value, or apart."""

from pathlib import Path
from typing import Any

import pytest

from kfuzz.devices.python.loading import execute_file

ONE = """
def generate_input(rows, seed):
    return rows, seed


def ref_kernel(data):
    rows, cols = 3, 4
    a, b = data
    return a - b
"""
APART = """
def generate_inputs(batch, rows, seed=7):
    x, y, z = batch, rows, seed
    return x, y, z


def reference_forward(x, z):
    return x - z
"""


def functions_in(folder: Path, text: str, name: str) -> Any:  # noqa: ANN401  its module imports torch
    pytest.importorskip("torch")
    functions_of = pytest.importorskip("kfuzz.claims.references.torch.task_functions").functions_of
    path = folder / "reference.py"
    path.write_text(text)
    module = execute_file(path, text, 0)
    return functions_of(module, getattr(module, name))


def test_a_reference_unpacks_its_one_value(tmp_path: Path) -> None:
    found = functions_in(tmp_path, ONE, "ref_kernel")
    assert (found.names, found.tops) == ((), ("a", "b"))
    assert found.reference(found.generate(rows=5, seed=2)) == 3
    assert found.with_sizes({"rows": 5, "seed": 2}) == {"rows": 5, "seed": 2}


def test_a_reference_with_parameters_takes_the_values_of_these_names(tmp_path: Path) -> None:
    found = functions_in(tmp_path, APART, "reference_forward")
    assert found.names == ("x", "z")
    assert found.with_sizes({"rows": 5}) == {"batch": 8, "rows": 5}
    data = found.generate(batch=8, rows=5)
    assert data == (8, 7)
    assert found.reference(data) == 1


def test_each_number_in_a_list_of_sizes_is_an_argument(tmp_path: Path) -> None:
    found = functions_in(tmp_path, ONE, "ref_kernel")
    flat = found.with_sizes({"rows": [5, 7], "seed": 1})
    assert flat == {"rows_0": 5, "rows_1": 7, "seed": 1}
    assert found.data({**flat, "rows_1": 8}) == ([5, 8], 1)
    assert found.data(found.with_sizes({"rows": 3, "seed": 1})) == (3, 1)
    assert found.with_sizes({"rows": ["a"], "seed": 1})["rows"] == ["a"], "no sizes"


def test_a_value_of_another_name_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    declared = pytest.importorskip("kfuzz.claims.references.torch.declared")
    with pytest.raises(declared.CannotError, match="it takes w, and generate_inputs returns nothing of this name"):
        functions_in(tmp_path, APART.replace("(x, z)", "(x, w)"), "reference_forward")


@pytest.mark.parametrize(("size", "is_memory"), [(1, True), (2, False)])
def test_memory_for_one_number_has_one_element(size: int, is_memory: bool) -> None:
    """A sum has no axes, and the array that a submission may write it to has one."""
    torch = pytest.importorskip("torch")
    tasks = pytest.importorskip("kfuzz.claims.references.torch.tasks")
    given = {"x": torch.arange(6.0), "output": torch.empty(size)}
    one = tasks.Example({}, tuple(given.values()), given, {})
    if is_memory:
        assert tasks.check_use(lambda data: data[0].sum(), one) == {"output": ""}
        return
    with pytest.raises(
        pytest.importorskip("kfuzz.claims.references.torch.declared").CannotError, match="does not read output"
    ):
        tasks.check_use(lambda data: data[0].sum(), one)
