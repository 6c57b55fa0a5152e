"""Counts the roundings of a kernel by running it: additions and rescalings of a term, and how it was divided."""

import uuid
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from kfuzz.claims.kernel import KERNELS, Kernel, load, read
from kfuzz.claims.language.kernel_file import parse
from kfuzz.devices import ClaimError, cache
from kfuzz.devices.cpu.compiler import build_library
from kfuzz.devices.cpu.counting import FAST, PRODUCT, QUOTIENT, RECIPROCAL, STAGES, Counter, RunCounts

pytestmark = pytest.mark.slow

HEAD = """\
// /// kernel
// op     = "{op}"
// axes   = {{ rows = "1..64", cols = "1..4096" }}
// arrays = {{ x = "f32[rows, cols] -> x", y = "{out} <- y" }}
//
// [[launch]]
// entry  = "kernel"
// grid   = "rows"
// block  = "{block}"
// shared = "4 * 32"
// args   = ["y", "x", "cols"]
// ///
{before}
__global__ void kernel(float *y, const float *x, int cols) {{
  x += blockIdx.x * cols;
  {body}
}}
"""


@pytest.fixture(scope="module")
def counter() -> Iterator[Counter]:
    one = Counter()
    yield one
    one.close()


def text_of(body: str, op: str = "row_sum", block: int = 1, before: str = "") -> str:
    out = "f32[rows]" if op == "row_sum" else "f32[rows, cols]"
    return HEAD.format(op=op, out=out, block=block, body=body, before=before)


def kernel_of(body: str, op: str = "row_sum", block: int = 1, before: str = "") -> Kernel:
    return read(parse(KERNELS / "mine.cu", text_of(body, op, block, before)))


def kernel_of_many(bodies: Sequence[str], op: str = "row_sum") -> Kernel:
    """A kernel whose parameter chooses the body, so that all are compiled at once."""
    text = text_of("\n".join(f"if constexpr (body == {place}) {{ {one} }}" for place, one in enumerate(bodies)), op)
    tune = f"// tune   = {{ body = {list(range(len(bodies)))} }}\n// arrays"
    text = text.replace("// arrays", tune).replace('"kernel"', '"kernel<{body}>"')
    return read(parse(KERNELS / "mine.cu", text.replace("__global__", "template <int body>\n__global__")))


def count(counter: Counter, kernel: Kernel, cols: int, values: str = "any", **tune: int) -> RunCounts:
    x = np.random.default_rng(1).uniform(1, 2, (2, cols)).astype(np.float32)
    x = {"any": x, "ascending": np.sort(x, axis=1), "descending": -np.sort(-x, axis=1)}[values]
    found = counter.count(kernel.bind({"x": x}, tune).job)
    assert found is not None
    return found


def most(counts: RunCounts, name: str) -> int:
    return max(int(trail[name].max()) for trail in counts.outputs.values())


def adds(counts: RunCounts, kind: str = "adds") -> int:
    """The additions of the stage that has most of them."""
    return max(most(counts, f"{kind}_of_{stage}") for stage in STAGES)


def flags(counts: RunCounts) -> int:
    return int(np.bitwise_or.reduce(counts.outputs["y"]["flags"], axis=None))


def stages(counts: RunCounts) -> tuple[int, ...]:
    return tuple(most(counts, f"adds_of_{stage}") for stage in STAGES)


SUM = "float s = 0; for (int i = 0; i < cols; i++) s += x[i]; y[blockIdx.x] = s;"


PATHS = [
    (SUM, 99),  # the first is to a zero
    ("float s = 1e-9f; for (int i = 0; i < cols; i++) s += x[i]; y[blockIdx.x] = s;", 100),
    ("float a = 0, b = 0; for (int i = 0; i < cols; i += 2) a += x[i], b += x[i + 1]; y[blockIdx.x] = a + b;", 50),
    ("volatile float s = 0; for (int i = 0; i < cols; i++) s = s + x[i]; y[blockIdx.x] = s;", 99),
    ("float s = 0; for (int i = 0; i < cols; i++) s = fmaf(x[i], 1.0f, s); y[blockIdx.x] = s;", 99),
    ("float s = 0; for (int i = 0; i < cols; i++) s = __fadd_rn(s, x[i]); y[blockIdx.x] = s;", 99),
    ("y[blockIdx.x] = 0; for (int i = 0; i < cols; i++) atomicAdd(&y[blockIdx.x], x[i]);", 99),
    ("float m = x[0]; for (int i = 1; i < cols; i++) m = fmaxf(m, x[i]); y[blockIdx.x] = m + m;", 1),
    ("struct P { float a[2]; } p = {{0, 0}}; for (int i = 0; i < cols; i++) p.a[i % 2] += x[i];"
     "P q = p; y[blockIdx.x] = q.a[0] + q.a[1];", 50),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("body", "expected"), PATHS)
