"""A kernel file is read, or refused in one line: file, line, key = value, the mistake, the allowed values."""

import os
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kfuzz.claims.kernel import KERNELS, check_corners, load, read
from kfuzz.claims.language.kernel_file import parse
from kfuzz.devices import ClaimError
from kfuzz.oracle.accuracy.rounding import EXPF, FAST_EXPF, ExpModel
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.ui.targets.project import kernels_below

GOOD = """\
// Softmax of each row, one thread a row.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..65535", cols = "1..4096" }
// tune   = { threads = [32, 64] }
// let    = { chunks = "ceil_div(cols, threads)" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y", part = "f32[chunks]" }
//
// [accuracy]
// adds = "chunks + 5"
//
// [[launch]]
// entry = "softmax"
// grid  = "rows"
// block = "threads"
// args  = ["y", "x", "part", "cols"]
// ///

__global__ void softmax(float *y, const float *x, float *part, int cols) {}
"""

LAUNCH = '// args  = ["y", "x", "part", "cols"]\n'
END = "// ///\n\n__global__ void softmax(float *y"


def write_kernel(folder: Path, text: str, name: str = "mine.cu") -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def complaint(folder: Path, text: str, name: str = "mine.cu") -> str:
    path = write_kernel(folder, text, name)
    with pytest.raises(ClaimError) as error:
        load(path)
    return str(error.value).replace(str(folder), "").replace("../", "").lstrip("/")


def replaced(*changes: tuple[str, str]) -> str:
    text = GOOD
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


ADDS = 'adds = "chunks + 5"'
TABLE = f"[accuracy]\n// {ADDS}"
CHUNKS = '"ceil_div(cols, threads)"'
PART = '"f32[chunks]"'
ENTRY = '// entry = "softmax"'
NAMED = GOOD.partition(f"{ENTRY}\n")[2]
SECOND = "__global__ void other() {}\n"
GRID = 'grid  = "rows"'

