"""Ordinary kernels without a claim: a wrong one is reported with its input, and its right twin is not accused."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from paths import DATA

from kfuzz.claims.kernel import KERNELS, load
from kfuzz.claims.language.front_matter import text_of
from kfuzz.devices import ClaimError
from kfuzz.measure.roundings.grounds import is_too_much
from kfuzz.measure.roundings.guess import guess, guessed
from kfuzz.measure.roundings.guess_host import BY_NAMES
from kfuzz.measure.roundings.guess_kernel import claims, function_of, launched_sizes, value_tables
from kfuzz.ui.commands.group import main

UNCLAIMED = DATA / "unclaimed"


def exhibit(name: str) -> str:
    return text_of(UNCLAIMED / f"{name}.cu")


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, command: str, name: str, *words: str) -> Result:
    """A command on an exhibit, in a folder of its own; a campaign has few cases on the cpu device."""
    monkeypatch.chdir(folder)
    (folder / f"{name}.cu").write_text(exhibit(name))
    few = ["--device", "cpu", "--max-cases", "6", "--jobs", "1"] if command == "fuzz" else ["--max-cases", "20"]
    return CliRunner().invoke(main, [command, f"{name}.cu", "--seed", "1", *few, *words])


def kept(folder: Path) -> list[Path]:
    return list((folder / "tests" / "corpus").rglob("*.json"))


def test_sizes_are_those_that_a_launch_allows() -> None:
    text = exhibit("sgemm_right")
    assert 'axes   = { M = "1..1048560"' in next(claims("sgemm", function_of("", text), text))
    assert launched_sizes("cols, rows", "rows", 1 << 20, ("rows", "cols")) == (1, 65535)
    assert launched_sizes("rows, 7", "rows", 1 << 20, ("rows", "cols")) == (1, 1 << 20)
    assert launched_sizes("(rows * (cols / 4) + 255) / 256", "cols", 1 << 20, ("rows", "cols")) == (4, 1 << 20)
    assert launched_sizes("(rows * (cols / 4) + 255) / 256", "rows", 1 << 20, ("rows", "cols")) == (1, 1 << 20)
    assert launched_sizes("ceil_div(n, threads), 1", "n", 1 << 20, ("n",)) == (1, 1 << 20)


def test_a_case_of_gigabytes_is_too_much_before_it_is_drawn() -> None:
    """A guess for a pool with four axes of 264 and more asked for 43 GiB."""
    kernel = load(KERNELS / "adaptive_avg_pool3d" / "direct2d.cu")
    assert is_too_much(kernel, dict.fromkeys(kernel.axes, 264), {"rows": 1, "cols": 1}, times=16)


def test_a_number_in_place_of_infinity_is_a_range() -> None:
    tables = value_tables("softmax", exhibit("softmax_from_minus_1e30"))
    assert [one for one in tables if "1e+30" in one] == ["\n\n[values]\nrange = [-1e+30, 1e+30]"]
    assert not any("e+" in one for one in value_tables("softmax", "// 1e30f\nint n = 100000; float x = 0.5f;"))


def test_vectors_of_halves_are_multiples_of_8() -> None:
    text = "__global__ void row_sum(const __half *x, float *y, int rows, int cols) { *(float4 *)x; }"
    assert any("multiple = 8" in one for one in claims("row_sum", function_of("", text), text))


@pytest.mark.slow(10)
def test_values_outside_a_guessed_range_are_a_warning_with_the_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The range was narrowed to [-80, 80] without a word, and nothing was broken."""
    done = run(monkeypatch, tmp_path, "fuzz", "softmax_from_minus_1e30")
    assert done.exit_code == 0, done.output
    assert "WARNING  softmax_from_minus_1e30: outside the guessed claim" in done.stdout
    assert "right only for |x| <= 1e+30: for x = -" in done.stdout
    assert "y is nan" in done.stdout
    assert len(kept(tmp_path)) == 1


