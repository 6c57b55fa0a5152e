"""Guesses for files without a claim: the block that the text names, launches in comments, and bugs in the file."""

import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from paths import DATA

from kfuzz.claims.kernel import KERNELS, load
from kfuzz.devices import ClaimError
from kfuzz.measure.roundings.guess import guess, guessed, op_of
from kfuzz.measure.roundings.guess_host import host_claims
from kfuzz.measure.roundings.guess_kernel import claims, function_of
from kfuzz.measure.roundings.launch_text import block_sizes, launches_as_sizes
from kfuzz.ui.commands.group import main

SOFTMAX = (DATA / "unclaimed" / "softmax_of_128.cu").read_text()
BARRIER = "  best = part[0];\n  __syncthreads();\n"
RACE = SOFTMAX.replace(BARRIER, BARRIER.partition("\n")[0] + "\n")
"""The maximum is read while other warps write their sums to its place."""
ONLINE = """__global__ void softmax_online(const float *x, float *y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float best = -INFINITY, sum = 0;
  for (int j = 0; j < cols; j++) {
    float before = best;
    best = fmaxf(best, x[row * cols + j]);
    sum = sum * expf(before - best) + expf(x[row * cols + j] - best);
  }
  for (int j = 0; j < cols; j++) y[row * cols + j] = expf(x[row * cols + j] - best) / sum;
}
"""
"""Of a row that begins with -inf it takes exp(-inf - -inf)."""
EARLY = """__device__ float joined(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffff, value, step);
  return value;
}
__global__ void row_sum(const float *x, float *y, int cols) {
  __shared__ float part[4];
  if (threadIdx.x >= cols) return;
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += 128) sum += x[(long)blockIdx.x * cols + i];
  sum = joined(sum);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
}
"""
"""Lanes that have left are asked for their values in rows that are shorter than the block."""


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (SOFTMAX, [128]),
        (SOFTMAX.replace("#define BLOCK 128", "constexpr int BLOCK = 256;"), [256]),
        (SOFTMAX.replace("#define BLOCK 128", "#define BLOCK (2 * 32)  // threads"), [64]),
        (re.sub(r"\bBLOCK\b", "512", SOFTMAX.replace("#define BLOCK 128", "")), [512]),
        ("__global__ void __launch_bounds__(192, 2) f(float *y) {}", [192]),
        ("for (int s = 32; s > 0; s >>= 1) {}", [64]),
        ("__shared__ float warps[8];", [256]),
        ("int i = blockIdx.x * 96 + threadIdx.x;", [96]),
        ("#define TPB 160\nint n = 7;", [160]),
        ("for (int i = threadIdx.x; i < n; i += blockDim.x) {}", []),
    ],
)
def test_the_block_is_read_from_the_uses_of_its_size(text: str, sizes: list[int]) -> None:
    assert block_sizes(text) == sizes


@pytest.mark.parametrize(
    ("host", "launch"),
    [
        ("// softmax<<<(M + 127) / 128, 128>>>(x, y, M, N);", ("(rows + 127) / 128", "128", "0")),
        (
            "int main() { int M = 5; const int tpb = 64; dim3 grid(cdiv(M, tpb)); dim3 block(tpb);\n"
            "softmax<<<grid, block, tpb * sizeof(float)>>>(d_x, d_y, M, 9); }",
            ("ceil_div(rows, 64)", "64", "64 * 4"),
        ),
        ("softmax<<<batch, WIDE>>>(x, y, batch, len);\n#define WIDE 96", ("rows", "96", "0")),
        ("other<<<1, 1>>>(x);", None),
    ],
)
def test_a_launch_is_read_in_a_comment_or_in_main(host: str, launch: tuple[str, ...] | None) -> None:
    found = list(launches_as_sizes("softmax", {2: "rows", 3: "cols"}, ("rows", "cols"), host))
    assert found == ([launch] if launch else [])


def test_a_name_of_the_caller_is_the_axis_that_is_no_argument() -> None:
    host = "int main() { softmax<<<batch, 128>>>(x, y, len); }"
    assert list(launches_as_sizes("softmax", {2: "n"}, ("rows", "n"), host)) == [("rows", "128", "0")]


def test_rows_of_vectors_are_also_claimed_in_multiples_of_them() -> None:
    text = "__global__ void row_sum(const float4 *x, float *y, int rows, int cols) {}"
    every = list(claims("row_sum", function_of("mine.cu", text), text))
    assert any("cols = { min = 4, max = 4096, multiple = 4 }" in one for one in every)
    assert "multiple" not in every[0]


ADDED = """__global__ void square(const float *x, const float *t, float *loss, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(loss, (x[i] - t[i]) * (x[i] - t[i]) / n);
}
__global__ void nothing(float *p) {}
void solve(const float *x, const float *t, float *loss, int n) { square<<<(n + 255) / 256, 256>>>(x, t, loss, n); }
"""


