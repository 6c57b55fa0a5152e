"""Strategies: they draw claimed, hostile and cheap values, and shrink to values that a person can read."""

import math
import pkgutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st
from our_kernels import every_kernel, our_kernel
from seldom import one_in

from kfuzz.campaign.schedule import LARGE, attempt_of, is_check, is_large
from kfuzz.campaign.trials.trial import unfit
from kfuzz.cases.plans import edges, plan, planners
from kfuzz.cases.plans.choose import seed_of, seeded_choices
from kfuzz.cases.plans.families import ROWS, RowPlan, with_nan
from kfuzz.cases.plans.large import full_grid, large_size
from kfuzz.cases.plans.loops import elements_per_thread, least_size, loops
from kfuzz.cases.plans.plan import Attempt
from kfuzz.cases.plans.planners.safe_merge import meetings, merge_inputs
from kfuzz.cases.plans.scale import LARGEST, MANY, Large
from kfuzz.cases.plans.sizes import elements
from kfuzz.cases.recipe import Recipe, bits_of, materialise
from kfuzz.claims.kernel import KERNELS as KERNELS_FOLDER
from kfuzz.claims.kernel import Kernel, load
from kfuzz.claims.language.axes import Axis
from kfuzz.oracle import op_names
from kfuzz.testing import attempts, cases, rows, sizes, values

KERNELS = every_kernel()
RIGHT = [kernel for kernel in KERNELS if kernel.broken is None]
"""Those that are wrong on purpose are planned for as these are."""
EVERY = one_in(3, RIGHT)
NAMES = [kernel.name for kernel in RIGHT]
VEC4 = next(kernel for kernel in KERNELS if kernel.name == "softmax/online_block_vec4")

RANGED = """// Exponentials without a shift.
//
// /// kernel
// op     = "softmax"
// axes   = { cols = { min = 4, max = 4096, multiple = 4 } }
// tune   = { threads = [32, 96] }
// arrays = { x = "f32[cols] -> x", y = "f32[cols] <- y" }
//
// [values]
// range  = [-80, 80]
// finite = true
//
// [[launch]]
// entry = "ranged"
// grid  = 1
// block = "threads"
// args  = ["y", "x", "cols"]
// ///
__global__ void ranged(float *y, const float *x, int cols) {}
"""