def test_additions_are_counted_along_the_path_of_a_term(counter: Counter, body: str, expected: int) -> None:
    bodies = [one for one, _ in PATHS]
    counts = count(counter, kernel_of_many(bodies), 100, body=bodies.index(body))
    assert (adds(counts), adds(counts, "wide_adds"), counts.lost) == (expected, 0, 0)


def test_a_run_counts_nothing_from_earlier_runs(counter: Counter) -> None:
    kernel = kernel_of(SUM)
    found = [count(counter, kernel, cols).outputs["y"].tolist() for cols in (100, 7, 3000, 100)]
    assert [one[0][0] for one in found] == [99, 6, 2999, 99]
    assert found[0] == found[-1]


SOFTMAX = "float m = 2, s = 0; for (int i = 0; i < cols; i++) s += expf(x[i] - m);"
MEAN = "float m = 0; for (int i = 0; i < cols; i++) m += x[i]; m /= cols;"
WELFORD = "float m = 0, n = 0; for (int i = 0; i < cols; i++) { n += 1; m += (x[i] - m) / n; }"


STAGED = [
    (SUM, (19, 0, 0)),
    (SUM + "y[blockIdx.x] = sqrtf(s);", (0, 19, 0)),
    (SUM + "y[blockIdx.x] = rsqrtf(s + 1e-5f);", (0, 20, 0)),
    (SUM + "y[blockIdx.x] = s * x[0];", (0, 19, 0)),
    (SUM + "y[blockIdx.x] = s * 0.5f;", (19, 0, 0)),
    (SUM + "y[blockIdx.x] = expf(s - x[0]);", (0, 19, 0)),  # a shift is no term
    (SUM + "y[blockIdx.x] = powf(2.5f, s);", (0, 19, 0)),
    (SUM + "y[blockIdx.x] = x[0] / s;", (0, 0, 19)),
    (SOFTMAX + "y[blockIdx.x] = expf(x[0] - m) / s;", (0, 0, 19)),
    (SOFTMAX + "y[blockIdx.x] = x[0] - (m + logf(s));", (2, 19, 0)),
    (SOFTMAX + "s = 1 / s; float o = 0; for (int i = 0; i < cols; i++) o += expf(x[i] - m) * s * x[i];"
     "y[blockIdx.x] = o;", (19, 0, 19)),
    (MEAN + "float v = 0; for (int i = 0; i < cols; i++) v += (x[i] - m) * (x[i] - m);"
     "y[blockIdx.x] = (x[0] - m) * rsqrtf(v / cols + 1e-5f) + x[1];", (1, 20, 0)),
    (WELFORD + "y[blockIdx.x] = m;", (19, 0, 0)),  # toward each element by one step
    ("float s = x[0]; for (int i = 1; i < cols; i++) s -= x[i]; y[blockIdx.x] = s;", (19, 0, 0)),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("body", "found"), STAGED)
def test_additions_are_counted_by_the_stage_in_which_their_sum_lies(
    counter: Counter, body: str, found: tuple[int, ...]
) -> None:
    bodies = [one for one, _ in STAGED]
    assert stages(count(counter, kernel_of_many(bodies), 20, body=bodies.index(body))) == found


@pytest.mark.parametrize(("weighs", "rescales"), [("x[i]", 0), ("(x[i] + 1)", 1)])
def test_an_input_that_an_exp_weighs_is_not_rescaled(counter: Counter, weighs: str, rescales: int) -> None:
    body = f"float o = 0; for (int i = 0; i < cols; i++) o += expf(x[i] - 2) * {weighs}; y[blockIdx.x] = o;"
    counts = count(counter, kernel_of(body), 9)
    assert (most(counts, "rescales"), most(counts, "scalings")) == (rescales, 1)