def test_an_output_that_is_added_to_atomically_may_be_zero_before() -> None:
    for every in (
        list(claims("mse_loss", function_of("mine.cu", ADDED), ADDED)), list(host_claims("mse_loss", ADDED))
    ):  # fmt: skip
        assert 'loss = "f32[1] <- loss"' in every[0]
        assert any('loss = "f32[1] = 0 <- loss"' in one for one in every)
    plain = ADDED.replace("atomicAdd(loss,", "(*loss +=")
    assert not any("= 0 <-" in one for one in claims("mse_loss", function_of("mine.cu", plain), plain))


@pytest.mark.parametrize(
    ("name", "op"),
    [("rmsNormKernel", "rms_norm"), ("prefix_sum_v2", "prefix_sum"), ("layernorm", "layer_norm"), ("gemm", "sgemm"),
     ("argmax", "argmax"), ("my_row_sum", "row_sum"), ("swiglu", "swiglu"), ("summary", "row_sum"), ("blur", None),
     ("vector_add", "add"), ("matmul_add", "sgemm"), ("fused_bias_relu", "relu"), ("saxpy", "axpy")],
)  # fmt: skip
def test_a_name_suggests_the_op_whose_name_it_holds(name: str, op: str | None) -> None:
    assert op_of(name, "") == op


WINDOW = """
INPUTS = {"x": "float[length]", "w": "float[taps]"}
OUTPUTS = {"y": "float[length - taps + 1]"}


def formula(N, x, w):
    return N.sum(x[:1] * w[:1])
"""


@pytest.mark.parametrize("is_of_host", [False, True])
def test_a_guess_has_no_answer_of_less_than_one_place(tmp_path: Path, is_of_host: bool) -> None:
    (tmp_path / "window.py").write_text(WINDOW, encoding="utf-8")
    op, arguments = str(tmp_path / "window.py"), "(const float* x, const float* w, float* y, int n, int taps)"
    text = f"__global__ void slide{arguments} {{ y[threadIdx.x] = 0; }}\n"
    if is_of_host:
        text += "__global__ void other(float* y) { y[0] = 0; }\n"
        text += f"void solve{arguments} {{ slide<<<1, 64>>>(x, w, y, n, taps); }}\n"
        assert 'where  = ["length - taps + 1 >= 1"]' in next(host_claims(op, text))
    else:
        assert 'where  = ["n - taps + 1 >= 1"]' in next(claims(op, function_of("a.cu", text), text))


def test_the_longest_name_decides() -> None:
    assert op_of("layernorm", "__global__ void mean_kernel(float *x) {}") == "layer_norm"


@pytest.mark.slow
def test_a_block_softmax_without_a_launch_gets_a_claim(tmp_path: Path) -> None:
    kernel = guessed(tmp_path / "mine.cu", SOFTMAX, "softmax").kernel
    (launch,) = kernel.launches
    assert (launch.grid[0].text, launch.block[0].text) == ("rows", "128")
    assert not kernel.tune


@pytest.mark.slow
def test_a_race_in_the_file_is_reported_and_not_taken_for_a_wrong_guess(tmp_path: Path) -> None:
    found = guess(tmp_path / "mine.cu", RACE, "softmax")
    assert found.kernel.launches[0].block[0].text == "128"
    assert found.bug
    lines = "mine.cu:16: race, `best = part[0];` / `part[t] = sum;`"
    assert str(found.bug).startswith(f"{lines}: missing barrier: line 16 reads part[0] and line 19 writes it")


@pytest.mark.soak
@pytest.mark.slow(8)
def test_a_kernel_for_one_warp_is_not_accused_of_races_of_a_block_that_was_guessed(tmp_path: Path) -> None:
    """Its bug is the last column of an odd number. In blocks of 64 its warps race, and only rows that one warp reads
    counted, so these fitted better than the 32 threads that are meant.
    """
    text = """__global__ void l1_norm(const float *x, float *y, int rows, int cols) {
      int lane = threadIdx.x;
      const float *row = x + (long)blockIdx.x * cols;
      float s = 0;
      for (int c = 2 * lane; c + 1 < cols; c += 64) s += fabsf(row[c]) + fabsf(row[c + 1]);
      for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o);
      for (int c = lane; c < cols; c += 32) y[(long)blockIdx.x * cols + c] = row[c] / s;
    }"""
    found = guess(tmp_path / "mine.cu", text, "x / row_sum(abs(x))")
    assert found.kernel.launches[0].block[0].text == "32"
    assert found.bug
    assert {one.kind for one in found.bug.defects} <= {"numeric", "special"}
    assert not found.bug.is_proved


@pytest.mark.soak
def test_a_campaign_begins_by_a_guess_that_a_proved_bug_breaks(tmp_path: Path) -> None:
    found = guessed(tmp_path / "mine.cu", RACE, "softmax")
    assert found.bug
    assert found.bug.is_proved


