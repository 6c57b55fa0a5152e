"""From a claim and a case to a job: sizes, shapes, launches and buffers."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz.claims.kernel import DoesNotFitError, Kernel, read, whole_numbers
from kfuzz.claims.language.kernel_file import parse
from kfuzz.devices import Circumstances, ClaimError, Run
from kfuzz.oracle.numbers.elements import F64, U32

Floats = NDArray[np.float32]


def kernel(claim: str, source: str) -> Kernel:
    front = "\n".join(f"// {line}".rstrip() for line in claim.strip().splitlines())
    return read(parse(Path("mine.cu"), f"// /// kernel\n{front}\n// ///\n{source}\n"))


ROWS = kernel(
    """
op = "max_sum"
axes = { rows = "1..1000", cols = { min = 4, max = 4096, multiple = 4 } }
tune = { threads = [32, 64] }
let = { blocks = "ceil_div(rows, threads)" }
align = 8
[arrays]
x = "f32[rows, cols] -> x"
m = "f32[rows] <- m"
s = "f32[rows] <- s"
n = "u32[1] = 7"
t = "f64[blocks, 2]"
[accuracy]
adds = "ceil_div(cols, threads)"
rescales = 0
[[launch]]
when = "cols <= 1024"
entry = "small<{threads}>"
grid = "blocks"
block = "threads"
shared = "8 * threads"
args = ["m", "s", "x", "n", "t", "rows", "cols"]
[[launch]]
when = "cols > 1024"
entry = "large"
grid = "2, blocks"
block = "threads, 4, 2"
args = ["m", "s", "x", "n", "t", "rows", "cols"]
""",
    """
template <int T> __global__ void small(float *m, float *s, const float *x, unsigned *n, double *t, int rows, int cols);
__global__ void __launch_bounds__(1024) large(float *m, float *s, const float *x, unsigned *n, double *t, int, int);
""",
)

VECTOR = kernel(
    """
op = "softmax"
axes = { n = "1..100" }
arrays = { x = "f32[n] -> x <- y" }
[[launch]]
entry = "f"
grid = 1
block = 1
args = ["x", "n"]
""",
    "__global__ void f(float *x, int n) {}",
)

GEMM = kernel(
    """
