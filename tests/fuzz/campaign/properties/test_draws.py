"""Draws of equal rows: frequencies and repetitions, with answers that numpy draws; and the seeds of a claim."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from paths import DATA

from kfuzz.campaign.properties.checks import draws
from kfuzz.campaign.properties.frequencies import Quantities
from kfuzz.campaign.properties.shifted import SeedShifts
from kfuzz.cases.case import case_of
from kfuzz.cases.plans.choose import seeded_choices
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices import ClaimError, Finding
from kfuzz.oracle import Accuracy, Special
from kfuzz.oracle.bounds.question import enclose_sets
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.evidence import Chances, log_evidence_of_pairs

ROWS, P = 256, np.array([0.4, 0.3, 0.2, 0.1])
CLAIM = """// /// kernel
// op      = "categorical"
// axes    = { rows = "1..65535", cols = "1..64" }
// arrays  = { x = "f32[rows, cols] -> logits", token = "i32[rows] <- token", state = "i64[1] = seed" }
// random  = { seed = "seed", offset = "offset" }
//
// [[launch]]
// entry = "sample"
// grid  = "rows"
// block = "32"
// args  = ["token", "x", "state", "cols", "offset"]
// ///
__global__ void sample(int *token, const float *x, const int64_t *state, int cols, unsigned long long offset);
"""


def kernel_of(folder: Path, text: str) -> Kernel:
    path = folder / "sample.cu"
    path.write_text(text)
    return load(path)


def tokens() -> Quantities:
    """Before the first draw of four tokens with the probabilities P."""
    x = np.tile(np.log(P), (ROWS, 1)).astype(np.float32)
    (one,) = enclose_sets(find("categorical"), {"logits": x}, Accuracy(), Special()).values()
    assert one.chances is not None
    every = one.chances()
    return Quantities("token", one, Chances(every.lo[:1], every.hi[:1]), ROWS, np.zeros((1, 4)))


def drops(cols: int) -> Quantities:
    """Before the first draw of a dropout of half of the elements."""
    (one,) = enclose_sets(find("dropout"), {"x": np.ones((ROWS, cols), np.float32)}, Accuracy(), Special()).values()
    assert one.chances is not None
    every = one.chances()
    return Quantities("y", one, Chances(every.lo[:cols], every.hi[:cols]), ROWS, np.zeros((cols, 2)))


def findings(
    quantities: Quantities, *answers: np.ndarray[tuple[int, ...], np.dtype[np.generic]], is_next: bool = False
) -> list[Finding]:
    """The findings in some calls."""
    every = (quantities.add(f"seed = {place}", {quantities.role: one}, is_next) for place, one in enumerate(answers))
    return [one for one in every if one]


def found(
    quantities: Quantities, *answers: np.ndarray[tuple[int, ...], np.dtype[np.generic]], is_next: bool = False
) -> list[str]:
    """The kinds of findings in some calls."""
    return [one.kind for one in findings(quantities, *answers, is_next=is_next)]


def drawn(seed: int, p: object = P) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.random.default_rng(seed).choice(4, ROWS, p=np.asarray(p))


@pytest.mark.parametrize("is_next", [False, True])
def test_draws_from_the_distribution_are_kept(is_next: bool) -> None:
    assert found(tokens(), *map(drawn, range(16)), is_next=is_next) == []
    masks = (2.0 * np.random.default_rng(seed).integers(0, 2, (ROWS, 5)) for seed in range(16))
    assert found(drops(5), *(mask.astype(np.float32) for mask in masks), is_next=is_next) == []


@pytest.mark.parametrize(
    ("shift", "says"),
    [
        (1, "255 of 255 draws are those of the seed before, 1 row further on; by"),
        (4, "252 of 252 draws are those of the seed before, 4 rows further on; by"),
        (-128, "128 of 128 draws are those of the seed before, 128 rows before; by"),
    ],
)
def test_draws_of_the_next_seed_that_are_moved_rows_are_found(shift: int, says: str) -> None:
    """The row is added to the seed: each call by itself has the right distribution, and no two calls are equal."""
    stream = np.random.default_rng(1).choice(4, 3 * ROWS, p=P)
    calls = [stream[ROWS:][:ROWS], stream[ROWS + shift :][:ROWS]]
    (one,) = findings(tokens(), *calls, is_next=True)
    assert (one.kind, says in one.message) == ("repeated-draws", True), one.message
    assert found(tokens(), *calls) == [], "of seeds that are far apart nothing is asked"


@pytest.mark.parametrize(("shift", "says"), [(1, "1 element further"), (10, "2 rows further"), (-5, "1 row before")])
def test_draws_of_the_next_seed_that_are_moved_elements_are_found(shift: int, says: str) -> None:
    stream = 2 * np.random.default_rng(1).integers(0, 2, ROWS * 5 + 40).astype(np.float32)
    (one,) = findings(
        drops(5), *(stream[20 + first :][: ROWS * 5].reshape(ROWS, 5) for first in (0, shift)), is_next=True
    )
    assert says in one.message


def test_draws_that_agree_in_half_of_the_places_or_never_are_found() -> None:
    half = 2 * np.random.default_rng(1).integers(0, 2, (2, 256, 5)).astype(np.float32)
    half[1, ::2] = half[0, ::2]
    assert found(drops(5), *half, is_next=True) == ["repeated-draws"]
    assert found(drops(5), half[0], 2 - half[0], is_next=True) == ["repeated-draws"], "1 - u"


def expected_evidence(chances: Chances, p: float) -> float:
    """The expectation of the evidence after three calls of two rows, whose first category has the probability p."""
    total = 0.0
    for drawn in itertools.product((0, 1), repeat=6):
        one = SeedShifts(chances, 2)
        for call in np.reshape(drawn, (3, 2, 1)):
            one.add(call, is_next=True)
        chance = np.prod(np.where(np.array(drawn) == 0, p, 1 - p))
        total += chance * np.exp(log_evidence_of_pairs(one.counts, one.logs))
    return float(total)


@pytest.mark.parametrize("p", [0.3, 0.4, 0.55])
def test_the_evidence_of_shifts_has_an_expectation_of_at_most_one_within_the_bounds(p: float) -> None:
    assert expected_evidence(Chances(np.array([[0.3, 0.45]]), np.array([[0.55, 0.7]])), p) <= 1 + 1e-12


def test_the_evidence_of_shifts_beyond_the_bounds_is_more() -> None:
    assert expected_evidence(Chances(np.array([[0.3, 0.45]]), np.array([[0.35, 0.5]])), 0.55) > 1.1


def test_draws_from_another_distribution_are_found() -> None:
    assert found(tokens(), *(drawn(seed, P[::-1]) for seed in range(4)))[0] == "distribution"
    assert found(tokens(), *(drawn(seed, (0.45, 0.34, 0.21, 0)) for seed in range(8)))[0] == "distribution"


def test_a_call_with_the_draws_of_another_is_found() -> None:
    assert found(tokens(), drawn(0), drawn(1), drawn(0)) == ["repeated-draws"]


def test_rows_that_draw_alike_are_found_if_calls_differ() -> None:
    same = [np.full(ROWS, token) for token in (0, 1, 2)]
    assert found(tokens(), *same)[0] == "repeated-draws"
    assert set(found(tokens(), *[same[0]] * 4)) == {"distribution"}, "one token always comes"


def test_elements_of_a_row_that_are_drawn_together_are_found() -> None:
    masks = [2.0 * np.random.default_rng(seed).integers(0, 2, (ROWS, 1)) for seed in range(4)]
    assert found(drops(5), *(np.tile(mask, 5).astype(np.float32) for mask in masks))[0] == "repeated-draws"


def test_an_answer_that_never_comes_is_found() -> None:
    assert found(tokens(), np.full(ROWS, 4)) == ["distribution"]


def test_seeds_are_handed_over_as_sizes_are(tmp_path: Path) -> None:
    kernel = kernel_of(tmp_path, CLAIM)
    case = case_of(kernel.op, {"logits": np.zeros((3, 5), np.float32)})
    job = replace(kernel, random={"seed": 77, "offset": 5}).bind(case.arrays, {}).job
    assert job.steps[0].args == ("token", "x", "state", 5, 5)
    assert next(one.fill for one in job.buffers if one.name == "state") == 77


def test_calls_have_different_seeds_and_offsets_far_apart(tmp_path: Path) -> None:
    made = list(draws.calls(kernel_of(tmp_path, CLAIM), ROWS, seeded_choices(1)))
    assert len({tuple(one.items()) for one in made}) == len(made) > draws.FEWEST_CALLS
    follows = [draws.is_next(one, before) for before, one in itertools.pairwise(made)]
    assert sum(follows) == draws.MOST_CALLS / 2
    offsets = [one["offset"] for one in made if "offset" in one]
    assert np.all(np.diff(offsets) >= draws.FAR_APART)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('seed = "seed", ', 'seed = "cols", ', "already in axes"),
        ('seed = "seed", ', 'seed = "a b", ', "name of an argument"),
        ('random  = { seed = "seed", offset = "offset" }', "", "a fill of i64"),
    ],
)
def test_a_seed_has_a_name_of_its_own(tmp_path: Path, old: str, new: str, why: str) -> None:
    with pytest.raises(ClaimError, match=why):
        kernel_of(tmp_path, CLAIM.replace(old, new))


def test_why_draws_are_not_tested(tmp_path: Path) -> None:
    kernel = kernel_of(tmp_path, CLAIM)
    assert draws.why_untested(kernel) == ""
    assert "draws nothing" in draws.why_untested(replace(kernel, op="argmax"))
    assert "no seed" in draws.why_untested(replace(kernel, random={}))
    shared = CLAIM.replace('"i64[1] = seed"', '"i64[rows] = seed"')
    assert "for itself" in draws.why_untested(kernel_of(tmp_path, shared))


def test_integers_stay_below_a_size_that_no_array_has(tmp_path: Path) -> None:
    path = DATA / "properties" / "route_as_blocks_arrive.cu"
    kernel, text = load(path), path.read_text()
    stored = kernel.stored({"expert": np.arange(40, dtype=np.float32)})
    assert stored["expert"].max() == 15
    by_tune = kernel_of(tmp_path, text.replace("= 16 }", '= "threads" }').replace("[17]", "[threads + 1]"))
    assert by_tune.stored({"expert": np.arange(40, dtype=np.float32)})["expert"].max() == 0