@pytest.mark.soak
def test_a_kernel_whose_shared_memory_no_guess_is_enough_for_is_not_accused(tmp_path: Path) -> None:
    """Nothing in its text says that it needs 4 * cols + 4 * threads + 512 bytes."""
    text = """extern __shared__ float row[];
    __global__ void row_sum(const float *x, float *y, int cols) {
      float *part = row + cols + 128, value = 0;
      for (int j = threadIdx.x; j < cols; j += blockDim.x) row[j] = x[(long)blockIdx.x * cols + j];
      __syncthreads();
      for (int j = threadIdx.x; j < cols; j += blockDim.x) value += row[j];
      part[threadIdx.x] = value;
      __syncthreads();
      for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
      }
      if (threadIdx.x == 0) y[blockIdx.x] = part[0];
    }"""
    with pytest.raises(ClaimError):
        guessed(tmp_path / "mine.cu", text, None)


@pytest.mark.soak
def test_a_kernel_that_is_wrong_at_ordinary_sizes_is_not_accused(tmp_path: Path) -> None:
    """It takes rows of an even number of elements, which nothing in its text says."""
    text = """__global__ void row_sum(const float *x, float *y, int rows, int cols) {
      int row = blockIdx.x * 128 + threadIdx.x;
      float even = 0, odd = 0;
      for (int j = 0; row < rows && j < cols; j += 2) {
        even += x[(long)row * cols + j];
        odd += x[(long)row * cols + j + 1];
      }
      if (row < rows) y[row] = even + odd;
    }
    void launch(const float *x, float *y, int rows, int cols) {
      row_sum<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);
    }"""
    with pytest.raises(ClaimError, match=r"this claim fits some inputs, but the kernel is wrong for others: "):
        guessed(tmp_path / "mine.cu", text, None)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("text", "op", "sign"), [(ONLINE, "softmax", "special, -inf minus -inf"), (EARLY, "row_sum", "inactive-lane")]
)
def test_other_bugs_in_the_file_are_reported(tmp_path: Path, text: str, op: str, sign: str) -> None:
    found = guess(tmp_path / "mine.cu", text, op)
    assert found.bug
    assert found.bug.defects[0].sign.startswith(sign)


@pytest.mark.soak
def test_a_kernel_of_another_op_is_no_bug(tmp_path: Path) -> None:
    """It is wrong for ordinary cases, too, so nothing shows that the claim fits."""
    with pytest.raises(ClaimError, match="no guess of how it computes log_softmax is kept; the likeliest fails: "):
        guess(tmp_path / "mine.cu", SOFTMAX, "log_softmax")


@pytest.mark.soak
def test_init_claims_a_kernel_with_a_bug_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "softmax.cu").write_text(RACE)
    (tmp_path / "row_sum.cu").write_text((KERNELS / "reduce" / "block_sum.cu").read_text())
    done = CliRunner().invoke(main, ["init", "--yes"])
    assert done.exit_code == 1, done.output
    assert "softmax.cu: this looks like a bug: softmax.cu:16: race, " in done.output
    assert load(tmp_path / "softmax.cu").op == "softmax"
    assert (tmp_path / "kfuzz.toml").exists()
    assert (tmp_path / ".github" / "workflows" / "kfuzz.yml").exists()


def test_sizes_that_the_op_fixes_are_listed_and_need_not_all_be_arguments(tmp_path: Path) -> None:
    """Before, an answer of 4 rows was one of 1, and the first of two arguments was the first of three sizes."""
    (tmp_path / "own.py").write_text(
        'INPUTS = {"x": "float[total, cols]"}\nOUTPUTS = {"y": "float[4, cols]"}\n'
        'WHERE = ("total == 22", "cols == 5")\ndef formula(N, x):\n    return x[:4]\n'
    )
    source = "__global__ void own(const float *x, float *y, int cols) {}\nvoid f() { own<<<4, 32>>>(x, y, cols); }"
    function = function_of("own.cu", source)
    first = tomllib.loads(next(claims(str(tmp_path / "own.py"), function, source)))
    assert first["axes"] == {"total": [22], "cols": [5]}
    assert first["arrays"] == {"x": "f32[total, cols] -> x", "y": "f32[4, cols] <- y"}


@pytest.mark.parametrize(("pointer", "element"), [
    ("int", "i32"), ("long long", "i64"), ("int64_t", "i64"), ("int8_t", "i8"), ("uint8_t", "u8"),
])  # fmt: skip
def test_an_array_of_integers_has_the_type_of_its_pointer(pointer: str, element: str, tmp_path: Path) -> None:
    """Before, each was i32: `const long long *at` was refused."""
    (tmp_path / "own.py").write_text(
        'INPUTS = {"x": "float[n]", "at": "int[n] 0..99"}\nOUTPUTS = {"y": "float[n]"}\nWHOLE = True\n'
        "def formula(N, x, at):\n    return x + x\n"
    )
    source = f"__global__ void own(const float *x, const {pointer} *at, float *y, int n) {{}}"
    first = next(claims(str(tmp_path / "own.py"), function_of("own.cu", source), source))
    assert tomllib.loads(first)["arrays"]["at"] == f"{element}[n] -> at"