MISTAKES = [
    # (id, what is changed, the line of the complaint, what it says)
    (
        "other-bits-in-no-batch",
        (TABLE, f"[claims]\n// batch_invariant = true\n// deterministic = false\n//\n// {TABLE}"),
        12,
        "claims.deterministic = false: batch_invariant = true includes deterministic = true",
    ),
    ("unknown-op", ('"softmax"\n// axes', '"softmaxx"\n// axes'), 4, 'op = "softmaxx": unknown op, did you mean'),
    ("op-no-string", ('"softmax"\n// axes', "3\n// axes"), 4, "op = 3: expected the name of an op"),
    ("missing-op", ('// op     = "softmax"\n', ""), 3, 'op: missing; write for example op = "softmax"'),
    ("missing-axes", ('// axes   = { rows = "1..65535", cols = "1..4096" }\n', ""), 3, "axes: missing"),
    ("missing-arrays", ("// arrays =", "// array ="), 8, "array = {"),
    ("missing-launch", ("// [[launch]]", "// [unused]"), 13, "unused = {"),
    ("unknown-key", ("// tune ", "// tunes "), 6, "unknown key, did you mean 'tune'?; known here are op, axes, tune"),
    ("unknown-launch-key", ("// grid ", "// gird "), 15, 'launch.gird = "rows": unknown key, did you mean \'grid\'?'),
    ("unknown-accuracy-key", ("// adds =", "// add ="), 11, 'accuracy.add = "chunks + 5": unknown key, did you mean'),
    ("accuracy-no-table", ("// [accuracy]\n// adds = ", "// accuracy = "), 10, 'accuracy = "chunks + 5": a table is e'),
    ("range-no-numbers", ('"1..65535"', '"1..x"'), 5, 'axes.rows = "1..x": an axis is "lo..hi"'),
    ("range-negative", ('"1..65535"', '"-1..5"'), 5, 'axes.rows = "-1..5": an axis is "lo..hi"'),
    ("range-a-number", ('"1..65535"', "5"), 5, 'axes.rows = 5: an axis is "lo..hi"'),
    ("range-backwards", ('"1..65535"', '"9..5"'), 5, "the least size 9 is above the greatest, 5"),
    ("multiple-zero", ('"1..65535"', "{ min = 4, max = 8, multiple = 0 }"), 5, "multiple = 0; a multiple is at least"),
    ("multiple-not-dividing", ('"1..65535"', "{ min = 4, max = 9, multiple = 4 }"), 5, "9 is no multiple of 4; the ne"),
    ("min-missing", ('"1..65535"', "{ max = 9 }"), 5, "axes.rows = { max = 9 }: an axis is"),
    ("axis-key", ('"1..65535"', "{ min = 1, max = 9, step = 2 }"), 5, "axes.rows.step = 2: unknown key"),
    ("name-twice", ("tune   = { threads", "tune   = { rows = [1], threads"), 6, "'rows' is already in axes"),
    ("name-is-array", ("{ chunks = ", "{ y = 1, chunks = "), 8, "'y' is already in let; a name means one thing"),
    ("no-identifier", ("{ chunks = ", '{ "1st" = 1, chunks = '), 7, "'1st' is no name: letters, digits and _"),
    ("reserved", ("{ chunks = ", "{ min = 1, chunks = "), 7, "'min' has a meaning in expressions"),
    ("python-keyword", ("{ chunks = ", "{ lambda = 1, chunks = "), 7, "'lambda' has a meaning in expressions"),
    ("tune-empty", ("[32, 64]", "[]"), 6, "tune.threads = []: an empty list leaves no way to launch"),
    ("tune-a-number", ("[32, 64]", "32"), 6, "tune.threads = 32: a list of integers"),
    ("tune-strings", ("[32, 64]", '["32"]'), 6, 'tune.threads = ["32"]: a list of integers'),
    ("tune-bool", ("[32, 64]", "[true]"), 6, "tune.threads = [true]: a list of integers"),
    ("tune-twice", ("[32, 64]", "[32, 32]"), 6, "tune.threads = [32, 32]: a value occurs twice"),
    ("let-syntax", (CHUNKS, '"ceil_div(cols"'), 7, 'let.chunks = "ceil_div(cols": no expression'),
    ("let-list", (CHUNKS, "[1]"), 7, "let.chunks = [1]: an integer or an expression"),
    ("let-forbidden", (CHUNKS, '"cols ** 2"'), 7, "'cols ** 2' is not allowed; allowed are"),
    ("let-cyclic", ("{ chunks = ", '{ a = "b", b = "a", chunks = '), 7, "goes in a circle: "),
    ("let-of-itself", (CHUNKS, '"chunks + 1"'), 7, "goes in a circle: chunks needs chunks"),
    ("let-by-zero", (CHUNKS, '"cols / (threads - 32)"'), 7, "divides by zero for cols=1 threads=32"),
    ("let-endless", (CHUNKS, '"9000000000000000000 * cols"'), 7, "beyond 63 bits for cols=4096"),
    ("unknown-name", (GRID, 'grid  = "rowz"'), 15, "unknown name 'rowz', did you mean 'rows'?; this claim has"),
    ("array-syntax", (PART, '"f32 chunks"'), 8, 'arrays.part = "f32 chunks": no array; write "f32[shape]'),
    ("array-list", (PART, "[1]"), 8, "arrays.part = [1]: no array"),
    ("element", (PART, '"f31[chunks]"'), 8, "unknown element type 'f31'; known are f32, f64, f16, bf16, i32"),
    ("no-shape", (PART, '"f32[]"'), 8, "a shape has at least one dimension; write [1]"),
    ("negative-shape", (PART, '"f32[1 - chunks]"'), 8, "shape [-127] at rows=1 cols=4096 threads=32 chunks=128"),
    ("fill-too-large", (PART, '"u32[chunks] = -1"'), 8, "a fill of u32 is an integer from 0 to 4294967295"),
    ("fill-behind-its-role", ("<- y", "<- y = 0"), 8, 'what the host fills is "u32[1] = 0" or "f32[shape] = -inf <-'),
    ("fill-of-input", ("-> x", "= 0 -> x"), 8, "an input holds what the case says; leave out '= ...' or the role"),
    ("wrong-role", ("-> x", "-> z"), 8, "'-> z' is no role of this op; softmax has -> x, <- y"),
    ("wrong-direction", ("<- y", "-> y"), 8, "'-> y' is no role of this op; softmax has -> x, <- y"),
    ("role-twice", ('part = "f32[chunks]', 'part = "f32[rows, cols] <- y'), 8, "'<- y' is the role of 'y' already"),
    ("missing-input", ("f32[rows, cols] -> x", "f32[rows, cols]"), 8, "no array has the role '-> x'; softmax has -> x"),
    ("missing-output", ("f32[rows, cols] <- y", "f32[rows, cols]"), 8, "no array has the role '<- y'"),
    ("role-of-ints", ("f32[rows, cols] <- y", "i32[rows, cols] <- y"), 8, "'y' of softmax is f32 or f64"),
    ("rank", ("f32[rows, cols] <- y", "f32[rows, cols, 1] <- y"), 8, "3 dimensions; 'y' of softmax is [rows, cols] or"),
    ("transposed", ("f32[rows, cols] <- y", "f32[cols, rows] <- y"), 8, "'y' of softmax is [rows, cols]; rows is 1 el"),
    ("input-by-tune", ("f32[rows, cols] -> x", "f32[rows, threads] -> x"), 8, "made of axes and integers alone; 'thre"),
    ("axis-unbound", ('rows = "1..65535"', 'rows = "1..65535", z = "1..2"'), 5, "'z' is no dimension of an input"),
    ("no-array", ("// op  ", '// align = "4"\n// op  '), 4, 'align = "4": an integer is expected: a power of two'),
    ("align-odd", ("// op  ", "// align = 12\n// op  "), 4, "align = 12: a power of two from 4"),
    ("align-small", ("// op  ", "// align = 2\n// op  "), 4, "align = 2: a power of two from 4"),
    ("single-brackets", ("// [[launch]]", "// [launch]"), 13, "write a launch under [[launch]], in double brackets"),
    ("missing-entry", (f"{ENTRY}\n{NAMED}", NAMED + SECOND), 13, "launch.entry: missing; write for example entry ="),
    ("entry-a-number", (ENTRY, "// entry = 3"), 14, "launch.entry = 3: the name of a __global__ function"),
    ("entry-not-there", (ENTRY, '// entry = "softmin"'), 14, "no such __global__ function in the source; it has softm"),
    ("entry-hole", (ENTRY, '// entry = "softmax<{rows}>"'), 14, "'{rows}' has more than 16 values"),
    ("missing-grid", ('// grid  = "rows"\n', ""), 13, 'launch.grid: missing; write for example grid = "rows"'),
    ("grid-four", (GRID, 'grid  = "1, 1, 1, rows"'), 15, "4 dimensions; a grid has one, two or three"),
    ("grid-list", (GRID, 'grid  = ["rows"]'), 15, "one to three expressions are wanted, in one string"),
    ("grid-empty", (GRID, 'grid  = ""'), 15, "0 dimensions; a grid has"),
    ("grid-zero", (GRID, 'grid  = "rows - 1"'), 15, "x is 0 at rows=1"),
    ("grid-y", (GRID, 'grid  = "1, rows * 2"'), 15, "y is 131070 at rows=65535 cols=1 threads=32 chunks=1; it is 1"),
    ("block-too-large", ('block = "threads"', 'block = "threads, 32"'), 16, "2048 threads at rows=1 cols=1 threads=64"),
    ("block-zero", ('block = "threads"', 'block = "threads - 32"'), 16, "x is 0 at"),
    ("shared-too-large", (LAUNCH, '// shared = "4 * cols * threads"\n' + LAUNCH), 17, "bytes at rows=1 cols=4096 thre"),
    ("shared-negative", (LAUNCH, "// shared = -4\n" + LAUNCH), 17, "launch.shared = -4: -4 bytes at"),
    ("when-a-number", (LAUNCH, '// when = "cols"\n' + LAUNCH), 17, "'cols' is a number, where a condition"),
    ("when-bool", (LAUNCH, "// when = true\n" + LAUNCH), 17, "launch.when = true: a condition in quotes"),
    ("when-gap", (LAUNCH, '// when = "cols != 100"\n' + LAUNCH), 8, "no launch takes 'y' at rows=1 cols=100"),
    ("missing-args", (LAUNCH + END, END.replace("*y", "*out")), 13, "launch.args: missing, and 'out' of softmax is"),
    ("missing-args-unnamed", (LAUNCH + END, END.replace("*y", "*")), 13, "launch.args: missing, and '' of softmax"),
    ("entry-unknown-name", (ENTRY, '// entry = "softmax<{rowz}>"'), 14, "unknown name 'rowz', did you mean 'rows'"),
    ("entry-many-values", (ENTRY, '// entry = "softmax<{chunks}>"'), 14, "(this claim has threads), or a conditional"),
    ("let-no-condition", ('"ceil_div(cols, threads)"', '"64 if rows else 1"'), 7, "'rows' is a number, where a cond"),
    ("when-of-number-let", (LAUNCH, '// when = "chunks"\n' + LAUNCH), 17, "'chunks' is a number, where a condition"),
    ("args-a-string", (LAUNCH, '// args = "y"\n'), 17, "a list of names is expected"),
    ("args-unknown", ('"part", "cols"]', '"part", "colz"]'), 17, "'colz' is no array, no size and no literal;"),
    ("args-sum", ('"part", "cols"]', '"part", "4 + 1"]'), 17, "'4 + 1' is no array, no size and no literal"),
    ("args-list", ('"part", "cols"]', '"part", ["cols"]]'), 17, "is no array, no size and no literal"),
    ("args-too-few", (', "cols"]', "]"), 17, "3 given; softmax takes 4: (float *y, const float *x, float *part, int c"),
    ("args-swapped", ('"part", "cols"]', '"cols", "part"]'), 17, "'cols' is a size; the parameter is 'float *part'"),
    ("args-width", (PART, '"f64[chunks]"'), 17, "'part' is an array of f64; the parameter is 'float *part'"),
    ("args-pointer", ("int cols)", "int *cols)"), 17, "'cols' is a size; the parameter is 'int *cols'"),
    ("adds-list", (ADDS, "adds = []"), 11, "accuracy.adds = []: an integer or an expression"),
    ("adds-negative", (ADDS, 'adds = "5 - chunks"'), 11, "-123 at rows=1 cols=4096 threads=32 chunks=128; a count is"),
    ("exp-unknown", (ADDS, 'exp = "exp2f"'), 11, 'accuracy.exp = "exp2f": "expf", "__expf", "exp2 scaled", '),
    ("exp-short", (ADDS, "exp = [5]"), 11, "accuracy.exp = [5]: "),
    ("exp-too-exact", (ADDS, "exp = [0.5, 0]"), 11, "accuracy.exp = [0.5, 0]: "),
    ("exp-nan", (ADDS, "exp = [5, nan]"), 11, "accuracy.exp = "),
    ("exp-huge", (ADDS, "exp = [1" + "0" * 400 + ", 0]"), 11, "accuracy.exp = "),
    ("exp-fast", (ADDS, 'exp = "expf"\n// flags = ["-use_fast_math"]'), 11, "every expf is compiled as __expf"),
    ("divide", (ADDS, 'divide = "exact"'), 11, "one of ieee, reciprocal, fast, fast reciprocal is expected"),
    ("divide-fast", (ADDS, 'divide = "ieee"\n// flags = ["-prec-div=false"]'), 11, "make every division a fast"),
    ("promote", (ADDS, "promote = 100"), 11, "a multiple of 32 is expected"),
    ("promotes floats", (ADDS, "promote = 64"), 11, 'only sums by accumulate = "mma fp8" are promoted'),
    ("accumulate", (ADDS, 'accumulate = "double"'), 11, "one of f32, f64, compensated, f16, bf16, mma, mma fp8, i32"),
    ("accumulates x", (ADDS, 'accumulate = { x = "bf16" }'), 11, "the formula has no sum of this name"),
    ("accumulates by mma", (ADDS, 'accumulate = { sum = "mma" }'), 11, "one of f32, f64, compensated, f16, bf16"),
    ("denominator", (ADDS, 'denominator = "block"'), 11, "one of row, element is expected"),
    ("shift", (ADDS, 'shift = "max"'), 11, "one of any, running max, zero is expected"),
    ("shift-slack", (ADDS, 'shift = "zero"\n// shift_slack = 80'), 11, 'with "zero" there is no shift_slack'),
    ("shift-rescales", (ADDS, 'shift = "zero"\n// rescales = 1'), 11, '"zero" is never rescaled'),
    ("slack-far", (ADDS, "shift_slack = 105"), 11, "a number from 0 to 104"),
    ("slack", (ADDS, "shift_slack = -1"), 11, "accuracy.shift_slack = -1: a number from 0"),
    ("flags-string", (ADDS, 'flags = "-use_fast_math"'), 11, "a list of strings is expected, such as"),
    ("flags-numbers", (ADDS, "flags = [3]"), 11, "accuracy.flags = [3]: a list of strings"),
    ("flags-unknown", (ADDS, 'flags = ["-ffast-math"]'), 11, "'-ffast-math' is not known to every device; known are"),
    ("values-key", (TABLE, "[values]\n// infinite = 1"), 11, "values.infinite = 1: unknown key, did you"),
    ("finite", (TABLE, "[values]\n// finite = 1"), 11, "values.finite = 1: true or false is expected"),
    ("range", (TABLE, "[values]\n// range = [-80]"), 11, "two finite float32 numbers are wanted"),
    ("range-inf", (TABLE, "[values]\n// range = [-inf, 80]"), 11, "two finite float32 numbers are wanted"),
    ("range-order", (TABLE, "[values]\n// range = [80, -80]"), 11, "80 is not below the greatest, -80"),
    ("all-neg-inf", (TABLE, '[values]\n// all_neg_inf = "inf"'), 11, "one of nan, zero is expected"),
    ("nan", (TABLE, '[values]\n// nan = "any"'), 11, "one of row, ieee, ignore, propagate is expected"),
    ("contradiction", (TABLE, '[values]\n// finite = true\n// all_neg_inf = "zero"'), 12, "such a row is not claimed"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "line", "said"), [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES])
