"""The sizes of a reference's inputs, by the integers in the text of `get_inputs`."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kfuzz.devices.python.loading import execute_file


@dataclass(frozen=True)
class SizesText:
    """A reference, its inputs, and their dimensions; a size that a multiple divides."""

    parameters: str
    body: str
    inputs: str
    dims: dict[str, str]
    multiples: dict[str, int] = field(default_factory=dict)
    before: str = ""


SIZES_TEXTS = {
    "an integer that is no axis": SizesText(
        "x, w", "return x[:, 1:] @ w", "B, H = 4, 8\n    return torch.randn(B, 3 * H + 1), torch.randn(3 * H, B)",
        {"x": "B,x_1", "w": "x_1 - 1,B"},
    ),
    "a product, a sum and names": SizesText(
        "x, w, v", "return x[:, 1:] @ w + v",
        "B, H = 4, 8\n    return torch.randn(B, 3 * H + 1), torch.randn(3 * H, H), torch.randn(H)",
        {"x": "B,3 * H + 1", "w": "3 * H,H", "v": "H"},
    ),
    "numbers that have to be equal": SizesText(
        "x, w", "return x @ w", "return [torch.randn(7, 16), torch.randn(16, 16)]",
        {"x": "x_0,x_1", "w": "x_1,w_1"},
    ),
    "labels beside more numbers than are looked at": SizesText(
        "x, y", "return torch.nn.functional.cross_entropy(x, y)",
        "rows, classes = 8200, 2100\n    return torch.rand(rows, classes), torch.randint(0, classes, (rows,))",
        {"x": "rows,classes", "y": "rows"},
    ),
    "all of one value": SizesText(
        "x, y, z", "assert x.shape == y.shape == z.shape\n    return x + y + z",
        "return [torch.randn(12), torch.randn(12), torch.randn(12)]", {"x": "x_0", "y": "x_0", "z": "x_0"},
    ),
    "halves, and groups of four": SizesText(
        "x, w", "return x.view(-1, 4, 2).sum(1), w.chunk(2)",
        "n = 16\n    return torch.randn(16), torch.randn(n // 2 * 2)",
        {"x": "x_0", "w": "n"}, {"x_0": 8, "n": 2},
    ),
    "constants of the file, and one that the reference reads": SizesText(
        "x, w", "return x.view(-1, HEAD) @ w", "return torch.randn(ROWS, WIDE), torch.randn(HEAD, COLS)",
        {"x": "ROWS,12", "w": "4,COLS"}, before="ROWS = COLS = 2 * 3\nHEAD = 4\nWIDE = 3 * HEAD\n",
    ),
    "a number among the inputs that follows": SizesText(
        "x, n, lens", "assert sum(lens) == 6 and n == x.shape[1]\n    return x[:, :n]",
        "n = 5\n    lens = [1, 2, 3]\n    return torch.randn(sum(lens), n), n, lens", {"x": "6,n"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SIZES_TEXTS)
def test_the_sizes_are_those_that_the_reference_takes(name: str, tmp_path: Path) -> None:
    """Before, `3 * H + 1`, numbers of two meanings and lists of lengths gave shapes that no caller would use."""
    pytest.importorskip("torch")
    given = pytest.importorskip("kfuzz.claims.references.torch.given")
    one, path = SIZES_TEXTS[name], tmp_path / "problem.py"
    body = f"def reference({one.parameters}):\n    {one.body}\n\n\ndef get_inputs():\n    {one.inputs}\n"
    path.write_text(f"import torch\n\n{one.before}\n\n{body}")
    module = execute_file(path, path.read_text(), 0)
    found = given.inputs_of(module, module.reference, path.read_text())
    assert {role: ",".join(dims) for role, dims in found.declared.dims.items()} == one.dims
    assert found.multiples == one.multiples


@pytest.mark.parametrize("is_plain", [True, False])
def test_a_run_does_not_look_for_the_sizes_again(is_plain: bool, tmp_path: Path) -> None:
    """Before, each process that judges did so for each reference, for up to 40 s."""
    torch = pytest.importorskip("torch")
    given = pytest.importorskip("kfuzz.claims.references.torch.given")
    path = tmp_path / "problem.py"
    path.write_text(
        "import torch\n\nMADE = []\n\n\ndef reference(x, n=2):\n    return x * n\n\n\n"
        "def get_inputs():\n    MADE.append(1)\n"
        f"    rows, cols = 4, 6\n    return [torch.randn(rows, cols){'' if is_plain else ', cols'}]\n"
    )
    module = execute_file(path, path.read_text(), 0)
    found = given.inputs_of(module, module.reference, path.read_text())
    module.MADE.clear()
    known = given.known_inputs(module, path.read_text(), json.loads(json.dumps(found.as_json())))
    assert len(module.MADE) == (not is_plain)
    assert known.declared.dims == {"x": ["rows", "cols"]}
    x = torch.ones(2, 3)
    assert known.call(module.reference)(x).equal(found.call(module.reference)(x))
    assert float(known.call(module.reference)(x)[0, 0]) == (2 if is_plain else 3)
