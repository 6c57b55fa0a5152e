"""A claim allows no sizes for which its op is not defined."""

from pathlib import Path

import pytest

from kfuzz.claims.kernel import load
from kfuzz.devices import ClaimError

CAUSAL = """\
// /// kernel
// op     = "causal_attention"
// axes   = { heads = "1..4", keys = "1..64", rows = "1..64", d = "1..8", dv = "1..8" }
// arrays = { q = "f32[heads, rows, d] -> q", k = "f32[heads, keys, d] -> k", v = "f32[heads, keys, dv] -> v", o = "f32[heads, rows, dv] <- o" }
//
// [[launch]]
// entry = "attend"
// grid  = "rows"
// block = 32
// args  = ["o", "q", "k", "v"]
// ///

__global__ void attend(float *o, const float *q, const float *k, const float *v) {}
"""  # noqa: E501  an array table is one line


def complaint(folder: Path, text: str) -> str:
    path = folder / "mine.cu"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ClaimError) as error:
        load(path)
    return str(error.value).rpartition("/")[2]


def test_sizes_that_the_op_refuses_are_a_mistake_of_the_claim(tmp_path: Path) -> None:
    wanted = "is allowed, and causal_attention is defined for keys >= rows alone; write it into where"
    found = complaint(tmp_path, CAUSAL)
    assert found.startswith("mine.cu:3: axes")
    assert "keys=1 rows=2" in found
    assert wanted in found
    axes = "// axes"
    narrow = CAUSAL.replace(axes, f'// where  = ["keys >= 2"]\n{axes}')
    assert wanted in complaint(tmp_path, narrow)
    right = tmp_path / "right.cu"
    right.write_text(CAUSAL.replace(axes, f'// where  = ["keys >= rows"]\n{axes}'), encoding="utf-8")
    assert load(right).where
