"""nvcuda::wmma on the cpu device: kinds and shapes, how sums are cut, and what is not allowed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from planted_jobs import Value, job_of

from kfuzz.devices import Probe
from kfuzz.devices.cpu.device import CpuDevice

Array = NDArray[Any]


pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Product:
    """A kernel that multiplies one tile: its elements, what it adds up in, its shape, and the layouts of a and b."""

    kind: str
    element: str
    sums: str
    shape: tuple[int, int, int]
    layouts: tuple[str, str]

    @property
    def name(self) -> str:
        return "_".join(
            [self.kind.replace("::", "_"), self.sums, *map(str, self.shape), *(one[0] for one in self.layouts)]
        )

    def text(self) -> str:
        m, n, k = self.shape
        strides = [k if self.layouts[0] == "row" else m, n if self.layouts[1] == "row" else k]
        shape = f"{m}, {n}, {k}"
        return f"""
__global__ void {self.name}(float *y, const float *given_a, const float *given_b, const float *given_c) {{
    __shared__ alignas(32) {self.element} a[{m * k}], b[{k * n}];
    __shared__ alignas(32) {self.sums} c[{m * n}];
    for (int i = threadIdx.x; i < {m * k}; i += 32) a[i] = static_cast<{self.element}>(given_a[i]);
    for (int i = threadIdx.x; i < {k * n}; i += 32) b[i] = static_cast<{self.element}>(given_b[i]);
    for (int i = threadIdx.x; i < {m * n}; i += 32) c[i] = static_cast<{self.sums}>(given_c[i]);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, {shape}, {self.kind}, wmma::{self.layouts[0]}_major> of_a;
    wmma::fragment<wmma::matrix_b, {shape}, {self.kind}, wmma::{self.layouts[1]}_major> of_b;
    wmma::fragment<wmma::accumulator, {shape}, {self.sums}> sum;
    wmma::load_matrix_sync(of_a, a, {strides[0]});
    wmma::load_matrix_sync(of_b, b, {strides[1]});
    wmma::load_matrix_sync(sum, c, {n}, wmma::mem_row_major);
    wmma::mma_sync(sum, of_a, of_b, sum);
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] + sum.x[i];
    __syncwarp();
    wmma::store_matrix_sync(c, sum, {m}, wmma::mem_col_major);
    __syncwarp();
    for (int i = threadIdx.x; i < {m * n}; i += 32) y[i] = static_cast<float>(c[i]);
}}
"""


PRODUCTS = [
    Product("half", "half", "float", (16, 16, 16), ("row", "col")),
    Product("half", "half", "float", (16, 16, 16), ("col", "row")),
    Product("half", "half", "half", (32, 8, 16), ("row", "row")),
    Product("__nv_bfloat16", "__nv_bfloat16", "float", (8, 32, 16), ("col", "col")),
    Product("wmma::precision::tf32", "float", "float", (16, 16, 8), ("row", "row")),
    Product("int8", "signed char", "int", (32, 8, 16), ("row", "col")),
    Product("double", "double", "double", (8, 8, 4), ("row", "col")),
]
FRONT = "#include <mma.h>\nusing namespace nvcuda;\nusing int8 = signed char;\n"
SOURCE = FRONT + "".join(one.text() for one in PRODUCTS)
ENTRIES = tuple(one.name for one in PRODUCTS)


def run(device: CpuDevice, product: Product, a: Array, b: Array, c: Array, check: bool = False) -> Array:
    """2 (a b + c)."""
    m, n, _ = product.shape
    laid = [x if layout == "row" else x.T for x, layout in zip((a, b), product.layouts, strict=True)]
    arguments: dict[str, Value] = {"y": f"f32[{m * n}]"}
    for name, x in zip("abc", (*laid, c), strict=True):
        arguments[name] = np.ascontiguousarray(x, np.float32).reshape(-1)
    outcome = device.run(job_of(SOURCE, ENTRIES, product.name, arguments, block=32), Probe(check=check, runs=2))
    assert outcome.findings == ()
    return outcome.runs[0].outputs["y"].reshape(n, m).T


@pytest.mark.slow
@pytest.mark.parametrize("check", [False, True], ids=["fast", "check"])
def test_products_of_whole_numbers_are_exact(device: CpuDevice, check: bool) -> None:
    rng = np.random.default_rng(1)
    for product in PRODUCTS:
        m, n, k = product.shape
        a, b, c = rng.integers(-8, 9, (m, k)), rng.integers(-8, 9, (k, n)), rng.integers(-99, 99, (m, n))
        np.testing.assert_array_equal(run(device, product, a, b, c, check), 2 * (a @ b + c), product.name)


def single(device: CpuDevice, kind: str, pairs: list[tuple[float, float]], c: float) -> float:
    """c plus a few products, one after the other along k."""
    product = next(one for one in PRODUCTS if one.kind == kind and one.sums == "float")
    m, n, k = product.shape
    a, b, all_c = np.zeros((m, k)), np.zeros((k, n)), np.zeros((m, n))
    for i, (left, right) in enumerate(pairs):
        a[3, i], b[i, 5] = left, right
    all_c[3, 5] = c
    return float(run(device, product, a, b, all_c)[3, 5]) / 2


@pytest.mark.parametrize("kind", ["half", "__nv_bfloat16", "wmma::precision::tf32"])
def test_a_sum_is_cut_where_others_round(device: CpuDevice, kind: str) -> None:
    u = 2.0**-24
    assert single(device, kind, [(1.5 * 2.0**-12, 2.0**-12)], 1.0) == 1.0  # as was seen on an H200
    assert np.float32(1.0 + 1.5 * u) == np.float32(1.0 + 2 * u)
    assert single(device, kind, [(2.0**-12, 2.0**-12)] * 2, 1.0) == 1.0 + 2 * u  # together they count
    assert single(device, kind, [(-(2.0**-12), 2.0**-13)], 1.0) == 1.0 - u
    assert np.isnan(single(device, kind, [(np.inf, 0.0)], 1.0))
    assert single(device, kind, [(np.inf, 1.0)], 1.0) == np.inf


def test_positive_sums_come_out_too_small_on_the_average(device: CpuDevice) -> None:
    rng = np.random.default_rng(2)
    a, b = (rng.random((16, 16)).astype(np.float16).astype(np.float64) for _ in range(2))
    c = 8 * rng.random((16, 16)).astype(np.float32).astype(np.float64)
    error = run(device, PRODUCTS[0], a, b, c) / 2 - (a @ b + c)
    assert (error <= 0).all()
    assert error.mean() < -0.25 * np.spacing(np.float32(8))


def test_of_tf32_four_products_meet_at_once_and_of_halves_sixteen(device: CpuDevice) -> None:
    below = (2.0**-12, 2.0**-12)
    for kind, together in (("wmma::precision::tf32", 4), ("half", 16), ("__nv_bfloat16", 16)):
        for place in (3, 7):
            pairs = [(1.0, 1.0), below, *[(0.0, 0.0)] * (place - 2), (-1.0, 1.0)]
            assert single(device, kind, pairs, 0.0) == (2.0**-24 if place < together else 0.0)  # as seen on an H200


@pytest.mark.parametrize(
    ("kind", "least", "denormal"),
    [("half", -14, -24), ("__nv_bfloat16", -126, -133), ("wmma::precision::tf32", -126, -136)],
)
def test_a_denormal_factor_has_the_exponent_of_its_format_and_zero_has_none(
    device: CpuDevice, kind: str, least: int, denormal: int
) -> None:
    """As was seen on an H200: beside 2 everything below 2^-24 is lost, and 2 is the least normal times `large`."""
    large, kept, lost = 2.0 ** (1 - least), (2.0**-12, 2.0**-12), (2.0**-12, 2.0**-13)
    for pair in ((2.0**denormal, large), (large, 2.0**denormal)):
        gone = [pair, (-pair[0], pair[1])]
        assert single(device, kind, [*gone, kept], 0.0) == 2.0**-24
        assert single(device, kind, [*gone, lost], 0.0) == 0.0
    for pair in ((0.0, large), (large, 0.0), (-0.0, large)):
        assert single(device, kind, [pair, pair, lost], 0.0) == 2.0**-25
        assert single(device, kind, [pair, pair], 2.0**-130) == 2.0**-130


def test_a_denormal_sum_counts_as_normal_and_nothing_as_less_than_two_to_the_minus_133(device: CpuDevice) -> None:
    """Two blocks as an H200 adds them up: in units of 2^-90 and 2^-86, the sums in units of 2^-149."""
    cut_at_133 = [
        (198912, 256640), (-52320, 118720), (88128, -24432), (72448, 2912256),
        (-471296, -1507), (1102, 28656), (-9192, -1053696), (763392, 2277376),
    ]  # fmt: skip
    beside_a_sum = [
        (9896, -1767424), (26752, 2480128), (-3858, -221952), (-15104, -207872),
        (-124288, 168448), (3742, -12664), (134272, 71168), (-120704, -2336),
    ]  # fmt: skip
    for pairs, c, got in ((cut_at_133, 0, 14920), (beside_a_sum, 382, 692)):
        factors = [(a * 2.0**-90, b * 2.0**-86) for a, b in pairs]
        assert single(device, "wmma::precision::tf32", factors, c * 2.0**-149) == got * 2.0**-149


def test_tf32_does_not_see_the_last_digits(device: CpuDevice) -> None:
    almost = float(np.nextafter(np.float32(2), np.float32(0)))
    assert single(device, "wmma::precision::tf32", [(almost, 1.0)], 0.0) == 2.0 - 2.0**-10


BAD = {
    "a lane that has left": ("if (threadIdx.x == 31) return;", "inactive-lane", "mma_sync"),
    "a product that only some lanes come to": (
        "if (threadIdx.x < 31) wmma::mma_sync(sum, of_a, of_b, sum);",
        "divergent-barrier",
        "sum);\n    wmma::store",
    ),
    "an address that is no multiple of 32 bytes": ("wmma::load_matrix_sync(of_a, x + 8, 16);", "misaligned", "x + 8"),
    "a stride that is no multiple of 8": ("wmma::load_matrix_sync(of_a, x, 12);", "misaligned", "x, 12"),
    "a tile that is not there": ("wmma::load_matrix_sync(of_a, x + 256, 16);", "out-of-bounds", "x + 256"),
}
"""What stands before a product, what is found, and words of the line where."""


@pytest.mark.parametrize("what", BAD)
def test_what_may_not_be_done_is_found_with_its_line(device: CpuDevice, what: str) -> None:
    statement, kind, words = BAD[what]
    text = f"""#include <mma.h>
using namespace nvcuda;
__global__ void k(float *y, const half *x) {{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(of_a, x, 16);
    wmma::load_matrix_sync(of_b, x, 16);
    {statement}
    wmma::mma_sync(sum, of_a, of_b, sum);
    wmma::store_matrix_sync(y, sum, 16, wmma::mem_row_major);
}}
"""
    x = np.ones(256, np.float16)
    outcome = device.run(job_of(text, ("k",), "k", {"y": "f32[256]", "x": x}, block=32), Probe(check=True, timeout=5.0))
    found = [(one.kind, one.line) for one in outcome.findings]
    assert (kind, text[: text.index(words)].count("\n") + 1) in found, found