op = "sgemm"
axes = { m = "1..9", n = "1..9", k = "1..9" }
arrays = { a = "f32[m, k] -> a", b = "f32[k, n] -> b", c = "f32[m, n] <- c" }
[[launch]]
entry = "f"
grid = "n, m"
block = 1
args = ["c", "a", "b", "m", "n", "k"]
""",
    "__global__ void f(float *c, const float *a, const float *b, int m, int n, int k) {}",
)


def ones(*shape: int) -> Floats:
    return np.ones(shape, np.float32)


def test_a_job_has_every_size_as_a_number() -> None:
    job = ROWS.bind({"x": ones(70, 8)}, {"threads": 64}).job
    assert [(step.entry, step.grid, step.block, step.shared) for step in job.steps] == [
        ("small<64>", (2, 1, 1), (64, 1, 1), 512)
    ]
    assert job.steps[0].args == ("m", "s", "x", "n", "t", 70, 8)
    assert (job.kernel, job.align, job.flags) == ("mine", 8, ())
    assert job.entries == ("small<32>", "small<64>", "large")


def test_when_chooses_the_launch() -> None:
    job = ROWS.bind({"x": ones(3, 1028)}, {"threads": 32}).job
    assert [(step.entry, step.grid, step.block) for step in job.steps] == [("large", (2, 1, 1), (32, 4, 2))]


def test_buffers_are_inputs_outputs_and_scratch() -> None:
    job = ROWS.bind({"x": ones(70, 8)}, {"threads": 64}).job
    x, m, s, n, t = job.buffers
    assert (x.name, x.shape, x.is_output) == ("x", (70, 8), False)
    assert np.array_equal(x.content, ones(70, 8))
    assert (m.shape, m.content, m.fill, m.is_output) == ((70,), None, None, True)
    assert s.is_output
    assert (n.element, n.shape, n.fill, n.is_output) == (U32, (1,), 7, False)
    assert (t.element, t.shape, t.fill) == (F64, (2, 2), None)


def test_an_array_in_place_is_input_and_output() -> None:
    job = VECTOR.bind({"x": ones(5)}, {}).job
    (x,) = job.buffers
    assert x.content is not None
    assert x.is_output
    assert list(VECTOR.outputs(Run(Circumstances(), {"x": ones(5)}).outputs, {})) == ["y"]


def test_outputs_are_given_back_by_role() -> None:
    m, s = ones(3), np.zeros(3, np.float32)
    assert ROWS.outputs({"m": m, "s": s}, {}) == {"m": m, "s": s}


def test_nan_payloads_and_signed_zeros_reach_the_buffer_unchanged() -> None:
    bits = np.array([0x7FBADBAD, 0xFFC00001, 0x80000000, 1], np.uint32)
    job = VECTOR.bind({"x": bits.view(np.float32)}, {}).job
    assert job.buffers[0].content is not None
    assert np.array_equal(job.buffers[0].content.view(np.uint32), bits)


def test_a_strided_input_becomes_contiguous() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4).T
    content = GEMM.bind({"a": x, "b": ones(3, 2)}, {}).job.buffers[0].content
    assert content is not None
    assert content.flags.c_contiguous
    assert np.array_equal(content, x)


@pytest.mark.parametrize(
    ("claim", "inputs", "axes"),
    [
        (ROWS, {"x": ones(3, 8)}, {"rows": 3, "cols": 8}),
        (ROWS, {"x": ones(8)}, {"rows": 1, "cols": 8}),  # a vector is one row
        (VECTOR, {"x": ones(5)}, {"n": 5}),
        (VECTOR, {"x": ones(1, 5)}, {"n": 5}),  # and one row is a vector
        (GEMM, {"a": ones(2, 3), "b": ones(3, 4)}, {"m": 2, "n": 4, "k": 3}),
    ],
)
def test_axes_come_from_the_shapes_by_position(claim: Kernel, inputs: dict[str, Floats], axes: dict[str, int]) -> None:
    assert claim.axes_of(inputs) == axes


@pytest.mark.parametrize(
    ("claim", "inputs"),
    [
        (VECTOR, {"x": ones(2, 5)}),
        (ROWS, {"x": ones(2, 3, 4)}),
        (GEMM, {"a": ones(3), "b": ones(3, 4)}),
        (GEMM, {"a": ones(2, 3), "b": ones(4, 5)}),  # k is 3 and 4
    ],
)
def test_shapes_that_the_kernel_does_not_take_are_no_fault_of_its_file(
    claim: Kernel, inputs: dict[str, Floats]
) -> None:
    with pytest.raises(DoesNotFitError, match=r"takes f32\["):
        claim.axes_of(inputs)


@pytest.mark.parametrize(
    ("axes", "admitted"),
    [
        ({"rows": 1, "cols": 4}, True),
        ({"rows": 1000, "cols": 4096}, True),
        ({"rows": 0, "cols": 4}, False),
        ({"rows": 1001, "cols": 4}, False),
        ({"rows": 1, "cols": 6}, False),  # no multiple of 4
        ({"rows": 1}, False),
        ({"rows": 1, "cols": 4, "more": 1}, False),
    ],
)
def test_a_claim_admits_its_sizes_and_no_others(axes: dict[str, int], admitted: bool) -> None:
    assert ROWS.admits(axes) is admitted


def test_accuracy_is_worked_out_for_the_sizes() -> None:
    sizes = ROWS.sizes({"rows": 1, "cols": 100}, {"threads": 32})
    assert sizes == {"rows": 1, "cols": 100, "threads": 32, "blocks": 1}
    accuracy = ROWS.accuracy(sizes)
    assert (accuracy.adds, accuracy.rescales) == (4, 0)


def test_bind_refuses_what_the_claim_does_not_have() -> None:
    x = {"x": ones(3, 8)}
    with pytest.raises(ValueError, match=r"tune=\{'threads': 33\}: mine claims"):
        ROWS.bind(x, {"threads": 33})
    with pytest.raises(ValueError, match=r"tune=\{\}: mine claims"):
        ROWS.bind(x, {})
    with pytest.raises(DoesNotFitError, match=r"the case has \[2, 3, 8\]"):
        ROWS.bind({"x": ones(2, 3, 8)}, {"threads": 32})
    with pytest.raises(TypeError, match="dtype=float64"):
        ROWS.bind({"x": np.ones((3, 8))}, {"threads": 32})


def test_a_limit_that_only_one_size_breaks_is_found_when_that_size_is_bound() -> None:
    claim = kernel(
        """