@pytest.mark.soak
def test_fuzz_and_claim_say_the_same_of_a_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(monkeypatch, tmp_path, "claim", "softmax_from_minus_1e30")
    assert done.exit_code == 0, done.output
    assert "range   = [-1e+30, 1e+30]" in done.stdout
    assert "warning: right only for |x| <= 1e+30: for x = -" in done.stderr


@pytest.mark.slow(10)
@pytest.mark.parametrize(
    ("name", "sign"),
    [
        pytest.param("sgemm_without_second_barrier", "race", marks=pytest.mark.soak),
        ("scan_out_of_bounds", "out-of-bounds"),
        ("row_sum_divides_by_zero", "trap"),
    ],
)
def test_a_finding_of_the_guess_is_broken_with_a_kept_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, sign: str
) -> None:
    """It ended with "write its claim" and exit code 2."""
    done = run(monkeypatch, tmp_path, "fuzz", name)
    assert done.exit_code == 1, done.output
    assert f"BROKEN  {name}: {sign}" in done.stdout
    assert kept(tmp_path)


@pytest.mark.slow(10)
@pytest.mark.parametrize("name", ["sgemm_right", "softmax_from_minus_infinity", "scan_right", "row_sum_right"])
def test_a_right_twin_is_guessed_whole(tmp_path: Path, name: str) -> None:
    found = guess(tmp_path / f"{name}.cu", exhibit(name), None)
    assert (found.bug, found.outside) == (None, ())


LEAKY_RELU = """__global__ void leaky_relu(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0.1f * x[i];
}
void launch(const float *x, float *y, int n) { leaky_relu<<<(n + 255) / 256, 256>>>(x, y, n); }
"""


@pytest.mark.soak
@pytest.mark.slow
def test_a_wrong_value_is_no_bug_if_only_the_names_say_the_op(tmp_path: Path) -> None:
    """A leaky_relu.cu is right as a relu wherever all values are positive, as those of ordinary cases are."""
    path = tmp_path / "leaky_relu.cu"
    with pytest.raises(ClaimError, match=r"if it computes relu, as its names say: kfuzz fuzz .* --op relu\n"):
        guessed(path, LEAKY_RELU, None)
    with pytest.raises(ClaimError, match="is wrong for others"):
        guessed(path, LEAKY_RELU, "relu", BY_NAMES)
    found = guessed(path, LEAKY_RELU, "relu")
    assert found.bug
    assert found.bug.is_proved


@pytest.mark.slow(10)
def test_a_launch_for_the_one_size_of_a_program_is_no_bug(tmp_path: Path) -> None:
    """`<<<1024, 256>>>` was right for the size of that program, and the kernel writes one number a thread."""
    found = guess(tmp_path / "gelu.cu", exhibit("gelu_launched_once"), None)
    assert (found.bug, found.outside) == (None, ())
    assert found.kernel.launches[0].grid[0].names


@pytest.mark.slow(10)
def test_rows_of_vectors_are_judged_in_multiples_and_others_are_a_warning(tmp_path: Path) -> None:
    found = guess(tmp_path / "gelu_float4.cu", exhibit("gelu_float4"), None)
    assert found.bug is None
    assert found.kernel.axes["cols"].multiple == 4
    assert "right only for multiples of 4 in cols: for cols = " in str(found.outside[0])


def test_the_message_for_other_arrays_than_the_ops_has_the_difference_and_three_ways_on(tmp_path: Path) -> None:
    """`no guess of how it computes gelu is kept; write its claim` was all."""
    with pytest.raises(ClaimError) as found:
        guess(tmp_path / "bias_gelu.cu", exhibit("bias_gelu_right"), None)
    said = str(found.value)
    assert "kfuzz does not know this function: it takes 3 arrays (x, bias, y), gelu has 2 (x, y)\n" in said
    for way in ("--reference FILE.py", "kfuzz op --template > my_op.py", "--op ./my_op.py", "// /// kernel\n// op "):
        assert way in said
    with pytest.raises(ClaimError) as found:
        guess(tmp_path / "axpy.cu", "__global__ void f(float *p, float *m, float *v, float *g, int n) {}", "adamw")
    assert "does not know" not in str(found.value), "p, m and v are read and written"
    claim = said[said.index("// /// kernel") :]
    assert 'entry  = "bias_gelu"' in claim
    assert 'args   = ["x", "bias", "y", "rows", "cols"]' in claim