def test_a_mistake_is_one_line_that_names_where_and_what(
    tmp_path: Path, change: tuple[str, str], line: int, said: str
) -> None:
    found = complaint(tmp_path, replaced(change))
    assert found.startswith(f"mine.cu:{line}: ")
    assert said in found
    assert "\n" not in found


def test_the_only_function_is_the_entry_and_its_parameters_by_their_names_the_arguments(tmp_path: Path) -> None:
    text = replaced((f"{ENTRY}\n", ""), (LAUNCH, ""), ("float *part, int cols", "float * __restrict__ part, int cols"))
    (launch,) = load(write_kernel(tmp_path, text)).launches
    assert (launch.entry, launch.args) == ("softmax", ("y", "x", "part", "cols"))


def test_a_condition_of_let_chooses_launches_and_template_arguments(tmp_path: Path) -> None:
    text = replaced(
        ("[[launch]]\n", '[[launch]]\n// when  = "is_short or cols > 2000"\n'),
        ("let    = {", 'let    = { is_short = "cols <= 100", lanes = "1 if is_short else threads / 2",'),
        ('"softmax"\n// grid', '"softmax<{lanes}, {2 if cols > 3000 else 3}>"\n// grid'),
        (
            LAUNCH,
            LAUNCH
            + '//\n// [[launch]]\n// when = "100 < cols <= 2000"\n// entry = "softmax"\n// grid = 1\n// block = 1\n',
        ),
    )
    kernel = load(write_kernel(tmp_path, text))
    assert set(kernel.entries) == {
        "softmax<1, 3>", "softmax<16, 2>", "softmax<16, 3>", "softmax<32, 2>", "softmax<32, 3>", "softmax",
    }  # fmt: skip
    for cols, entry in ((100, "softmax<1, 3>"), (101, "softmax"), (3000, "softmax<32, 3>"), (3001, "softmax<32, 2>")):
        sizes = kernel.sizes({"rows": 1, "cols": cols}, {"threads": 64})
        assert [one.entry_for(sizes) for one in kernel.launches if one.is_made(sizes)] == [entry]