op = "softmax"
axes = { n = "1..3000" }
arrays = { x = "f32[n] -> x <- y" }
[[launch]]
entry = "f"
grid = 1
block = "1 + (n - 1) * (3000 - n)"
args = ["x"]
""",
        "__global__ void f(float *x) {}",
    )
    with pytest.raises(ClaimError, match=r"^mine.cu:8: launch.block = .*: x is 2248501 at n=1500; it is 1 to 1024$"):
        claim.bind({"x": ones(1500)}, {})


def test_without_elements_no_launch_is_needed() -> None:
    claim = kernel(
        """
op = "softmax"
axes = { n = "0..10" }
arrays = { x = "f32[n] -> x <- y" }
[[launch]]
when = "n > 0"
entry = "f"
grid = "n"
block = 1
args = ["x"]
""",
        "__global__ void f(float *x) {}",
    )
    assert claim.bind({"x": ones(0)}, {}).job.steps == ()


def test_a_kernel_gets_the_inputs_that_the_file_of_its_op_makes(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        'import numpy as np\nINPUTS = {"x": "float[n]", "w": "float[n]", "at": "int[n] 0..99"}\n'
        'OUTPUTS = {"y": "float[n]"}\nWHERE = ("n == 4",)\ndef make_inputs(given):\n'
        '    first = given["at"][0]\n    return {"w": np.full(4, 1 / 3), "at": np.arange(4) + int(first)}\n'
        "def formula(N, x, w, at):\n    return x * w\n"
    )
    own = kernel(
        f'op = "{tmp_path}/own.py"\naxes = {{ n = [4] }}\n[arrays]\nx = "f32[n] -> x"\nw = "f16[n] -> w"\n'
        'at = "i32[n] -> at"\ny = "f32[n] <- y"\n[[launch]]\nentry = "own"\ngrid = "1"\nblock = "n"\n'
        'args = ["x", "w", "at", "y"]',
        "__global__ void own(const float *x, const __half *w, const int *at, float *y);",
    )
    case = {"x": np.ones(4, np.float32), "w": np.zeros(4, np.float32), "at": np.asarray([7, 9, 9, 9], np.float32)}
    given = own.bind(case, {}).given
    assert given["x"].tolist() == [1, 1, 1, 1]
    assert given["w"].dtype == np.float16
    assert given["w"].tolist() == [np.float16(1 / 3)] * 4
    assert (given["at"].dtype, given["at"].tolist()) == (np.int32, [7, 8, 9, 10])


def test_integers_of_64_bits_may_be_beyond_32() -> None:
    """Keys below 2^45 were cut to 32 bits, and the oracle refused them: kfuzz itself failed."""
    given = np.array([2.0**40, -3, np.inf, np.nan, 2.0**45, 2.0**46 - 2.0**24], np.float32)
    assert whole_numbers(given, 1 << 45).tolist() == [2**40, 3, 0, 0, 0, 2**45 - 2**24]
    assert whole_numbers(np.array([2.0**62], np.float32), 1 << 64).tolist() == [2**62]
