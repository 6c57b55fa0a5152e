"""What is proposed for a claim: formulas that no count is above, a claim that is kept, and why where there is none."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from kfuzz.claiming.formula import CountFormula, Point, fitted
from kfuzz.claiming.text import claim_of, with_tables
from kfuzz.claims import expression
from kfuzz.claims.kernel import KERNELS, load
from kfuzz.commands.group import main
from kfuzz.find.template import template

SIZES = [
    {"cols": cols, "threads": threads}
    for cols in (1, 2, 3, 5, 8, 31, 32, 33, 64, 100, 129, 300, 513, 1025, 2049, 5003)
    for threads in (32, 64, 256, 1024)
]


def through(text: str) -> CountFormula:
    """What is fitted through the values of a formula."""
    wanted = expression.number(text, ("cols", "threads"))
    return fitted([Point(sizes, wanted(sizes)) for sizes in SIZES], ["cols"], ["threads"], [32])


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
    found = fitted(points, ["cols"], ["threads"], [32])
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


def claimed(folder: Path, source: str, *options: str) -> Result:
    path = folder / "mine.cu"
    path.write_text(source)
    return CliRunner().invoke(main, ["claim", str(path), "--max-cases", "40", *options])


@pytest.mark.slow
def test_a_silent_claim_is_completed_and_kept(tmp_path: Path) -> None:
    source = template("row_sum")
    assert 'adds = "ceil_' in source
    silent = re.sub(r"// \[accuracy\].*?//\n", "", source, flags=re.DOTALL)
    result = claimed(tmp_path, silent)
    assert result.exit_code == 0, result.output
    fences = result.stdout[: result.stdout.index("// ///\n") + 8]
    assert re.search(r'^// adds = ".+"$', fences, re.MULTILINE), fences
    (tmp_path / "again.cu").write_text(fences + source[source.index("// ///\n") + 7 :])
    again = load(tmp_path / "again.cu")
    assert again.rounding.adds is not None
    assert again.rounding.adds.text == load(KERNELS / "reduce" / "warp_sum_down.cu").rounding.adds.text  # type: ignore[union-attr]  # it has one


@pytest.mark.slow
def test_a_kernel_that_is_wrong_whatever_it_claims_is_told(tmp_path: Path) -> None:
    result = claimed(tmp_path, template("row_sum").replace("value +=", "value = 2 * value +"))
    assert result.exit_code == 1, result.output
    assert "not kept" in result.stderr


@pytest.mark.slow
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


def test_a_claim_without_adds_is_told_how_much_tighter_it_could_be(tmp_path: Path) -> None:
    source = (KERNELS / "reduce" / "block_sum.cu").read_text()
    silent = re.sub(r"// \[accuracy\].*?//\n", "", source, flags=re.DOTALL)
    told = re.search(
        r"an error of (\S+) % passes; with adds = (\d+) .* errors of (\S+) % show", fuzzed(tmp_path, silent)
    )
    assert told
    passes, adds, shows = float(told[1]), int(told[2]), float(told[3])
    assert adds < 100  # of 1000 terms
    assert shows < passes / 2


def test_a_claim_with_adds_is_told_nothing(tmp_path: Path) -> None:
    assert "adds" not in fuzzed(tmp_path, (KERNELS / "reduce" / "block_sum.cu").read_text())