def test_the_sizes_beside_a_number_of_a_condition_are_tried_when_the_claim_is_loaded(tmp_path: Path) -> None:
    change = (
        ("[[launch]]\n", '[[launch]]\n// when  = "is_taken"\n'),
        ("let    = {", 'let    = { is_taken = "cols != 100",'),
    )
    assert "no launch takes 'y' at rows=1 cols=100" in complaint(tmp_path, replaced(*change))


def test_a_claim_is_checked_at_its_corners_once_for_all_files_that_claim_the_same_sizes(tmp_path: Path) -> None:
    before = check_corners.cache_info().misses
    load(write_kernel(tmp_path, replaced(("1..4096", "1..4093"))))
    load(write_kernel(tmp_path, replaced(("1..4096", "1..4093"), ("int cols) {}", "int cols) { }")), "edited.cu"))
    assert check_corners.cache_info().misses == before + 1
    contradiction = ('part = "f32[chunks]"', 'part = "f32[4093 - cols]"')
    with pytest.raises(ClaimError, match=r"other\.cu:8: .* cols=4095"):
        load(write_kernel(tmp_path, replaced(("1..4096", "1..4095"), contradiction), "other.cu"))


def test_a_mistake_in_a_list_of_launches_names_its_line(tmp_path: Path) -> None:
    launch = GOOD[GOOD.index("// [[launch]]") : GOOD.index("// ///\n\n__global__")]
    rows = [f'//   {{ entry = "softmax", grid = "{grid}", block = "threads" }},\n' for grid in ("rows", "rowz")]
    text = GOOD.replace(launch, "").replace(
        "//\n// [accuracy]", f"// launch = [\n{''.join(rows)}// ]\n//\n// [accuracy]"
    )
    assert complaint(tmp_path, text).startswith("mine.cu:11: launch[2].grid = \"rowz\": unknown name 'rowz'")