def test_additions_in_double_are_counted_separately(counter: Counter) -> None:
    counts = count(counter, kernel_of(SUM.replace("float s", "double s")), 100)
    assert (adds(counts), adds(counts, "wide_adds")) == (0, 99)


@pytest.mark.slow
@pytest.mark.parametrize(
    "step",
    [
        "s += __shfl_xor_sync(~0u, s, mask)",
        "s += __shfl_down_sync(~0u, s, mask)",
        "s += tile.shfl_xor(s, mask)",
        "if (mask == 16) s = cooperative_groups::reduce(tile, s, cooperative_groups::plus<float>())",
    ],
)
def test_a_tree_of_shuffles_adds_its_height(counter: Counter, step: str) -> None:
    before = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
    tile = "auto tile = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());"
    body = f"{tile} float s = x[threadIdx.x]; for (int mask = 16; mask; mask /= 2) {step};"
    counts = count(counter, kernel_of(f"{body} if (threadIdx.x == 0) y[blockIdx.x] = s;", "row_sum", 32, before), 32)
    assert adds(counts) == 5


def test_a_tree_in_shared_memory_adds_its_height(counter: Counter) -> None:
    body = (
        "extern __shared__ float shared[]; int i = threadIdx.x; shared[i] = x[i]; __syncthreads();"
        "for (int half = 16; half; half /= 2) { if (i < half) shared[i] += shared[i + half]; __syncthreads(); }"
        "if (i == 0) y[blockIdx.x] = shared[0];"
    )
    assert adds(count(counter, kernel_of(body, "row_sum", 32), 32)) == 5


@pytest.mark.parametrize("function", ["normcdff", "rcbrtf"])
def test_a_function_that_the_headers_define_in_one_line_is_counted_too(counter: Counter, function: str) -> None:
    body = f"float s = 0.0f; for (int i = 0; i < cols; ++i) {{ s += x[i]; }} y[blockIdx.x] = {function}(s);"
    counts = count(counter, kernel_of(body), 8)
    assert (most(counts, "adds_of_sum"), most(counts, "adds_of_inner")) == (0, 7)


def test_vectors_of_four_are_four_numbers(counter: Counter) -> None:
    body = "float4 v = *reinterpret_cast<const float4 *>(x); y[blockIdx.x] = (v.x + v.y) + (v.z + v.w);"
    assert adds(count(counter, kernel_of(body), 4)) == 2


ONLINE = (
    "float m = -INFINITY, s = 0; for (int i = 0; i < cols; i++) {"
    "  if (x[i] > m) { s = s * expf(m - x[i]) + 1; m = x[i]; } else s += expf(x[i] - m); }"
    "for (int i = 0; i < cols; i++) y[blockIdx.x * cols + i] = expf(x[i] - m) / s;"
)


@pytest.mark.slow
@pytest.mark.parametrize(("values", "rescales"), [("ascending", 49), ("descending", 0)])
def test_rescalings_are_counted_where_the_maximum_rises(counter: Counter, values: str, rescales: int) -> None:
    counts = count(counter, kernel_of(ONLINE, "softmax"), 50, values)
    assert (adds(counts), most(counts, "rescales")) == (49, rescales)


DIVISIONS = {
    "e / s": QUOTIENT,
    "e * (1 / s)": PRODUCT,
    "__fdividef(e, s)": QUOTIENT | FAST,
    "e * __frcp_rn(s)": PRODUCT,
    "e * __fdividef(1.0f, s)": PRODUCT | FAST,
}


@pytest.mark.slow
@pytest.mark.parametrize(("divided", "expected"), DIVISIONS.items())
def test_the_way_of_a_division_is_recorded(counter: Counter, divided: str, expected: int) -> None:
    bodies = [ONLINE.replace("expf(x[i] - m) / s;", f"({{ float e = expf(x[i] - m); {one}; }});") for one in DIVISIONS]
    kernel = kernel_of_many(bodies, "softmax")
    found = flags(count(counter, kernel, 9, body=[*DIVISIONS].index(divided)))
    assert found & (QUOTIENT | PRODUCT | FAST | RECIPROCAL) == expected