@pytest.fixture(scope="module")
def ranged(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    path = tmp_path_factory.mktemp("kernels") / "ranged.cu"
    path.write_text(RANGED)
    return load(path)


def minimal(kernel: Kernel, wanted) -> Attempt:  # noqa: ANN001  a predicate over attempts
    quick = settings(max_examples=2000, database=None, derandomize=True)
    return find(attempts(kernel), wanted, settings=quick)


def planned(kernel: Kernel, count: int, seed: int = 0) -> list[Attempt]:
    return [plan.plan(kernel, seeded_choices(seed_of(seed, kernel.name, index))) for index in range(count)]


@cache
def of_vec4() -> list[Attempt]:
    """Attempts of one kernel, most of what these tests would take: those that count how often something is drawn share
    them, and none changes one.
    """
    return planned(VEC4, 2000)


@pytest.mark.parametrize("kernel", EVERY, ids=NAMES)
def test_every_attempt_is_claimed(kernel: Kernel) -> None:
    for attempt in planned(kernel, 12):
        assert unfit(kernel, attempt.case) == ""
        assert all(attempt.tune[name] in values for name, values in kernel.tune.items())


def test_an_unclaimed_case_would_be_noticed(ranged: Kernel) -> None:
    other = planned(VEC4, 60)
    assert any("claims" in unfit(ranged, attempt.case) for attempt in other)


@pytest.mark.parametrize("kernel", EVERY, ids=NAMES)
def test_the_budget_is_kept(kernel: Kernel) -> None:
    for budget in (64, 4096):
        for index in range(12):
            attempt = plan.plan(kernel, seeded_choices(seed_of(1, kernel.name, index)), budget)
            least = elements(kernel, {name: axis.lo for name, axis in kernel.axes.items()}, attempt.tune)
            assert elements(kernel, kernel.axes_of(attempt.case.arrays), attempt.tune) <= max(budget, least)


def test_a_range_and_finiteness_are_respected(ranged: Kernel) -> None:
    every = [attempt.case.arrays["x"] for attempt in planned(ranged, 300)]
    numbers = [x[~np.isnan(x)] for x in every]
    assert all((abs(x) <= 80).all() for x in numbers)
    assert any((x == 80).any() for x in numbers)
    assert any((x == -80).any() for x in numbers)
    assert {x.shape[-1] % 4 for x in every} == {0}


@pytest.mark.slow
def test_nan_and_inf_are_tried_now_and_then_where_the_claim_is_silent() -> None:
    """Once in 32, half of it NaN: 2000 trials have 31 on average and fewer than 8 with chance 2e-7."""
    with_it = [np.isnan(a.case.arrays["x"]).any() for a in of_vec4() if not VEC4.special.nan]
    assert not with_it or 8 <= sum(with_it) <= 200


@pytest.mark.slow
def test_minus_infinity_shrinks_to_one_element() -> None:
    attempt = minimal(VEC4, lambda a: (a.case.arrays["x"] == -np.inf).any())
    assert str(attempt.case) == "softmax rows=1 cols=1; x: -inf"


@pytest.mark.slow
def test_a_length_shrinks_to_its_threshold() -> None:
    assert dict(minimal(VEC4, lambda a: a.case.axes["cols"] >= 33).case.axes) == {"rows": 1, "cols": 33}
    assert dict(minimal(VEC4, lambda a: a.case.axes["cols"] % 4 == 3).case.axes) == {"rows": 1, "cols": 3}


@pytest.mark.slow
def test_a_spike_shrinks_to_one_element() -> None:
    attempt = minimal(VEC4, lambda a: (a.case.arrays["x"] > 100).any())
    assert dict(attempt.case.axes) == {"rows": 1, "cols": 1}


@pytest.mark.soak
def test_a_masked_share_shrinks_to_one_row_of_twice_the_threads() -> None:
    def first_thread_is_masked(attempt: Attempt) -> bool:
        threads = attempt.tune["threads"]
        shares = (row[::threads] for row in attempt.case.arrays["x"] if row.size > threads)
        return any(
            (share == -np.inf).all() and np.isfinite(row).any()
            for share, row in zip(shares, attempt.case.arrays["x"], strict=False)
        )

    attempt = minimal(VEC4, first_thread_is_masked)
    assert attempt.case.axes["rows"] == 1
    assert attempt.case.axes["cols"] <= 2 * min(VEC4.tune["threads"]) + 1


PERSISTENT = VEC4.source.replace('grid   = "rows"', 'grid   = "min(rows, 1024)"')
GRID = next(kernel for kernel in KERNELS if kernel.name == "softmax/grid_three_launches")


def test_threads_go_round_again_in_every_launch_of_a_long_vector() -> None:
    """In 300 attempts: each at least 12 times, where without asking for it the last was seen once or never."""
    attempts = planned(GRID, 300)
    found = [GRID.sizes(GRID.axes_of(attempt.case.arrays), attempt.tune) for attempt in attempts]
    assert sum(sizes["elements"] > 1 for sizes in found) >= 60
    assert sum(sizes["elements"] > 2 for sizes in found) >= 30
    assert sum(sizes["states"] > 1 for sizes in found) >= 12


def test_a_turn_begins_at_the_least_size_that_has_it() -> None:
    for loop in loops(GRID):
        for tune in ({"threads": 32, "max_blocks": 3}, {"threads": 32, "max_blocks": 37}):
            for wanted in (2, 3):
                least = least_size(GRID, loop, tune, wanted, 1, 100_000)
                if least is not None:
                    assert elements_per_thread(GRID, loop, GRID.sizes({"n": least}, tune)) >= wanted
                    assert elements_per_thread(GRID, loop, GRID.sizes({"n": least - 1}, tune)) < wanted
    every = [least_size(GRID, loop, {"threads": 32, "max_blocks": 37}, 2, 1, 100_000) for loop in loops(GRID)]
    assert every == [None, 32 * 37 + 1, 32 * 32 + 1]  # a block has one result; x; the results of 33 blocks


PREDICATES = {
    "leading -inf before a number": lambda x, _: (np.isneginf(x[:, 0]) & np.isfinite(x).any(axis=1)).any(),
    "nothing but -inf": lambda x, _: np.isneginf(x).all(axis=1).any(),
    "all far below zero": lambda x, _: (x.max(axis=1) < -200).any(),
    "a tower at the last column": lambda x, _: (x[:, -1] > x[:, :-1].max(axis=1, initial=-np.inf) + 88).any(),
    "-FLT_MAX": lambda x, _: (x == np.finfo(np.float32).min).any(),
    "a denormal": lambda x, _: ((x != 0) & (abs(x) < 2.0**-126)).any(),
    "more columns than threads": lambda x, tune: x.shape[1] > tune["threads"],
    "no multiple of four": lambda x, _: x.shape[1] % 4 != 0,
    "one column": lambda x, _: x.shape[1] == 1,
    "equal maxima": lambda x, _: ((x == x.max(axis=1, keepdims=True)).sum(axis=1) > 1).any(),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", PREDICATES)
def test_what_breaks_kernels_is_drawn_often(name: str) -> None:
    """Each is seen in at least 1 of 25 attempts: then 300 attempts miss it with chance below 5e-6."""
    wanted = PREDICATES[name]
    with np.errstate(all="ignore"):
        seen = sum(bool(wanted(a.case.arrays["x"], a.tune)) for a in of_vec4()[:400])
    assert seen >= 400 / 25


@pytest.mark.slow
def test_a_length_one_beyond_the_threads_is_drawn() -> None:
    """In at least 1 of 100 attempts: then 300 of them miss it with chance 5%, and 1000 with chance 5e-5."""
    beyond = [a.case.axes["cols"] == a.tune["threads"] + 1 for a in of_vec4()[:1000]]
    assert sum(beyond) >= 10


TILED = next(kernel for kernel in KERNELS if kernel.name == "sgemm/tiled")


def test_no_axis_of_a_product_is_small_now_and_then() -> None:
    """In at least 1 of 20 attempts each has two tiles of 32, where without asking for it none of 600 had."""
    attempts = [attempt_of(TILED, 0, index) for index in range(40, 340)]
    assert sum(min(attempt.case.axes.values()) > 32 for attempt in attempts) >= 300 / 20
    assert sum(len(set(attempt.case.axes.values())) == 1 for attempt in attempts) >= 3
    assert sum(all(size > 32 and size % 4 == 0 for size in attempt.case.axes.values()) for attempt in attempts) >= 5


@pytest.mark.soak
def test_zero_meets_infinity_in_a_product() -> None:
    """In at least 1 of 50 attempts, as a definition asks that knows no other products but of numbers."""

    def meet(a: np.ndarray, b: np.ndarray) -> bool:
        return bool(((a == 0).any(axis=0) & ~np.isfinite(b).all(axis=1)).any())

    cases = [attempt_of(TILED, 0, index).case.arrays for index in range(320) if not is_large(index)]
    assert sum(meet(one["a"], one["b"]) for one in cases) >= len(cases) / 50


def test_an_infinity_meets_what_a_ragged_last_tile_would_be_filled_up_with() -> None:
    """In at least 1 of 100 attempts an infinite product has its infinity where the last tile may keep old numbers.

    That is in the 32 - k % 32 rows of B before the last tile of 32, of a k beyond 32; of 300 attempts none had one.
    """

    def shows(a: np.ndarray, b: np.ndarray) -> bool:
        k = a.shape[1]
        if k <= 32 or k % 32 == 0:
            return False
        kept = np.isinf(b[k - 32 : k - k % 32]).any(axis=0)
        with np.errstate(all="ignore"):
            return bool(np.isinf(a.astype("f8") @ b[:, kept].astype("f8")).any())

    cases = [attempt_of(TILED, 0, index).case.arrays for index in range(320) if not is_large(index)]
    assert sum(shows(one["a"], one["b"]) for one in cases) >= len(cases) / 100


@pytest.mark.slow
def test_many_different_rows_share_a_launch() -> None:
    counts = [attempt.case.axes["rows"] for attempt in of_vec4()[:400]]
    assert np.mean(counts) > 10
    one = next(attempt.case for attempt in of_vec4()[:400] if attempt.case.axes["rows"] > 40)
    assert len({row.tobytes() for row in one.arrays["x"]}) > 30


@pytest.mark.parametrize("family", ROWS, ids=lambda family: family.__name__)
@given(st.integers(1, 300), st.integers(0, 2**64 - 1))
@settings(max_examples=30)
def test_no_family_makes_nan_or_plus_infinity(family, cols: int, bits: int) -> None:  # noqa: ANN001  a Family
    widths = (4, 32, 128)
    band = family(RowPlan(cols, edges.columns(cols, widths), widths, bits))
    x = materialise(Recipe(1, cols, (band,)))
    assert not np.isnan(x).any()
    assert not np.isposinf(x).any()
    assert len(band.edits) <= 8


@pytest.mark.parametrize("family", ROWS, ids=lambda family: family.__name__)
def test_families_take_empty_rows(family) -> None:  # noqa: ANN001  a Family
    band = family(RowPlan(0, edges.columns(0, (4, 32)), (4, 32), 12345))
    assert materialise(Recipe(2, 0, (band,))).shape == (2, 0)


def test_a_family_that_makes_nan_would_be_noticed() -> None:
    band = with_nan(RowPlan(5, (0,), (4,), 0))
    assert np.isnan(materialise(Recipe(1, 5, (band,)))).any()


def test_edges_are_around_what_the_claim_names() -> None:
    widths = edges.widths(VEC4, {"threads": 64})
    assert {32, 64, 256} <= set(widths)
    found = edges.edges(Axis(1, 5000), widths)
    assert {1, 31, 32, 33, 63, 64, 65, 127, 129, 255, 256, 257, 4999, 5000} <= set(found)


def test_a_stride_that_is_unrolled_is_a_width() -> None:
    """A bug of the second turn of `i += 4 * THREADS` over vectors of four shows beyond 16 columns a thread alone."""
    kernel = load(KERNELS_FOLDER / "reduce" / "block_max_vec4.cu")
    assert {512, 513} <= set(edges.columns(1000, edges.widths(kernel, {"threads": 32})))
    assert edges.unrolled("for (int i = t; i < n; i += THREADS) {  // i += 4 * THREADS", "threads") == ()


def test_numbers_are_read_as_compilers_read_them() -> None:
    text = "constexpr int A = 1 << 12, B = 16 * 1024; if (n % 320u > 0x140 && x[7] < 1.5f) {}  // 99"
    assert edges.numbers_in_text(text) == {1, 12, 1 << 12, 16, 1024, 16 * 1024, 320, 7}
    assert edges.floats("y = x * 1.442695f + 0.5 - 1e-4f; z = -3e38f; n = 12; w = 1.0f; // 7.5") == (
        1e-4, 0.5, 1.442695, 3e38,
    )  # fmt: skip


@pytest.mark.slow
def test_a_number_in_the_text_is_drawn_as_a_size(tmp_path: Path) -> None:
    """A multiple of it, exactly, in at least 1 of 100 attempts."""
    path = tmp_path / "tiles.cu"
    path.write_text(VEC4.source.replace("float max = -INFINITY", "constexpr int tile = 0x140; float max = -INFINITY"))
    kernel = load(path)
    assert sum(attempt.case.axes["cols"] % 320 == 0 for attempt in planned(kernel, 600)) >= 6
    assert sum(attempt.case.axes["cols"] % 320 == 0 for attempt in of_vec4()[:600]) < 6


@pytest.mark.slow
def test_a_float_in_the_text_is_drawn_as_a_value(tmp_path: Path) -> None:
    """As a row's maximum, of either sign, in at least 1 of 25 attempts."""
    path = tmp_path / "masked.cu"
    path.write_text(
        VEC4.source.replace("float max = -INFINITY", "const float masked = -65504.0f; float max = -INFINITY")
    )

    def count_top_cases(drawn: list[Attempt]) -> int:
        with np.errstate(all="ignore"):
            tops = [abs(attempt.case.arrays["x"].max(axis=1)) for attempt in drawn]
        return sum(bool((top == 65504).any()) for top in tops)

    assert count_top_cases(planned(load(path), 400)) >= 400 / 25
    assert count_top_cases(of_vec4()[:400]) == 0


@pytest.mark.slow
def test_the_maximum_of_a_lone_row_is_negative_zero_now_and_then() -> None:
    """In at least 1 of 150 attempts."""

    def is_negative_zero(x: np.ndarray) -> bool:
        return bool((x <= 0).all() and (x == 0).any() and np.signbit(x[x == 0]).all())

    with np.errstate(all="ignore"):
        assert sum(is_negative_zero(attempt.case.arrays["x"]) for attempt in planned(GRID, 900)) >= 6


def test_edges_are_multiples_within_the_axis() -> None:
    found = edges.edges(Axis(8, 64, 8), (32,))
    assert {8, 24, 32, 56, 64} <= set(found)
    assert all(size in Axis(8, 64, 8) for size in found)


@given(sizes(Axis(4, 4096, 4)))
def test_sizes_are_admitted(size: int) -> None:
    assert size in Axis(4, 4096, 4)


def test_sizes_shrink_to_a_threshold_that_is_no_edge() -> None:
    assert find(sizes(Axis(1, 100_000)), lambda size: size >= 777, settings=settings(database=None)) == 777


@given(values())
def test_values_are_float32_but_nan_and_plus_infinity(value: float) -> None:
    assert math.isnan(value) is False
    assert value < math.inf
    assert float(np.float32(value)) == value


@given(rows(5, 33))
def test_rows_have_the_asked_shape(recipe: Recipe) -> None:
    assert materialise(recipe).shape == (5, 33)


@given(cases(VEC4))
def test_cases_are_for_anyones_given(case) -> None:  # noqa: ANN001  a Case
    assert case.op == "softmax"


def test_an_op_has_a_planner_of_its_own_where_there_is_a_file_of_its_name_and_rows_elsewhere() -> None:
    names = {module.name for module in pkgutil.iter_modules(planners.__path__)}
    assert names < set(op_names())
    for op in op_names():
        assert (plan.planner_of(op) is plan.every_role_by_rows) == (op not in names)


def test_all_meetings_of_states_are_met() -> None:
    every = meetings(0)
    arrays = {role: materialise(recipe)[:, 0] for role, recipe in merge_inputs(len(every), 0, 0).items()}
    m1, s1, m2, s2 = (arrays[role] for role in ("m1", "s1", "m2", "s2"))
    empty = np.isneginf(m1), np.isneginf(m2)
    assert (empty[0] & empty[1]).any()
    assert (empty[0] & ~empty[1]).any()
    assert (~empty[0] & empty[1]).any()
    assert (m1 == m2)[~empty[0]].any()
    with np.errstate(over="ignore", invalid="ignore"):
        assert (abs(m1 - m2)[np.isfinite(m1) & np.isfinite(m2)] > 100).any()
    assert (s1[~empty[0]] >= 1).all()
    assert (s2[~empty[1]] >= 1).all()
    assert (s1[empty[0]] != 0).any()


@pytest.mark.slow
def test_the_same_seed_plans_the_same_attempt() -> None:
    for kernel in KERNELS[::7]:
        one, two = planned(kernel, 5), planned(kernel, 5)
        assert [a.case.digest for a in one] == [a.case.digest for a in two]
        assert [a.case.digest for a in one] != [a.case.digest for a in planned(kernel, 5, seed=1)]


def test_a_seed_depends_on_all_of_its_parts() -> None:
    seeds = [seed_of(7, "a", 3), seed_of(7, "b", 3), seed_of(8, "b", 3), seed_of(8, "b", 2**64 + 3), seed_of("b3")]
    assert len(set(seeds)) == len(seeds)


@pytest.mark.slow
@pytest.mark.parametrize("what", sorted(set(LARGE.values()) - {"overflow"}))
def test_large_cases_are_claimed(what: Large, ranged: Kernel, tmp_path: Path) -> None:
    path = tmp_path / "persistent.cu"
    path.write_text(PERSISTENT.replace('cols = "1..1073741824"', "cols = { min = 24, max = 144000, multiple = 24 }"))
    for kernel in (*KERNELS, ranged, load(path)):
        found = large_size(kernel, what, seeded_choices(seed_of(what, kernel.name)))
        axes = found[1] if found else {}
        assert all(size in kernel.axes[name] for name, size in axes.items()), (kernel.name, axes)
    assert found is not None  # of the last one


@pytest.mark.parametrize(("what", "counted"), [("rows", lambda x: x.shape[0]), ("elements", lambda x: x.size)])
def test_large_cases_are_beyond_sixteen_bits(what, counted) -> None:  # noqa: ANN001  a word and a lambda
    attempt = plan.plan(VEC4, seeded_choices(1), large=what)
    assert 65536 < counted(attempt.case.arrays["x"]) < 200_000


def test_long_rows_are_beyond_sixteen_bits_and_beyond_what_the_text_names(tmp_path: Path) -> None:
    x = plan.plan(VEC4, seeded_choices(1), large="columns").case.arrays["x"]
    assert x.shape[1] > 65536
    assert 3 <= x.shape[0] <= 8
    path = tmp_path / "longer.cu"
    path.write_text(
        VEC4.source.replace("float max = -INFINITY", "const bool long_row = cols > 100000; float max = -INFINITY")
    )
    attempts = [plan.plan(load(path), seeded_choices(seed), large="columns") for seed in range(8)]
    assert any(attempt.case.axes["cols"] > 100_000 for attempt in attempts)


@pytest.mark.parametrize(
    ("name", "long"),
    [
        ("attention/flash_warp", {"rows", "keys"}),  # no more than 65,535 heads, and 128 of each row
        ("gemm/wmma_f16", {"m", "n", "k"}),
        ("gemm/split_k", {"k"}),
        ("sgemm/naive", {"m", "n", "k"}),
    ],
)
def test_each_axis_that_sixteen_bits_do_not_count_is_that_long_in_some_trial(name: str, long: set[str]) -> None:
    kernel = load(KERNELS_FOLDER / f"{name}.cu")
    assert {axis for axis, claimed in kernel.axes.items() if claimed.hi > MANY} == long
    found = [
        large_size(kernel, what, seeded_choices(place))
        for place, what in LARGE.items()
        if what not in ("turns", "overflow")
    ]
    assert {axis for _, axes in filter(None, found) for axis, size in axes.items() if size > MANY} == long


def test_more_rows_than_sixteen_bits_count_come_with_several_columns() -> None:
    """Of a row of one column the greatest element stands at 0, whichever row it is."""
    kernel = load(KERNELS_FOLDER / "argmax" / "packed_block.cu")
    found = [large_size(kernel, "rows", seeded_choices(seed)) for seed in range(8)]
    assert all(axes["rows"] > MANY and axes["cols"] > 1 for _, axes in filter(None, found))


def test_of_many_keys_one_that_sixteen_bits_do_not_count_outweighs_the_others() -> None:
    """Any other is lost in what a sum of so many may err by."""
    kernel = load(KERNELS_FOLDER / "attention" / "flash_warp.cu")
    for seed in range(4):
        case = plan.plan_at(
            kernel, {"heads": 1, "rows": 1, "keys": MANY + 9, "d": 2, "dv": 1}, {"threads": 32}, seeded_choices(seed)
        ).case
        scores = np.einsum("hrd,hkd->k", case.arrays["q"], case.arrays["k"]) / 2**0.5
        assert scores.argmax() >= MANY
        assert np.exp(scores - scores.max()).sum() < 1.01


def test_no_size_is_drawn_at_which_each_thread_walks_too_far(tmp_path: Path) -> None:
    own = 'adds = "ceil_log2(min(cols, threads)) + ceil_div(cols, threads)"'
    text = (KERNELS_FOLDER / "prefix_sum" / "block.cu").read_text(encoding="utf-8")
    assert own in text
    path = tmp_path / "block.cu"
    path.write_text(text)
    assert large_size(load(path), "columns", seeded_choices(1)) is not None
    path = tmp_path / "alone.cu"  # a thread an element, each with all that lies before it
    fewer = text.replace("2147483647", "65535").replace("1073741824", "1048576").replace(own, 'adds = "cols"')
    path.write_text(fewer.replace('grid = "rows"', 'grid = "rows * ceil_div(cols, threads)"'))
    assert large_size(load(path), "columns", seeded_choices(1)) is None
    assert large_size(load(path), "rows", seeded_choices(1)) is not None


def test_each_block_of_a_full_grid_takes_a_second_share(tmp_path: Path) -> None:
    """Twice in 300 trials, once with every access checked; a grid without bounds has no such size."""
    path = tmp_path / "persistent.cu"
    path.write_text(PERSISTENT)
    kernel = load(path)
    turns = [index for index, what in LARGE.items() if what == "turns"]
    found = [attempt_of(kernel, seed, index).case.axes["rows"] for seed in range(3) for index in turns]
    assert all(1024 < rows <= 2048 for rows in found)
    assert [is_check(index) for index in turns] == [False, True]
    assert large_size(VEC4, "turns", seeded_choices(1)) is None


def test_a_full_grid_is_found_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "persistent.cu"
    path.write_text(PERSISTENT)
    kernel, tune, axes = load(path), {"threads": 32}, {"rows": 1, "cols": 1}
    assert full_grid(kernel, kernel.launches[0], axes, "rows", tune) == 1024
    assert full_grid(kernel, kernel.launches[0], axes, "cols", tune) is None
    assert full_grid(GRID, GRID.launches[0], {"n": 1}, "n", {"threads": 32, "max_blocks": 37}) == 36 * 32 + 1


def test_limits_are_float32(ranged: Kernel) -> None:
    recipe = planned(ranged, 1)[0].case.recipes["x"]
    assert recipe.limits == (bits_of(-80.0), bits_of(80.0))


WIDE = """// Wide rows.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..65535", cols = "1024..65536" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y", t = "f32[rows, 16]" }
//
// [[launch]]
// entry  = "sums"
// grid   = "rows"
// block  = 256
// args   = ["y", "x", "t", "cols"]
// ///
__global__ void sums(float *y, const float *x, float *t, int cols) {}
"""


def test_the_threads_of_a_cluster_count_for_each_of_its_rows() -> None:
    """65548 rows of two columns, by clusters of 512 threads that take eight of them, took 28 s."""
    assert large_size(our_kernel("rms_norm/cluster_in_registers"), "rows", seeded_choices(1)) is None
    found = large_size(our_kernel("rms_norm/row_in_cluster"), "rows", seeded_choices(1))
    assert found is not None
    assert found[1]["rows"] > MANY


def test_no_trial_is_larger_than_it_must_be(tmp_path: Path) -> None:
    """65,600 rows of 1024 columns took 11 GB; what fits is tried."""
    (tmp_path / "wide.cu").write_text(WIDE)
    kernel = load(tmp_path / "wide.cu")
    assert large_size(kernel, "rows", seeded_choices(1)) is None
    sizes = [attempt_elements(kernel, index) for index in [*range(40), *LARGE]]
    assert max(sizes) <= LARGEST
    assert max(sizes) > 1 << 16  # 2^16 elements in rows of 1024 are no more than usual


@pytest.mark.parametrize(
    "name", ["block_in_registers", "row_in_shared", "row_in_cluster", "row_on_card", "two_launches_reversed"]
)
def test_more_rows_than_16_bits_count_are_tried_where_some_launch_allows_it(name: str) -> None:
    """Of row_in_cluster so many are too much for clusters of 16; row_on_card has 132 blocks for long rows alone."""
    kernel = load(KERNELS_FOLDER / "softmax" / f"{name}.cu")
    found = large_size(kernel, "rows", seeded_choices(1))
    assert found is not None
    ground, axes = found
    assert axes["rows"] > MANY
    assert not kernel.where.broken({**axes, **ground.tune})


@pytest.mark.slow
def test_a_launch_for_huge_rows_alone_makes_no_huge_case() -> None:
    """The shortest rows of 132 blocks have 5,242,881 columns: 122 of those, 639,631,482 elements, ended a campaign."""
    kernel = load(KERNELS_FOLDER / "softmax" / "row_on_card.cu")
    sizes = [attempt_elements(kernel, index) for index in range(200) if index not in LARGE]
    assert max(sizes) < 1 << 20


def attempt_elements(kernel: Kernel, index: int) -> int:
    attempt = attempt_of(kernel, 3, index)
    return elements(kernel, kernel.axes_of(attempt.case.arrays), attempt.tune)


def test_a_page_counts_once_for_each_index_that_leads_to_it() -> None:
    """192 indices of 7 pages of 64 tokens were a cache of 12,288 tokens, which took minutes to judge."""
    kernel = load(KERNELS_FOLDER / "paged_decode" / "scores_in_shared.cu")
    sizes = {"batch": 2, "heads": 2, "used": 192, "slots": 7, "page": 16, "d": 8, "dv": 4}
    assert elements(kernel, sizes, {"threads": 32}) == 192 * 16 * 2 * (8 + 4)
    assert elements(kernel, {**sizes, "used": 0}, {"threads": 32}) == kernel.elements({**sizes, "used": 0})
    softmax = load(KERNELS_FOLDER / "softmax" / "row_in_shared.cu")
    assert softmax.gathered({}) == 0