def test_a_state_is_relative_to_its_maximum(tmp_path: Path) -> None:
    states = (KERNELS / "reduce" / "max_sum_grid.cu").read_text(encoding="utf-8")
    said = complaint(tmp_path, states.replace('shift    = "running max"', 'shift    = "zero"'))
    assert (
        said == 'mine.cu:24: accuracy.shift = "zero": "zero" is for softmax alone; '
        "a (max, sum) state is relative to its maximum"
    )


def test_sizes_that_no_c_int_holds_are_no_arguments(tmp_path: Path) -> None:
    text = replaced(('"ceil_div(cols, threads)"', '"rows * cols * 9"'), ('"part", "cols"]', '"part", "chunks"]'))
    assert "'chunks' is 2415882240 at rows=65535 cols=4096" in complaint(tmp_path, text)


def test_an_array_that_no_launch_takes_is_a_mistake(tmp_path: Path) -> None:
    text = replaced((', "part", "cols"]', "]"), (", float *part, int cols", ""))
    assert complaint(tmp_path, text).startswith("mine.cu:8: arrays.part = \"f32[chunks]\": no launch takes 'part'")


def test_a_mistake_in_the_second_launch_is_found_there(tmp_path: Path) -> None:
    second = '//\n// [[launch]]\n// entry = "softmax"\n// grid = "rowz"\n// block = 32\n' + LAUNCH
    found = complaint(tmp_path, replaced((LAUNCH, LAUNCH + second)))
    assert found.startswith("mine.cu:21: launch[2].grid = \"rowz\": unknown name 'rowz'")


