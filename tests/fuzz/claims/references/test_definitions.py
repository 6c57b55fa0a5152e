"""Definitions with offsets, pages and scalars: their own reference is kept, and a kernel that errs there is found."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.case import Values
from kfuzz.claims.kernel import load
from kfuzz.claims.references.definitions import read_definition
from kfuzz.claims.references.submissions.flashinfer_bench import unpack_solution
from kfuzz.common.errors import TargetError
from kfuzz.devices.python.device import PythonDevice

pytestmark = pytest.mark.slow
SEARCHED, TRIALS = 100, 4
"""In so many trials, and so many of them that have several sequences whose last pages differ."""
REFERENCE = """
import math
import torch


@torch.no_grad()
def run(q, cache, kv_indptr, kv_indices, kv_last_page_len, sm_scale):
    out = torch.zeros(q.shape, dtype=torch.bfloat16)
    lse = torch.full(q.shape[:2], -float("inf"))
    flat = cache.to(torch.float32)
    for b in range(q.shape[0]):
        first, end = int(kv_indptr[b].item()), int(kv_indptr[b + 1].item())
        if first >= end:
            continue
        pages = kv_indices[first:end].to(torch.long)
        keys = torch.cat([flat[pages[:-1]].reshape(-1, q.shape[2]), flat[pages[-1], : kv_last_page_len[b]]])
        s = (q[b].to(torch.float32) @ keys.T) * sm_scale
        lse[b] = torch.logsumexp(s, -1) / math.log(2.0)
        out[b] = (torch.softmax(s, -1) @ keys).to(torch.bfloat16)
    return out, lse
"""
DEFINITION = {
    "axes": {
        "batch_size": {"type": "var"}, "heads": {"type": "const", "value": 2}, "d": {"type": "const", "value": 8},
        "num_pages": {"type": "var"}, "page_size": {"type": "const", "value": 4}, "len_indptr": {"type": "var"},
        "used": {"type": "var"},
    },
    "constraints": ["len_indptr == batch_size + 1", "used == kv_indptr[-1].item()"],
    "inputs": {
        "q": {"shape": ["batch_size", "heads", "d"], "dtype": "bfloat16"},
        "cache": {"shape": ["num_pages", "page_size", "d"], "dtype": "bfloat16"},
        "kv_indptr": {"shape": ["len_indptr"], "dtype": "int32"},
        "kv_indices": {"shape": ["used"], "dtype": "int32"},
        "kv_last_page_len": {"shape": ["batch_size"], "dtype": "int32"},
        "sm_scale": {"shape": None, "dtype": "float32"},
    },
    "outputs": {
        "out": {"shape": ["batch_size", "heads", "d"], "dtype": "bfloat16"},
        "lse": {"shape": ["batch_size", "heads"], "dtype": "float32"},
    },
    "reference": REFERENCE,
}  # fmt: skip


@pytest.fixture(scope="module")
def device() -> Iterator[PythonDevice]:
    pytest.importorskip("torch")
    device = PythonDevice()
    yield device
    device.close()


def differs(arrays: Mapping[str, Values]) -> bool:
    """Whether the last page of a sequence is not as long as that of the first one; any case without pages does."""
    if "kv_indptr" not in arrays:
        return True
    pages, lengths = np.diff(arrays["kv_indptr"].ravel()), arrays["kv_last_page_len"].ravel()
    return bool(np.any(lengths[pages > 0] != lengths[0]))


def findings(definition: dict[str, Any], source: str, device: PythonDevice, folder: Path) -> tuple[set[str], int]:
    """The kinds of defects of a solution that returns, and how many elements were judged."""
    spec = {"entry_point": "main.py::run", "destination_passing_style": False}
    (folder / "definition.json").write_text(json.dumps(definition))
    solution = {"spec": spec, "sources": [{"path": "main.py", "content": source}]}
    (folder / "solution.json").write_text(json.dumps(solution))
    kernel, kinds, elements = load(unpack_solution(folder / "solution.json")), set[str](), 0
    attempts = ((index, attempt_of(kernel, 3, index, 1 << 10)) for index in range(SEARCHED))
    for index, one in islice((each for each in attempts if differs(each[1].case.arrays)), TRIALS):
        trial = run_trial(kernel, one.case, one.tune, device, probe_of(kernel, 3, index, 2, 20.0))
        kinds |= {defect.kind for defect in trial.defects}
        elements += trial.elements
    return kinds, elements


def test_a_reference_that_goes_by_offsets_and_pages_is_kept_as_its_own_solution(
    device: PythonDevice, tmp_path: Path
) -> None:
    kinds, elements = findings(DEFINITION, REFERENCE, device, tmp_path)
    assert kinds == set()
    assert elements > 100


def test_a_definition_with_an_array_that_no_case_can_have_is_refused_at_once() -> None:
    """10,240 x 8,192 weights: kfuzz traced the reference for a minute and a half before it said so."""
    wide = {**DEFINITION, "axes": {**DEFINITION["axes"], "d": {"type": "const", "value": 1 << 26}}}
    with pytest.raises(
        TargetError, match="q has at least 134,217,728 elements; an array of a case has at most 67,108,864"
    ):
        read_definition(wide)
    assert read_definition({**DEFINITION}).inputs


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("[pages[-1], : kv_last_page_len[b]]", "[pages[-1], : kv_last_page_len[0]]"),
        ("kv_indices[first:end]", "(torch.arange(first, end) % cache.shape[0])"),
        ("* sm_scale", "* q.shape[2] ** -0.5"),
    ],
)
def test_a_solution_that_errs_in_what_the_integers_say_is_found(
    right: str, wrong: str, device: PythonDevice, tmp_path: Path
) -> None:
    kinds, _ = findings(DEFINITION, REFERENCE.replace(right, wrong), device, tmp_path)
    assert kinds & {"numeric", "nonfinite"}


TRITON = """
import torch
import triton
import triton.language as tl


@triton.jit
def scaled(x):
    return x * 0.5


@triton.jit
def rows(x_ptr, y_ptr, z_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < cols
    x = tl.load(x_ptr + row * cols + at, mask=mask, other=-float("inf"))
    y = tl.load(y_ptr + row * cols + at, mask=mask)
    x = tl.exp(x - tl.max(x, axis=0))
    tl.store(z_ptr + row * cols + at, x / tl.sum(x, axis=0) + scaled(y), mask=mask)


def run(x, y):
    z = torch.empty_like(x)
    rows[(x.shape[0],)](x, y, z, x.shape[1], BLOCK=8)
    return z
"""
OF_TRITON = {
    "axes": {"n": {"type": "var"}, "cols": {"type": "const", "value": 6}},
    "inputs": {name: {"shape": ["n", "cols"], "dtype": "float32"} for name in ("x", "y")},
    "outputs": {"z": {"shape": ["n", "cols"], "dtype": "float32"}},
    "reference": TRITON,
}


@pytest.mark.parametrize(("half", "kinds"), [("0.5", set[str]()), ("0.25", {"numeric"})])
def test_a_reference_in_triton_runs_in_torch(half: str, kinds: set[str], device: PythonDevice, tmp_path: Path) -> None:
    """Its answer has the name z, since y is an input."""
    pytest.importorskip("triton")
    text = f"import torch\n\n\ndef run(x, y):\n    return torch.softmax(x, -1) + {half} * y\n"
    found, elements = findings(OF_TRITON, text, device, tmp_path)
    assert found == kinds
    assert elements > 10
