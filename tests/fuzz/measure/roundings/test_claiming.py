"""Proposed claims: formulas that bound every count, a claim that is kept, and the reason if there is none."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import DATA
from with_nvcc import needs_nvcc

from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.claims.language import expression
from kfuzz.claims.language.expression import LONGEST
from kfuzz.devices import ClaimError
from kfuzz.devices.cpu.counting import STAGES
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.measure.roundings.formula import CountFormula, Point, fit_formula
from kfuzz.measure.roundings.grounds import grounds, inputs_of, summed_axes
from kfuzz.measure.roundings.guess import GuessesSoFar, found_in, guessed
from kfuzz.measure.roundings.guess_host import host_claims
from kfuzz.measure.roundings.guess_kernel import claims, function_of
from kfuzz.measure.roundings.keep import narrow_choices
from kfuzz.measure.roundings.measure import Sample, chosen
from kfuzz.measure.roundings.propose import formula, is_every_launch_seen, propose_adds, rounding_of
from kfuzz.measure.roundings.slack import keeps_claim
from kfuzz.measure.roundings.stages import stages_of
from kfuzz.measure.roundings.text import claim_of, with_tables
from kfuzz.oracle.judging.find_op import find
from kfuzz.ui.commands.group import main
from kfuzz.ui.targets.template import template

SIZES = [
    {"cols": cols, "threads": threads}
    for cols in (1, 2, 3, 5, 8, 31, 32, 33, 64, 100, 129, 300, 513, 1025, 2049, 5003)
    for threads in (32, 64, 256, 1024)
]


def through(text: str) -> CountFormula:
    """What is fitted through the values of a formula."""
    wanted = expression.number(text, ("cols", "threads"))
    return fit_formula([Point(sizes, wanted(sizes)) for sizes in SIZES], ["cols"], ["threads"], [32])


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "7",
        "cols - 1",
        "ceil_div(cols, threads)",
        "ceil_div(cols, threads) - 1 + ceil_log2(min(cols, threads))",
        "ceil_div(cols, 4 * threads) + 3 + ceil_log2(min(cols, threads))",
        "ceil_div(cols, 32) + 4",
        "ceil_log2(cols)",
    ],
)
def test_a_formula_of_loops_and_trees_is_found_again(text: str) -> None:
    found, wanted = through(text), expression.number(text, ("cols", "threads"))
    assert found.excess == pytest.approx(0, abs=1e-12)
    for cols in (7, 777, 77_777, 7_777_777):
        for threads in (64, 512):
            assert found({"cols": cols, "threads": threads}) == wanted({"cols": cols, "threads": threads}), found.text


@given(st.lists(st.integers(0, 1000), min_size=len(SIZES), max_size=len(SIZES)))
@settings(max_examples=10, deadline=None)
def test_no_count_is_above_its_formula_whatever_was_counted(counts: list[int]) -> None:
    points = [Point(sizes, count) for sizes, count in zip(SIZES, counts, strict=True)]
    found = fit_formula(points, ["cols"], ["threads"], [32])
    assert all(found(point.sizes) >= point.count for point in points)


def test_other_tables_take_the_place_of_those_that_are_there() -> None:
    kernel = load(KERNELS / "softmax" / "online_block.cu")
    made = with_tables(kernel, {"accuracy": {"adds": '"cols"', "divide": '"ieee"'}, "values": {"finite": "true"}})
    assert made.rounding.adds is not None
    assert (made.rounding.adds.text, made.rounding.rescales, made.finite) == ("cols", None, True)
    assert (made.axes, made.tune, made.arrays, made.launches) == (
        kernel.axes,
        kernel.tune,
        kernel.arrays,
        kernel.launches,
    )
    silent = with_tables(made, {"accuracy": {}, "values": {}})
    assert "[accuracy]" not in claim_of(silent)
    assert silent.rounding.adds is None


def test_other_tables_take_the_place_of_rows(tmp_path: Path) -> None:
    """A claim with `accuracy = { ... }` had the table twice then."""
    source = (KERNELS / "reduce" / "block_sum.cu").read_text()
    rows = re.sub(r"//\n// \[accuracy\]\n(?:// \w.*\n)+", '// accuracy = { adds = "cols", divide = "fast" }\n', source)
    assert rows != source
    (tmp_path / "mine.cu").write_text(rows)
    made = with_tables(load(tmp_path / "mine.cu"), {"accuracy": {"adds": "7"}})
    assert made.rounding.adds is not None
    assert (made.rounding.adds.text, made.source.count("accuracy"), "fast" in made.source) == ("7", 1, False)
    assert made.launches == load(tmp_path / "mine.cu").launches


def test_tables_are_put_into_a_claim_however_its_lines_end(tmp_path: Path) -> None:
    """Blank lines of a claim may be `//` or `// `, and a table may be missing."""
    source = (KERNELS / "reduce" / "block_max.cu").read_text()
    (tmp_path / "mine.cu").write_text(re.sub(r"^//$", "// ", source, flags=re.MULTILINE))
    made = with_tables(load(tmp_path / "mine.cu"), {"accuracy": {"adds": "7"}})
    assert made.rounding.adds is not None
    assert made.source.count("adds") == 1


@pytest.mark.parametrize(
    ("op", "form", "lying"),
    [
        ("softmax", None, {"divided": {"sum": 0}}),
        ("log_softmax", "x - lse", {"inner": {"sum": 0}}),
        ("attention", None, {"sum": {"pv": 0}, "inner": {"qk": 0}, "divided": {"row": 0}}),
        ("masked_attention", None, {"sum": {"pv": 0}, "inner": {"qk": 1}, "divided": {"row": 0}}),  # a mask is added
        ("layer_norm", "two pass", {"inner": {"mean": 0, "var": 1}}),  # eps is added to the variance
        ("gemm", "bias last", {"sum": {"k": 2}}),  # c0 and bias are
        ("gemm", None, {"sum": {"k": 2}}),  # in any form: a sum may start at them, and its claim counts neither
        ("gemv", "sums start at y0", {"sum": {"k": 1}}),
        ("prefix_sum", None, {"sum": {"scan": 0}}),
        ("gelu", None, {}),
    ],
)
def test_each_sum_of_a_formula_lies_in_a_stage(op: str, form: str | None, lying: dict[str, dict[str, int]]) -> None:
    found = find(op)
    assert {stage: sums for stage, sums in stages_of(found, form).items() if sums} == lying


@pytest.mark.slow
def test_a_tighter_claim_is_tried_with_the_claims_own_constants() -> None:
    kernel = load(KERNELS / "gemm" / "split_k.cu")  # alpha is 0.5 there, and 1 by default
    axes, tune = {"batch": 1, "m": 2, "n": 3, "k": 40}, {"splits": 3, "threads": 32}
    with CpuDevice() as device:
        assert keeps_claim(kernel, axes, tune, kernel.bind(inputs_of(kernel, axes), tune).accuracy, device, 0)


@pytest.mark.slow
def test_a_kernel_of_halves_reports_that_halves_are_not_counted() -> None:
    found = rounding_of(load(KERNELS / "gemm" / "wmma_f16.cu"))
    assert found.remark.endswith("cannot be counted: halves and bfloat16 do not count")
    assert "adds" not in found.statements


def counted_as(kernel: Kernel, count: Callable[[dict[str, int]], tuple[int, int, int]]) -> dict[str, str]:
    """What is proposed where the counter finds so many additions in the three stages, at a few sizes."""
    found = []
    for axes, tune in grounds(kernel):
        made = dict(zip(STAGES, count(axes), strict=True))
        found.append(Sample(axes, tune, kernel.sizes(axes, tune), (0,), made, True, False, 0, 0, 0, 1, True, False))
    return propose_adds(kernel, found)


def test_each_sum_gets_the_formula_of_its_stage() -> None:
    kernel = load(KERNELS / "attention" / "flash_warp.cu")
    reported = counted_as(kernel, lambda at: (at["keys"] - 1, at["d"] - 1, at["keys"] + 2))
    assert reported == {"adds": '{ pv = "keys - 1", qk = "d - 1", row = "keys + 2" }'}


@pytest.mark.slow
def test_what_is_added_to_sums_that_are_whole_is_not_claimed() -> None:
    kernel = load(KERNELS / "log_softmax" / "online_thread.cu")
    assert counted_as(kernel, lambda at: (2, at["cols"] - 1, 0)) == {"adds": '"cols - 1"'}
    gemm = load(KERNELS / "gemm" / "split_k.cu")
    assert counted_as(gemm, lambda at: (at["k"] + 1, 0, 0)) == {"adds": '"k - 1"'}
    silent = with_tables(gemm, {"accuracy": {}, "values": {}})  # c0 and bias may be added first or last
    assert counted_as(silent, lambda at: (at["k"] + 1, 0, 0)) == {"adds": '"k - 1"'}
    begun = load(KERNELS / "reduce" / "block_sum.cu")  # a sum that begins with a number that is not 0
    assert counted_as(begun, lambda at: (at["cols"], 0, 0)) == {"adds": '"cols"'}


def test_sums_that_lie_where_the_formula_has_none_are_claimed_together() -> None:
    kernel = load(KERNELS / "softmax" / "three_pass_thread.cu")
    assert counted_as(kernel, lambda at: (0, at["cols"] + 1, 0)) == {"adds": '"cols + 1"'}


def test_of_launches_that_were_not_counted_nothing_is_claimed() -> None:
    """softmax/fastest joins what several blocks have summed beyond 57,344 columns; what is counted has no such rows."""
    kernel = load(KERNELS / "softmax" / "fastest.cu")
    samples = [
        Sample(
            axes, {}, sizes := kernel.sizes(axes, {}), chosen(kernel, sizes), {}, True, False, 0, 0, 0, 1, True, False
        )
        for cols in (1, 129, 10_241)
        for axes in [{"rows": 1, "cols": cols}]
    ]
    assert not is_every_launch_seen(kernel, samples)
    block = load(KERNELS / "softmax" / "online_block.cu")
    assert is_every_launch_seen(block, [])
    vectors = load(KERNELS / "reduce" / "max_sum_grid.cu")
    every = [(axes, tune, kernel.sizes(axes, tune)) for kernel in [vectors] for axes, tune in grounds(kernel)]
    seen = [Sample(a, t, s, chosen(vectors, s), {}, True, False, 0, 0, 0, 1, True, False) for a, t, s in every]
    assert is_every_launch_seen(vectors, seen)


def test_where_each_of_many_launches_has_a_formula_of_its_own_there_is_one_for_all(tmp_path: Path) -> None:
    """A claim takes no more than so many characters; what is said instead is nowhere below what was counted."""
    entry = 'entry = "k"\ngrid = "rows"\nblock = "32"\nargs = ["y", "x", "cols"]\n'
    steps = [1, *range(3, 40, 2)]
    launches = "".join(f'[[launch]]\nwhen = "cols >= {low} and cols < {low + 2}"\n{entry}' for low in steps)
    arrays = 'arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }'
    head = f'op = "row_sum"\naxes = {{ rows = "1..4", cols = "1..40" }}\n{arrays}\n'
    claim = "".join(f"// {line}\n" for line in (head + launches).splitlines())
    (tmp_path / "k.cu").write_text(
        f"// /// kernel\n{claim}// ///\n__global__ void k(float *y, const float *x, int cols) {{}}\n"
    )
    kernel = load(tmp_path / "k.cu")
    samples = [
        Sample(
            axes,
            {},
            sizes := kernel.sizes(axes, {}),
            chosen(kernel, sizes),
            {},
            True,
            False,
            7 * cols % 11 + cols,
            0,
            0,
            1,
            True,
            False,
        )
        for cols in range(1, 40)
        for axes in [{"rows": 1, "cols": cols}]
    ]
    text = formula(kernel, samples, lambda sample: sample.rescales)
    assert len(text) < LONGEST / 4
    assert all(expression.number(text, one.sizes)(one.sizes) >= one.rescales for one in samples)


def test_no_count_is_a_formula_of_rows() -> None:
    """Long rows are counted in few, so that a count that falls with their length looks as if it grew with them."""
    kernel = load(KERNELS / "softmax" / "online_block_vec4.cu")
    reported = counted_as(kernel, lambda at: (0, 0, at["rows"]))
    assert "rows" not in reported["adds"]


def test_summed_axes_leave_out_axes_that_only_count() -> None:
    for name, axes in (
        ("attention/flash_warp", ["keys", "d"]),
        ("gemm/split_k", ["k"]),
        ("softmax/online_warp", ["cols"]),
    ):
        assert summed_axes(load(KERNELS / f"{name}.cu")) == axes


def test_what_may_be_held_in_16_bits_is_tried_where_arrays_are() -> None:
    assert list(narrow_choices(load(KERNELS / "attention" / "flash_warp.cu"))) == [{}]
    halves = list(narrow_choices(load(KERNELS / "attention" / "flash_wmma_f16.cu")))
    assert halves == [{}, {"keep": '{ e = "f16" }'}]


def claimed(folder: Path, source: str, *options: str) -> Result:
    path = folder / "mine.cu"
    path.write_text(source)
    return CliRunner().invoke(main, ["claim", str(path), "--max-cases", "40", *options])


@pytest.mark.parametrize("op", ["softmax", "rms_norm", "swiglu"])
def test_a_template_has_its_function_in_its_own_file(op: str) -> None:
    assert "__global__" in template(op)


@pytest.mark.slow
def test_a_silent_claim_is_completed_and_kept(tmp_path: Path) -> None:
    source = template("row_sum")
    assert 'adds = "ceil_' in source
    silent = re.sub(r"//\n// \[accuracy\]\n(?:// \w.*\n)+", "", source)
    result = claimed(tmp_path, silent)
    assert result.exit_code == 0, result.output
    fences = result.stdout[: result.stdout.index("// ///\n") + 8]
    assert re.search(r'^// adds = ".+"$', fences, re.MULTILINE), fences
    (tmp_path / "again.cu").write_text(fences + source[source.index("// ///\n") + 7 :])
    again = load(tmp_path / "again.cu")
    assert again.rounding.adds is not None
    assert again.rounding.adds.text == load(KERNELS / "reduce" / "warp_sum_down.cu").rounding.adds.text  # type: ignore[union-attr]  # it has one


SUMS = "ceil_div(cols, 32) + ceil_log2(min(cols, 32)) - 1"


@pytest.mark.soak
@pytest.mark.slow(10)
def test_a_module_is_counted_and_its_claim_is_kept() -> None:
    result = CliRunner().invoke(main, ["claim", str(DATA / "ptx" / "warp_sum.ptx"), "--max-cases", "40"])
    assert result.exit_code == 0, result.output
    assert f'// adds = "{SUMS}"\n' in result.stdout
    assert "counted in " in result.stderr


@needs_nvcc
@pytest.mark.slow(10)
def test_compiled_code_is_counted_and_its_claim_is_kept(tmp_path: Path) -> None:
    source = (
        (KERNELS / "reduce" / "warp_sum_xor.cu").read_text().replace("width = [1, 2, 4, 8, 16, 32]", "width = [32]")
    )
    result = claimed(tmp_path, source, "--through", "nvcc")
    assert result.exit_code == 0, result.output
    assert f'// adds = "{SUMS.replace("32", "width")}"\n' in result.stdout


def test_only_cuda_goes_through_a_compiler() -> None:
    result = CliRunner().invoke(main, ["claim", str(DATA / "ptx" / "warp_sum.ptx"), "--through", "nvcc"])
    assert (result.exit_code, "--through nvcc is for CUDA: leave it out" in result.stderr) == (2, True)


@pytest.mark.soak
def test_a_kernel_that_is_wrong_under_every_claim_is_reported(tmp_path: Path) -> None:
    result = claimed(tmp_path, template("row_sum").replace("value +=", "value = 2 * value +"))
    assert result.exit_code == 1, result.output
    assert "this claim fits, but the kernel looks wrong: " in result.stderr


@pytest.mark.soak
def test_what_cannot_be_counted_is_left_out_with_the_reason(tmp_path: Path) -> None:
    source = template("row_sum")
    moved = source.replace("value +=", "float moved; memcpy(&moved, &value, 4); value = moved +")
    assert moved != source
    result = claimed(tmp_path, moved)
    assert "adds" not in result.stdout
    assert "moved as bits" in result.stderr


def fuzzed(folder: Path, source: str) -> str:
    path = folder / "mine.cu"
    path.write_text(source)
    options = ["--device", "cpu", "--max-cases", "4", "--seed", "1", "--jobs", "1", "--corpus", str(folder / "corpus")]
    result = CliRunner().invoke(main, ["fuzz", str(path), *options])
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


@pytest.mark.slow
def test_a_claim_without_adds_gets_a_note_how_much_tighter_it_could_be(tmp_path: Path) -> None:
    source = (KERNELS / "reduce" / "block_sum.cu").read_text()
    silent = re.sub(r"// \[accuracy\].*?//\n", "", source, flags=re.DOTALL)
    reported = re.search(
        r"errors below (\S+) % pass now\. kfuzz claim \S+ makes that (\S+) %", fuzzed(tmp_path, silent)
    )
    assert reported
    assert float(reported[2]) < float(reported[1]) / 2


def test_a_claim_with_adds_gets_no_such_note(tmp_path: Path) -> None:
    assert "pass now" not in fuzzed(tmp_path, (KERNELS / "reduce" / "block_sum.cu").read_text())


def bare(path: Path) -> str:
    """A kernel of ours without its claim."""
    return re.sub(r"// /// kernel\n.*?// ///\n", "", path.read_text(), flags=re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "launch"),
    [
        pytest.param("softmax/online_thread", "ceil_div(rows, threads)", marks=pytest.mark.soak),
        pytest.param("softmax/naive_block", "rows", marks=pytest.mark.soak),
        ("reduce/block_sum", "rows"),
        ("reduce/warp_sum_down", "ceil_div(rows, threads / 32)"),
        pytest.param("reduce/merge_all", "1", marks=pytest.mark.soak),
        ("sgemm/tiled", "ceil_div(n, 32)"),
        pytest.param("transpose/naive", "ceil_div(cols, 32)", marks=pytest.mark.soak),
    ],
)
def test_arrays_and_launch_of_a_file_without_a_claim_are_guessed(tmp_path: Path, name: str, launch: str) -> None:
    author = load(KERNELS / f"{name}.cu")
    kernel = guessed(tmp_path / "mine.cu", bare(author.path), author.op).kernel
    assert kernel.launches[0].grid[0].text == launch
    assert {array.reads for array in kernel.arrays.values()} == {array.reads for array in author.arrays.values()}
    assert {array.writes for array in kernel.arrays.values()} == {array.writes for array in author.arrays.values()}


def test_a_launch_in_the_text_is_the_first_guess(tmp_path: Path) -> None:
    host = "#define WIDE 96\nvoid go(float *y, const float *x, int r, int c) {{ {}<<<r, WIDE>>>(y, x, r, c); }}\n"
    function = "softmax_three_pass_thread"
    source = bare(KERNELS / "softmax" / "three_pass_thread.cu")
    assert f"void {function}(" in source
    text = source + host.format(function).replace("<<<r,", "<<<rows,")
    first = next(claims("softmax", function_of("mine.cu", text), text))
    assert 'grid   = "rows"\nblock  = "96"' in first


EXTENSIONS = DATA / "extensions"


@pytest.mark.parametrize(
    ("name", "op", "args"),
    [
        ("softmax_rows", "softmax", '["input", -1]'),
        ("out_row_sum", "row_sum", '["y", "x", "cols"]'),
        ("optional_row_max", "row_max", '["x", "c10::nullopt"]'),
    ],
)
def test_a_function_of_tensors_is_guessed_by_the_order_of_its_arguments(name: str, op: str, args: str) -> None:
    found = list(host_claims(op, bare(EXTENSIONS / f"{name}.cu")))
    assert any(f"args  = {args}" in claim for claim in found), found[0]


def test_several_kernels_are_called_by_the_function_that_launches_them() -> None:
    source = bare(KERNELS / "reduce" / "max_sum_grid.cu")
    assert list(host_claims("max_sum", source)) == []
    host = "void go(const float *x, float *y, int cols) { reduce_max<<<1, 2>>>(x); }\nint main() { k<<<1, 1>>>(); }\n"
    (first, *_) = host_claims("row_sum", source + host)
    assert 'x = "f32[rows, cols] -> x", y = "f32[rows] <- y"' in first
    assert 'entry = "go"\nargs  = ["x", "y", "cols"]' in first


@pytest.mark.soak
def test_an_extension_is_given_the_claim_that_it_keeps(tmp_path: Path) -> None:
    kernel = guessed(tmp_path / "mine.cu", bare(EXTENSIONS / "softmax_rows.cu"), None).kernel
    assert (kernel.op, kernel.launches[0].entry, kernel.launches[0].on_host) == ("softmax", "softmax_forward", True)


@pytest.mark.soak
def test_a_guess_of_which_nothing_is_judged_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_text((EXTENSIONS / "softmax_rows.cu").read_text().replace('["x", -1]', '["x", 0]'))
    with CpuDevice() as device:
        assert found_in(load(path), device, GuessesSoFar()).startswith("refused: ")


@pytest.mark.soak
def test_a_wrong_kernel_without_a_claim_is_given_none(tmp_path: Path) -> None:
    source = bare(KERNELS / "softmax" / "three_pass_thread.cu").replace("+= expf(", "+= 2 * expf(")
    with pytest.raises(ClaimError, match="no guess of how it computes softmax is kept"):
        guessed(tmp_path / "mine.cu", source, None)


@pytest.mark.parametrize(
    ("content", "reported"), [(b"", "it has no __global__ function"), (b"\xff\xfe", r"is no UTF-8 text \(byte 0\)")]
)
def test_a_file_of_which_nothing_can_be_guessed_is_one_line(tmp_path: Path, content: bytes, reported: str) -> None:
    (tmp_path / "mine.cu").write_bytes(content)
    done = CliRunner().invoke(main, ["claim", str(tmp_path / "mine.cu"), "--op", "softmax"])
    assert done.exit_code == 2
    assert re.fullmatch(rf"(Error: )?.*mine\.cu: {reported}\n", done.stderr), done.stderr


def test_a_template_of_several_numbers_is_not_guessed(tmp_path: Path) -> None:
    """One that has threads and vectors was taken to have as many vectors as threads: minutes of compiling."""
    with pytest.raises(ClaimError, match=r"several numbers \(int THREADS, .*int VECTORS\); write a claim that"):
        guessed(tmp_path / "mine.cu", bare(KERNELS / "layer_norm" / "block_in_registers.cu"), "layer_norm")


@pytest.mark.slow
def test_a_file_that_does_not_compile_is_not_asked_for_a_claim(tmp_path: Path) -> None:
    source = "__global__ void softmax(float *y, const float *x, int cols) { y[0] = x[0] + undeclared; }"
    with pytest.raises(ClaimError, match=r"mine\.cu: it does not run: .*mine\.cu:1:\d+: error: .undeclared. was not"):
        guessed(tmp_path / "mine.cu", source, "softmax")


def test_several_kernels_and_an_unknown_op_are_reported(tmp_path: Path) -> None:
    two = bare(KERNELS / "reduce" / "max_sum_grid.cu")
    with pytest.raises(ClaimError, match=r"2 kernels \(reduce_max, reduce_blocks\); write a claim that"):
        guessed(tmp_path / "mine.cu", two, "max_sum")
    with pytest.raises(ClaimError, match="its names do not tell its op: name it with --op"):
        guessed(tmp_path / "mine.cu", "__global__ void f(float *y) {}", None)