def test_the_error_for_a_file_without_front_matter_shows_how_to_write_one(tmp_path: Path) -> None:
    found = complaint(tmp_path, "__global__ void f() {}\n")
    assert found.startswith("mine.cu:1: no front matter: a kernel file carries its claim in comments between '// ///")
    assert "kfuzz show --template" in found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("// ///\n", ""), "mine.cu:3: '// /// kernel' is never closed; end the front matter with a line '// ///'"),
        (("// op ", "   op "), 'mine.cu:4: "   op     = \\"softmax\\"": inside the front matter every line starts'),
        (("// op ", "//op "), "mine.cu:4: "),
        (("// tune   = {", "// tune   = "), "mine.cu:6: broken TOML: "),
        (("// tune   =", "// axes   ="), "mine.cu:6: broken TOML: cannot overwrite a value"),
        (('"softmax"\n// axes', '"softmax\n// axes'), "mine.cu:4: broken TOML: "),
        (("[32, 64]", "[" * 5000), "broken TOML: "),
        (("[32, 64]", "[1" + "0" * 5000 + "]"), "broken TOML: "),
        (("// ///\n", "// x = [1,\n// ///\n"), "mine.cu:18: broken TOML: "),
        (("// ///\n", "//\n" * 400 + "// ///\n"), "mine.cu:3: front matter of 414 lines; at most 400"),
        (
            ("// op ", f"// {'a.' * 30000}a = 1\n// op "),
            "mine.cu:4: a key of more than 8 dots; a claim's keys have two",
        ),
        (
            ("// op ", "// ['a'.b.\"c\". d .e.f.g.h.i.j]\n// op "),
            "mine.cu:4: a key of more than 8 dots; a claim's keys",
        ),
        (("// ///\n", "// ///\n// /// kernel\n// ///\n"), "mine.cu:19: a second '// /// kernel'"),
    ],
)
def test_front_matter_that_cannot_be_read_names_its_line(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    assert said in complaint(tmp_path, replaced(change))


def test_a_file_that_is_not_there_or_no_text_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ClaimError, match=r"none\.cu: cannot be read: No such file or directory$"):
        load(tmp_path / "none.cu")
    (tmp_path / "bytes.cu").write_bytes(b"// \xff\n")
    with pytest.raises(ClaimError, match=r"bytes\.cu: is no UTF-8 text \(byte 3\)$"):
        load(tmp_path / "bytes.cu")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("// /// kernel", "///kernel"), ("// /// kernel", "// ///kernel"), ("// /// kernel", "/// kernel"),
        ("// /// kernel", "//  ///  kernel"), ("// /// kernel", "/* /// kernel"), ("// ///\n", "/// */\n"),
        ("// ///\n", "///\n"), ("// ///\n", "*/\n"),
    ],
)  # fmt: skip
def test_a_fence_that_was_meant_is_named(tmp_path: Path, old: str, new: str) -> None:
    """Such a file was none at all to whoever asked for the kernels of a folder."""
    at = GOOD.rindex(old) if old.endswith("\n") else GOOD.index(old)
    said = complaint(tmp_path, GOOD[:at] + new + GOOD[at + len(old) :])
    assert "did you mean '// ///" in said
    assert "not in /* */" in said
    assert len(kernels_below(tmp_path).faults) == 1


