"""Submissions that are one JSON file: a claim by their definition, the reference and sources beside it, and errors."""

import json
from pathlib import Path

import pytest

from kfuzz.claims.language.kernel_file import read
from kfuzz.common.errors import TargetError
from kfuzz.ui.targets.targets import find_files

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
    (path,) = find_files(str(write_submission(tmp_path)))
    assert read(path).values == {
        "op": "reference",
        "axes": {"rows": "1..4096", "cols": [128]},
        "arrays": {"x": "bf16[rows, cols] -> x", "w": "bf16[cols] -> w", "out": "bf16[rows, cols] <- y"},
        "call": {"entry": "run", "args": ["x", "w", "out"]},
    }
    assert (path.parent / "reference.py").read_text().endswith("def reference(x, w):\n    return run(x=x, w=w)\n")


PAGED = {
    "axes": {
        "batch_size": {"type": "var"}, "heads": {"type": "const", "value": 2}, "d": {"type": "const", "value": 8},
        "wide": {"type": "expr", "expression": "heads * d // 2"}, "pages": {"type": "var"},
        "page_size": {"type": "const", "value": 4}, "len_indptr": {"type": "var"}, "used": {"type": "var"},
    },
    "constraints": ["used == kv_indptr[-1].item()", "pages >= batch_size", "heads % 2 == 0", "used > 1"],
    "inputs": {
        "q": {"shape": ["batch_size", "wide"], "dtype": "bfloat16"},
        "cache": {"shape": ["pages", "page_size", "d"], "dtype": "float16"},
        "kv_indptr": {"shape": ["len_indptr"], "dtype": "int32"},
        "kv_indices": {"shape": ["used"], "dtype": "int32"},
        "kv_last_page_len": {"shape": ["batch_size"], "dtype": "int32"},
        "slot": {"shape": ["batch_size"], "dtype": "int64", "description": "-1 for none"},
        "picked": {"shape": ["batch_size", "heads"], "dtype": "int32", "description": "-1 is padding"},
        "sm_scale": {"shape": None, "dtype": "float32"},
        "eps": {"shape": None, "dtype": "float32"},
        "buffer": {"shape": ["batch_size"], "dtype": "float32", "optional": True},
    },
    "outputs": {
        "q": {"shape": ["batch_size", "wide"], "dtype": "bfloat16"},
        "lse": {"shape": ["batch_size"], "dtype": "float32"},
    },
    "reference": "def run(q, cache, kv_indptr, kv_indices, kv_last_page_len, slot, picked, sm_scale, eps,"
    " buffer=None):\n"
    "    return q, q[:, 0]\n",
}  # fmt: skip


def test_a_definition_says_what_its_integers_and_scalars_are(tmp_path: Path) -> None:
    (path,) = find_files(str(write_submission(tmp_path, definition=PAGED)))
    claim = read(path).values
    assert claim["axes"] == {
        "batch_size": "1..4096", "heads": [2], "d": [8], "pages": "1..4096", "page_size": [4], "used": "1..4096"
    }  # fmt: skip
    assert claim["where"] == ["pages >= batch_size", "used > 1"]
    assert claim["arrays"]["q"] == "bf16[batch_size, (heads * d / 2)] -> q"
    assert claim["arrays"]["kv_indptr"] == "i32[batch_size + 1] -> kv_indptr"
    assert claim["arrays"]["q_out"] == "bf16[batch_size, (heads * d / 2)] <- y0"
    assert claim["call"]["args"] == [
        "q", "cache", "kv_indptr", "kv_indices", "kv_last_page_len", "slot", "picked", "0.125", "1e-06", "q_out", "lse"
    ]  # fmt: skip
    assert claim["call"]["integers"] == {
        "kv_indptr": "rises 0..used", "kv_last_page_len": "1..page_size", "slot": "distinct < pages or -1",
        "picked": "or -1",
    }  # fmt: skip
    reference = (path.parent / "reference.py").read_text()
    assert "sm_scale=0.125, eps=1e-06)" in reference
    assert "buffer" not in reference.partition("def reference")[2], "an input with a default is left out"


