"""Submissions to BackendBench: the folder names an operation of torch, whose schema and behaviour give the inputs."""

import importlib
from pathlib import Path

import pytest
from click.testing import CliRunner

from kfuzz.claims.language.reference import OP
from kfuzz.claims.references.formats import solved_by
from kfuzz.claims.references.submissions.backendbench import operation_of
from kfuzz.devices import ClaimError
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.oracle.judging.find_op import find
from kfuzz.ui.commands.fuzz import fuzz

ANSWERS = {
    "relu__default": "return torch.where(args[0] > 1e-6, args[0], 0.0)",
    "addmm__default": "return args[0] + args[1] @ args[2]",
    "cat__default": "return torch.cat(*args)",
    "relu___default": "return args[0].clamp_(min=0)",
    "nothing__default": "return args[0]",
    "layer_norm__default": "return torch.nn.functional.layer_norm(*args)",
}


def write_submission(folder: Path, name: str) -> Path:
    path = folder / name / f"{name}_implementation_v1.py"
    path.parent.mkdir()
    path.write_text(f"import torch\n\n\ndef {name}_kernel_impl(*args, **kwargs):\n    {ANSWERS[name]}\n")
    return path


@pytest.mark.parametrize(
    ("folder", "operation"),
    [
        ("relu__default", "relu.default"),
        ("relu", "relu.default"),
        ("add___Tensor", "add_.Tensor"),
        ("_softmax__default", "_softmax.default"),
        ("max_pool2d_with_indices__default", "max_pool2d_with_indices.default"),
    ],
)
def test_a_folder_is_named_by_an_operation(folder: str, operation: str, tmp_path: Path) -> None:
    assert operation_of(tmp_path / folder / "any.py") == operation


def test_such_folders_are_recognised_by_the_names_of_their_files(tmp_path: Path) -> None:
    path = write_submission(tmp_path, "relu__default")
    for target in (path, path.parent, tmp_path):
        assert solved_by([str(target)]) == "aten"
    assert not solved_by([])
    assert not solved_by([str(path), str(tmp_path / "missing.py")])
    (loop := tmp_path / "relu_implementation_v2.py").symlink_to(loop)
    assert not solved_by([str(loop)])
    path.write_text(f"# /// kernel\n# op = 'gelu'\n# ///\n{path.read_text()}")
    assert not solved_by([str(path)])
    path.rename(path.with_name("answer.py"))
    assert not solved_by([str(tmp_path)])


@pytest.mark.slow
def test_an_operation_has_inputs_that_it_takes_with_as_many_sizes_as_it_allows() -> None:
    torch = pytest.importorskip("torch")
    inputs_by_schema = importlib.import_module("kfuzz.claims.references.torch.schemas").inputs_by_schema

    def dims(operation: object) -> list[list[str]]:
        return list(inputs_by_schema(operation)[0].dims.values())

    aten = torch.ops.aten
    assert dims(aten.add.Tensor) == [["rows", "cols"], ["rows", "cols"]]
    assert dims(aten.mm.default) == [["rows", "cols"], ["cols", "inner"]]
    assert dims(aten.addmm.default) == [["rows", "cols"], ["rows", "inner"], ["inner", "cols"]]
    assert dims(aten.dot.default) == [["rows"], ["rows"]]
    assert dims(aten.conv2d.default)[1] == ["out", "channels", "3", "3"]
    assert dims(aten.gather.default) == [["rows", "cols"], ["rows", "inner"]], "an index is no longer than its array"
    declared, given = inputs_by_schema(aten.clamp.default)
    assert given[1:] == [0.5, 2.0], "without a bound it takes nothing"
    declared, given = inputs_by_schema(aten.layer_norm.default)
    assert (declared.dims, given[1]) == ({"input": ["rows", "40"]}, [40])
    declared, _ = inputs_by_schema(aten.where.self)
    assert dict(declared.below) == {"condition": "bool"}


@pytest.mark.soak
def test_a_folder_of_submissions_is_one_campaign_with_a_line_for_each_that_is_not_judged(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    for name in ANSWERS:
        write_submission(tmp_path, name)
    words = [str(tmp_path), "--device", "cpu", "--jobs", "1", "--max-cases", "12", "--seed", "1", "--corpus"]
    ran = CliRunner().invoke(fuzz, [*words, str(tmp_path / "corpus")])
    assert "BROKEN  relu__default_implementation_v1" in ran.output
    assert "addmm__default_implementation_v1            4     " in ran.output
    assert "aten.cat.default takes a list of tensors, tensors" in ran.output
    assert "aten.relu_.default writes into an argument" in ran.output
    assert "has no attribute 'nothing'" in ran.output
    assert ran.exit_code == 1


@pytest.mark.slow
def test_an_operation_is_named_for_any_file(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    path = tmp_path / "mine.py"
    path.write_text("def forward(x, normalized_shape):\n    return x\n")
    kernel = kernel_with(path, Unclaimed(OP, reference=Path("aten:layer_norm")))
    assert [one.dimensions for one in find(kernel.op).inputs.values()] == [("rows", "40")]
    assert kernel.launches[0].called
    assert kernel.launches[0].called.arguments == ("input", "[40]")
    with pytest.raises(ClaimError, match=r"tmp_\w+|has no attribute"):
        kernel_with(path, Unclaimed(OP, reference=Path("aten")))