def test_our_folder_of_broken_kernels_holds_only_those_that_say_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ClaimError, match="missing in our folder of broken kernels"):
        read(parse(KERNELS / "broken" / "new.cu", GOOD))
    where = "broken/mine.cu"
    assert load(write_kernel(tmp_path, GOOD, where)).broken is None  # the name of a user's folder means nothing
    for table, said in (
        (
            '// kind = "slow"\n// why = "so"\n',
            'broken.kind = "slow": unknown kind; known are absent-rows, batch-variant, ',
        ),
        ('// kind = "race"\n', "broken.why: missing"),
        ('// kind = "race"\n// severity = "bad"\n', 'broken.severity = "bad": expected one of error, warning'),
        ('// kind = "race"\n// why = ""\n', 'broken.why = "": a sentence that says what is wrong is expected'),
        ('// kind = "race"\n// why = "so"\n// who = 1\n', "broken.who = 1: unknown key, did you mean 'why'?"),
    ):
        assert said in complaint(tmp_path, replaced(("// [[launch]]", f"// [broken]\n{table}// [[launch]]")), where)
    good = replaced(("// [[launch]]", '// [broken]\n// kind = "race"\n// why = "so"\n// [[launch]]'))
    broken = load(write_kernel(tmp_path, good, where)).broken
    assert broken is not None
    assert (broken.kind, broken.severity, broken.why) == ("race", "error", "so")


def test_an_array_may_have_a_name_that_means_something_in_expressions(tmp_path: Path) -> None:
    text = GOOD.replace("{ x = ", "{ in = ").replace('"x"', '"in"')
    assert next(iter(load(write_kernel(tmp_path, text)).arrays)) == "in"


def test_a_good_file_is_read_whole(tmp_path: Path) -> None:
    kernel = load(write_kernel(tmp_path, GOOD))
    assert (kernel.name, kernel.op) == ("mine", "softmax")
    assert kernel.prose == "Softmax of each row, one thread a row."
    assert kernel.source == GOOD
    assert str(kernel.axes["cols"]) == "1..4096"
    assert kernel.tune == {"threads": (32, 64)}
    assert [str(array) for array in kernel.arrays.values()] == [
        "f32[rows, cols] -> x",
        "f32[rows, cols] <- y",
        "f32[chunks]",
    ]
    assert kernel.align == 256
    assert kernel.broken is None


def test_what_a_claim_leaves_out_is_the_loosest_sound_reading(tmp_path: Path) -> None:
    kernel = load(write_kernel(tmp_path, replaced(('// [accuracy]\n// adds = "chunks + 5"\n', ""))))
    accuracy = kernel.accuracy(kernel.sizes({"rows": 1, "cols": 5}, {"threads": 32}))
    assert (accuracy.adds, accuracy.rescales, accuracy.exp, accuracy.divide) == (None, None, EXPF, "reciprocal")
    assert (kernel.special, kernel.finite, kernel.value_range) == (Special(), False, None)


@pytest.mark.parametrize(
    ("said", "exp", "divide", "ftz"),
    [
        ('flags = ["-use_fast_math"]', FAST_EXPF, "fast reciprocal", True),
        ('flags = ["-use_fast_math"]\n// divide = "fast"', FAST_EXPF, "fast", True),
        ('flags = ["--use_fast_math", "-ftz=false"]', FAST_EXPF, "fast reciprocal", False),
        ('flags = ["-use_fast_math", "--prec-div=true"]', FAST_EXPF, "reciprocal", True),
        ('flags = ["-ftz=true"]', EXPF, "reciprocal", True),
        ('flags = ["-prec-div=false"]', EXPF, "fast reciprocal", False),
        ('flags = ["-DTILE=4", "-std=c++20"]', EXPF, "reciprocal", False),
        ('exp = "__expf"\n// divide = "ieee"', FAST_EXPF, "ieee", False),
        ("exp = [2.56, 0]", ExpModel(2.56, 0.0), "reciprocal", False),
    ],
)
def test_compiler_flags_are_part_of_the_rounding(
    tmp_path: Path, said: str, exp: ExpModel, divide: str, ftz: bool
) -> None:
    kernel = load(write_kernel(tmp_path, replaced(('adds = "chunks + 5"', said))))
    accuracy = kernel.accuracy(kernel.sizes({"rows": 1, "cols": 5}, {"threads": 32}))
    assert (accuracy.exp, accuracy.divide, accuracy.ftz) == (exp, divide, ftz)