def test_a_definition_that_draws_is_an_op_of_our_own(tmp_path: Path) -> None:
    inputs = {
        "probs": {"shape": ["rows", "cols"], "dtype": "float32"}, "top_k": {"shape": ["rows"], "dtype": "int32"}
    }  # fmt: skip
    outputs = {"samples": {"shape": ["rows"], "dtype": "int64"}}
    source = "import torch\n\n\ndef run(probs, top_k):\n    return torch.multinomial(probs, 1)[:, 0]\n"
    draws = {**DEFINITION, "inputs": inputs, "outputs": outputs, "reference": source}
    (path,) = find_files(str(write_submission(tmp_path, definition=draws)))
    claim = read(path).values
    assert claim["op"] == "sampling_from_probs"
    assert claim["arrays"]["samples"] == "i64[rows] <- token"
    assert claim["claims"] == {"deterministic": False}


def test_a_solution_that_returns_is_not_handed_its_outputs(tmp_path: Path) -> None:
    spec = {"entry_point": "main.py::run", "destination_passing_style": False}
    (path,) = find_files(str(write_submission(tmp_path, {**SOLUTION, "spec": spec})))
    assert read(path).values["call"] == {"entry": "run", "args": ["x", "w"]}


@pytest.mark.parametrize(
    ("solution", "reported"),
    [
        ([], "a JSON object is expected"),
        ({}, "not a solution of a benchmark: 'spec' is missing"),
        (
            {**SOLUTION, "spec": {"entry_point": "main.cu::run"}},
            "main.cu is not one of its own files of Python or CUDA",
        ),
        (
            {**SOLUTION, "sources": [*SOLUTION["sources"], {"path": "../up.py", "content": ""}]},
            "lies outside of its folder",
        ),
    ],
)
def test_a_file_that_is_not_a_solution_is_an_error_of_one_line(solution: object, reported: str, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=reported):
        find_files(str(write_submission(tmp_path, solution)))


def test_a_solution_without_its_definition_says_where_that_is_wanted(tmp_path: Path) -> None:
    path = write_submission(tmp_path)
    (tmp_path / "definition.json").unlink()
    with pytest.raises(TargetError, match=r"no definition\.json beside it"):
        find_files(str(path))


CUDA_SOLUTION = {
    "spec": {
        "entry_point": "main.cpp::run", "destination_passing_style": False, "binding": "torch",
        "compile_options": {"cuda_cflags": ["--use_fast_math"]},
    },
    "sources": [
        {"path": "main.cpp", "content": "torch::Tensor run(torch::Tensor x, torch::Tensor w);"},
        {"path": "kernel.cu", "content": "__global__ void scale() {}"},
        {"path": "kernel.h", "content": "#pragma once"},
    ],
}  # fmt: skip


def test_a_solution_in_cuda_is_built_by_torch_and_called_from_python(tmp_path: Path) -> None:
    (path,) = find_files(str(write_submission(tmp_path, CUDA_SOLUTION)))
    assert read(path).values["call"] == {"entry": "run", "args": ["x", "w"]}
    text = path.read_text()
    assert "for name in ['main.cpp', 'kernel.cu']], extra_cuda_cflags=['--use_fast_math'])" in text
    assert (path.parent / "kernel.h").read_text() == "#pragma once"
    assert text.endswith("def run(*arguments):\n    return BUILT.run(*arguments)\n")


def test_a_solution_in_cuda_with_another_binding_is_named(tmp_path: Path) -> None:
    spec = {name: one for name, one in CUDA_SOLUTION["spec"].items() if name != "binding"}  # type: ignore[attr-defined]  # a dict
    with pytest.raises(TargetError, match="bound by tvm-ffi; kfuzz builds extensions of torch"):
        find_files(str(write_submission(tmp_path, {**CUDA_SOLUTION, "spec": spec})))