BIAS_GELU = """\"\"\"bias_gelu: y = gelu(x + bias), the tanh form.\"\"\"

from kfuzz.oracle.ops.gelu_tanh import formula as gelu
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]", "bias": "float[cols]"}
OUTPUTS = {"y": "float[rows, cols]"}


def formula(N: System, x: Quantity, bias: Quantity) -> Quantity:
    return gelu(N, x + bias)
"""


@pytest.mark.slow(10)
@pytest.mark.parametrize(
    ("name", "exit_code"), [pytest.param("bias_gelu_right", 0, marks=pytest.mark.soak), ("bias_gelu_one_too_many", 1)]
)
def test_a_kernel_of_float4_is_judged_in_multiples_of_4(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, exit_code: int
) -> None:
    """At cols=1 both divide by zero, which hid the access beyond the arrays: exit code 2."""
    (tmp_path / "bias_gelu.py").write_text(BIAS_GELU)
    done = run(monkeypatch, tmp_path, "fuzz", name, "--op", "./bias_gelu.py")
    assert done.exit_code == exit_code, done.output
    assert "cols = { min = 4, max = 1048576, multiple = 4 }" in done.stderr
    assert (f"BROKEN  {name}: out-of-bounds" in done.stdout) == (exit_code == 1)


SCALED = """\"\"\"scaled: y = 2 x.\"\"\"

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}


def formula(N: System, x: Quantity) -> Quantity:
    return 2.0 * x
"""
SCALE = """__global__ void scaled(const float *x, float *y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) y[i] = 2.0f * x[i];
}
void launch(const float *x, float *y, int rows, int cols) {
  scaled<<<(rows * cols + 255) / 256, 256>>>(x, y, rows, cols);
}
"""


@pytest.mark.soak
def test_an_op_in_a_file_is_found_from_the_shell_and_named_from_the_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`kfuzz claim` looked for it beside the kernel, `kfuzz fuzz` beside the shell."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_op.py").write_text(SCALED)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "scaled.cu").write_text(SCALE)
    few = ("--op", "./my_op.py", "--max-cases", "4", "--seed", "1")
    fuzzed = CliRunner().invoke(main, ["fuzz", "src/scaled.cu", *few, "--device", "cpu", "--jobs", "1"])
    assert fuzzed.exit_code == 0, fuzzed.output
    done = CliRunner().invoke(main, ["claim", "src/scaled.cu", *few])
    assert done.exit_code == 0, done.output
    assert '// op     = "../my_op.py"\n' in done.stdout
    (tmp_path / "src" / "scaled.cu").write_text(f"{done.stdout}{SCALE}")
    again = CliRunner().invoke(main, ["fuzz", "src/scaled.cu", *few[2:], "--device", "cpu", "--jobs", "1"])
    assert again.exit_code == 0, again.output


@pytest.mark.soak
def test_init_gives_a_broken_kernel_its_claim_and_keeps_the_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its help said so, and a softmax whose maximum starts at -1e30 got a question."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "softmax.cu").write_text(exhibit("softmax_from_minus_1e30"))
    (tmp_path / "row_sum.cu").write_text(exhibit("row_sum_divides_by_zero"))
    done = CliRunner().invoke(main, ["init", "--yes"])
    assert done.exit_code == 1, done.output
    assert "range   = [-1e+30, 1e+30]" in (tmp_path / "softmax.cu").read_text()
    assert "// /// kernel" in (tmp_path / "row_sum.cu").read_text()
    assert "softmax.cu: right only for |x| <= 1e+30: for x = -" in done.stdout
    assert "2 cases that broke kernels during the search for claims" in done.stdout