def test_a_claim_has_the_functions_of_its_flags_unless_it_names_others(tmp_path: Path) -> None:
    """nvcc 13.0 compiles tanhf as tanh.approx.f32 under -use_fast_math: claims had 5 units of u for it, not 8192."""
    text = (
        '// /// kernel\n// op = "gelu_tanh"\n// axes = { n = "1..32" }\n'
        '// arrays = { x = "f32[n] -> x", y = "f32[n] <- y" }\n'
        '// launch = [{ entry = "gelu", grid = "1", block = "32", args = ["y", "x"] }]\n//\n'
        "// [accuracy]\n// flags = FLAGS\n// ///\n__global__ void gelu(float *y, const float *x) {}\n"
    )
    units = []
    for said in ('["-use_fast_math"]', '["-use_fast_math"]\n// functions = { tanh = "tanhf" }', '["-ftz=true"]'):
        kernel = load(write_kernel(tmp_path, text.replace("FLAGS", said)))
        units.append(kernel.rounding.models.function("tanh").a0)
    assert units == [8192.0, 5.0, 5.0]


def test_values_say_which_inputs_are_claimed(tmp_path: Path) -> None:
    said = '[values]\n// range = [-80, 80]\n// nan = "row"\n// pos_inf = "ieee"\n// all_neg_inf = "zero"'
    kernel = load(write_kernel(tmp_path, replaced(('[accuracy]\n// adds = "chunks + 5"', said))))
    assert kernel.special == Special(all_neg_inf="zero", nan="row", pos_inf="ieee")
    assert kernel.value_range == (-80.0, 80.0)
    assert not kernel.finite


def test_a_claim_that_leaves_nan_out_is_refused_for_an_op_that_has_no_answer_then(tmp_path: Path) -> None:
    said = '[values]\n// nan = "ignore"'
    with pytest.raises(
        ClaimError, match=r'\.cu:\d+: values\.nan = "ignore": row or ieee or propagate is expected; a NaN cannot'
    ):
        load(write_kernel(tmp_path, replaced(('[accuracy]\n// adds = "chunks + 5"', said))))


def test_lets_may_stand_in_any_order(tmp_path: Path) -> None:
    text = replaced(("{ chunks = ", '{ twice = "2 * half", half = "chunks / 2", chunks = '))
    kernel = load(write_kernel(tmp_path, text))
    sizes = kernel.sizes({"rows": 1, "cols": 100}, {"threads": 32})
    assert (sizes["chunks"], sizes["half"], sizes["twice"]) == (4, 2, 4)


def test_windows_line_ends_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_bytes(GOOD.replace("\n", "\r\n").encode())
    assert load(path).op == "softmax"


def test_a_byte_order_mark_is_no_part_of_a_kernel(tmp_path: Path) -> None:
    text = (KERNELS / "softmax" / "online_block.cu").read_text(encoding="utf-8")
    marked = tmp_path / "marked.cu"
    marked.write_text(text, encoding="utf-8-sig")
    assert load(marked).source == text
    marked.write_text(text[text.index("// /// kernel") :], encoding="utf-8-sig")
    assert load(marked).op == "softmax"
    assert [kernel.name for kernel in kernels_below(tmp_path).usable] == ["marked"]


def test_what_is_no_kernel_file_at_all_is_one_line_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.cu")
    with pytest.raises(ClaimError, match=r"pipe\.cu: not a regular file"):
        load(tmp_path / "pipe.cu")
    with (tmp_path / "large.cu").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(ClaimError, match=r"large\.cu: 1073741824 bytes; at most 16777216 are read"):
        load(tmp_path / "large.cu")
    values = ", ".join(map(str, range(1, 1_000_001)))
    wide = write_kernel(tmp_path, replaced(("[32, 64]", f"[{values}]")))
    with pytest.raises(ClaimError, match="characters; at most 65536"):
        load(wide)
    wide.unlink()
    assert kernels_below(tmp_path).usable == ()


def test_a_kernel_travels_to_another_process(tmp_path: Path) -> None:
    kernel = load(write_kernel(tmp_path, GOOD))
    assert pickle.loads(pickle.dumps(kernel)) == kernel  # noqa: S301  our own bytes


PIECES = st.sampled_from(
    ["", '"', "[", "]", "{", "}", "=", "\n", "\n// ", "// ///", "->", "<-", "-", "0", "rows", "é", "\0"]
)


@pytest.mark.slow
@given(st.integers(0, len(GOOD)), st.integers(0, 12), PIECES | st.text(max_size=4))
def test_a_damaged_file_is_read_or_refused_in_one_line(start: int, length: int, piece: str) -> None:
    damaged = GOOD[:start] + piece + GOOD[start + length :]
    said = ""
    try:
        read(parse(Path("mine.cu"), damaged))
    except ClaimError as error:
        said = str(error)
    assert "\n" not in said
    assert said.startswith("mine.cu:") or not said
