"""Every kernel file of the project: its claim is read, and the tables and templates agree with it."""

from pathlib import Path

import pytest
from seldom import ALWAYS

from kfuzz.claims.kernel import KERNELS, kernel_files, load, name_of
from kfuzz.common.errors import TargetError
from kfuzz.oracle.judging.find_op import find, op_names
from kfuzz.ui.reports.listing import as_markdown, put_table, read_folder
from kfuzz.ui.targets.template import template

TABLE = KERNELS.parent / "docs" / "kernels.md"
FILES = kernel_files()
COMPUTED = sorted({load(path).op for path in FILES})
NAMES = [name_of(path) for path in FILES]
FAMILIES = (
    ("softmax",), ("log_softmax", "logsumexp", "cross_entropy", "backward of cross_entropy"),
    ("attention", "causal_attention", "attention_backward"), ("layer_norm", "rms_norm"),
    ("batch_norm", "batch_norm_train", "group_norm"), ("layer_norm_backward", "rms_norm_backward", "softmax_backward"),
    ("gelu", "gelu_tanh", "silu", "swiglu", "backward of gelu", "adamw"),
    ("relu", "sigmoid", "tanh"), ("add", "mul", "copy", "axpy"), ("embedding", "backward of embedding"),
    ("gru_cell", "lstm_cell"), ("segment_sum", "paged_decode"),
    ("sgemm", "gemm", "gemv", "einsum(bi,oij,bj->bo)"), ("transpose",),
    ("row_max", "row_sum", "max_sum"), ("merge_all", "safe_merge"), ("prefix_sum",),
    ("argmax", "argmin", "argsort", "sort", "top_k"),
    ("group_quantize", "block_quantize", "static_quantize", "two_level_quantize", "fake_quantize"),
    ("group_dequantize", "affine_dequantize"), ("rms_norm_quantize", "rms_norm_static_quantize", "swiglu_quantize"),
    ("scaled_gemm", "two_level_gemm", "weight_only_gemm", "weight_only_gemm_zeros"),
    ("narrow_kv_attention", "paged_kv_attention", "cache_append"),
    (
        "winograd_conv2d",
        *(find(name).name for name in ("conv2d", "depthwise_conv2d", "grouped_conv2d", "conv_transpose2d")),
    ),
    tuple(
        find(name).name for name in ("max_pool2d", "max_pool2d_with_indices", "avg_pool2d", "adaptive_avg_pool2d")
    ),
)  # fmt: skip
"""Ops in which people make the same mistakes."""


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_kernel_file_states_its_claim(path: Path) -> None:
    kernel = load(path)
    assert kernel.name == path.relative_to(KERNELS).with_suffix("").as_posix()
    assert kernel.prose, "a kernel file begins with what it does, how, and why this variant"
    assert "<<<" not in kernel.source
    assert (kernel.broken is not None) == (path.parent.name == "broken")


def test_each_family_of_ops_has_two_techniques_and_two_mistakes() -> None:
    kernels = [load(path) for path in FILES]
    assert sorted(op for family in FAMILIES for op in family) == COMPUTED
    for family in FAMILIES:
        mine = [kernel for kernel in kernels if kernel.op in family]
        assert sum(kernel.broken is None for kernel in mine) >= 2, family
        assert sum(kernel.broken is not None for kernel in mine) >= 2, family


@pytest.mark.soak
def test_an_op_without_a_kernel_has_no_template_and_says_so() -> None:
    for op in set(op_names()) - set(COMPUTED):
        with pytest.raises(TargetError, match=f"{op}: no kernel in the folder computes it"):
            template(op)


TEMPLATES = [op if op in ALWAYS else pytest.param(op, marks=pytest.mark.soak) for op in COMPUTED]


@pytest.mark.slow
@pytest.mark.parametrize("op", TEMPLATES)
def test_the_template_of_an_op_is_a_kernel(op: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_text(template(op), encoding="utf-8")
    kernel = load(path)
    assert (kernel.name, kernel.op, kernel.broken) == ("mine", op, None)


def test_the_template_of_an_op_is_found_by_its_other_name() -> None:
    assert template("conv2d") == template(find("conv2d").name) != template("depthwise_conv2d")


def test_the_page_of_kernels_lists_them_as_they_are() -> None:
    text = TABLE.read_text(encoding="utf-8")
    kernels, errors = read_folder()
    assert not errors
    assert put_table(text, as_markdown(kernels)) == text, "write it anew with: kfuzz list --into docs/kernels.md"


def test_a_page_of_kernels_that_is_behind_is_seen() -> None:
    text = TABLE.read_text(encoding="utf-8")
    kernels, _ = read_folder()
    assert put_table(text, as_markdown(kernels[1:])) != text


def test_a_page_without_markers_says_which_lines_to_write() -> None:
    with pytest.raises(ValueError, match="no place for the table: write a line '<!-- kernels -->'"):
        put_table("# A project\n", "| a |")