def test_rows_that_are_divided_by_their_own_sums_are_recorded(counter: Counter) -> None:
    own = "float s = 0; for (int j = 0; j < cols; j++) s += expf(x[(i + j) % cols] - m);"
    body = f"float m = 2; for (int i = 0; i < cols; i++) {{ {own} y[blockIdx.x * cols + i] = expf(x[i] - m) / s; }}"
    assert len(set(count(counter, kernel_of(body, "softmax"), 40).outputs["y"]["divisor"][0].tolist())) > 1
    shared = count(counter, kernel_of(ONLINE, "softmax"), 40).outputs["y"]["divisor"]
    assert [len(set(row.tolist())) for row in shared] == [1, 1]


def test_an_exp_without_a_subtraction_is_recorded(counter: Counter) -> None:
    assert count(counter, kernel_of(ONLINE, "softmax"), 9).unshifted == 0
    assert count(counter, kernel_of(ONLINE.replace("x[i] - m", "x[i]"), "softmax"), 9).unshifted > 0


def test_numbers_that_are_swapped_as_integers_keep_their_trails(counter: Counter) -> None:
    add = """
__device__ void add(float *p, float v) {
  int *bits = reinterpret_cast<int *>(p), seen = *bits, old;
  do { old = seen; seen = atomicCAS(bits, old, __float_as_int(__int_as_float(old) + v)); } while (seen != old);
}
"""
    body = "y[blockIdx.x] = 0; for (int i = 0; i < cols; i++) add(&y[blockIdx.x], x[i]); y[blockIdx.x] += 1e-9f;"
    counts = count(counter, kernel_of(body, before=add), 20)
    assert counts.lost or adds(counts) == 20


def test_numbers_that_are_moved_as_bits_count_as_lost(counter: Counter) -> None:
    body = "float s = 1, t = 0; for (int i = 0; i < cols; i++) { s += x[i]; memcpy(&t, &s, 4); } y[blockIdx.x] = t + 1;"
    assert count(counter, kernel_of(body), 9).lost > 0
    assert count(counter, kernel_of(body.replace("memcpy(&t, &s, 4)", "t = s")), 9).lost == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "lying"),
    [
        ("softmax/online_block", 2),
        ("softmax/thread_f64_sum", 2),
        *(pytest.param(name, 0, marks=pytest.mark.soak) for name in ("reduce/block_sum", "sgemm/tiled")),
    ],
)
def test_our_own_claims_equal_the_counts(counter: Counter, name: str, lying: int) -> None:
    kernel = load(KERNELS / f"{name}.cu")
    axes = {
        axis: size for axis, size in {"rows": 3, "cols": 200, "m": 5, "n": 6, "k": 70}.items() if axis in kernel.axes
    }
    tune = {parameter: values[1] for parameter, values in kernel.tune.items()}
    draw = np.random.default_rng(1)
    reads = [array for array in kernel.arrays.values() if array.reads]
    shapes = {str(array.reads): tuple(size(axes) for size in array.shape) for array in reads}
    inputs = {role: np.sort(draw.uniform(1, 2, shape).astype(np.float32)) for role, shape in shapes.items()}
    bound = kernel.bind(inputs, tune)
    counts = counter.count(bound.job)
    assert counts is not None
    narrow, wide = most(counts, f"adds_of_{STAGES[lying]}"), most(counts, f"wide_adds_of_{STAGES[lying]}")
    assert narrow + wide == bound.accuracy.adds
    assert most(counts, "rescales") == (bound.accuracy.rescales or 0)


@pytest.mark.soak
def test_a_file_that_cannot_be_counted_is_tried_once() -> None:
    word = f"nobody_knows_{uuid.uuid4().hex}"
    job = kernel_of(f"y[0] = {word};").bind({"x": np.ones((2, 3), np.float32)}, {}).job
    with pytest.raises(ClaimError, match=word):
        build_library(job, "count")
    (kept,) = [one for one in (cache.folder() / "cpu").glob("*.refused") if word.encode() in one.read_bytes()]
    cache.save(f"cpu/{kept.name}", b"as it was found before")
    with pytest.raises(ClaimError, match="as it was found before"):
        build_library(job, "count")
    with pytest.raises(ClaimError, match=word):
        build_library(job, "fast")
