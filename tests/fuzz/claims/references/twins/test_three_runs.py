"""Whole references: right ways to compute them are kept, wrong ones are found, and what is not known is not judged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from kfuzz.oracle.sets.reference_sets import Grade

torch = pytest.importorskip("torch")
ways = pytest.importorskip("tests.fuzz.claims.references.twins.other_ways")
twins = "kfuzz.claims.references.torch.twins"
as_arrays = pytest.importorskip(f"{twins}.as_arrays")
leaves = pytest.importorskip(f"{twins}.leaves")
sets = pytest.importorskip(f"{twins}.sets")
three_runs = pytest.importorskip(f"{twins}.three_runs")
F = torch.nn.functional
Grades = Sequence[Any]


def attention(q: Any, k: Any, v: Any) -> Any:  # noqa: ANN401
    s = (q @ k.transpose(-1, -2)).float() * 0.25
    seen = torch.ones(q.shape[-2], k.shape[-2]).tril() > 0
    return s.masked_fill(~seen, -torch.inf).softmax(-1).to(q.dtype) @ v


def layer_norm(x: Any, w: Any) -> Any:  # noqa: ANN401
    return F.layer_norm(x, x.shape[-1:], w) + x


def quantized(x: Any) -> Any:  # noqa: ANN401
    scale = x.abs().amax(-1, keepdim=True) / 127
    return (x / scale).round().clamp(-128, 127).to(torch.int8), scale.squeeze(-1)


def routed(x: Any) -> Any:  # noqa: ANN401
    weights, places = x.float().softmax(-1).topk(2)
    return {"weights": weights / weights.sum(-1, keepdim=True), "places": places, "none": None}


def segments(x: Any, ends: Any) -> Any:  # noqa: ANN401
    """Sums of segments, some of which are empty, written into parts."""
    out = torch.zeros(len(ends) - 1, x.shape[1])
    for at in range(len(ends) - 1):
        out[at] = x[ends[at] : ends[at + 1]].sum(0)
    out += 1
    return out


def in_place(x: Any, y: Any) -> None:  # noqa: ANN401
    y.mul_(0.5).add_(x.exp())
    y[:, ::2] = x[:, ::2]


def running_values(x: Any, mean: Any, var: Any) -> Any:  # noqa: ANN401
    return F.batch_norm(x, mean, var, training=True)


def norms_in_a_row(x: Any, w: Any) -> Any:  # noqa: ANN401
    """Layers whose radii grow: each norm divides by a deviation that is not known well."""
    for _ in range(4):
        x = F.batch_norm(F.relu(x @ w), None, None, training=True)
        x = F.layer_norm(x @ w, x.shape[-1:])
        x = F.group_norm((x @ w).unsqueeze(-1), 2).squeeze(-1)
    return x


def rotated(x: Any) -> Any:  # noqa: ANN401
    """Complex numbers by view."""
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    turn = torch.polar(torch.ones(z.shape[-1]), torch.arange(z.shape[-1]) * 0.3)
    return torch.view_as_real(z * turn).reshape(x.shape).to(x.dtype)


def gradients(x: Any, w: Any) -> Any:  # noqa: ANN401
    x = x.detach().requires_grad_()
    return torch.autograd.grad((F.silu(x @ w) * torch.tanh(x @ w)).sum(), x)


def convolved(x: Any, w: Any) -> Any:  # noqa: ANN401
    return F.max_pool2d(F.relu(F.conv2d(x, w, padding=1)), 2)


def counted(x: Any) -> Any:  # noqa: ANN401
    """Truths, a number of integers, and bits."""
    return (x > 0).sum(-1), (x > 0.5).any(-1), (x.view(torch.int32) >> 23) & 255


def losses(x: Any, y: Any) -> Any:  # noqa: ANN401
    return F.cross_entropy(x, y, ignore_index=-100), torch.logsumexp(x, -1)


def spectrum(x: Any) -> Any:  # noqa: ANN401
    return torch.fft.irfft(torch.fft.rfft(x) * 0.5)


def embedded(x: Any, at: Any) -> Any:  # noqa: ANN401
    """A gather, and a sum at places that come several times."""
    return torch.zeros(5, x.shape[1]).index_add_(0, at, x[at]), torch.zeros(5).scatter_reduce(0, at, x[at, 0], "amax")


def gated(x: Any, w: Any, v: Any) -> Any:  # noqa: ANN401
    """The operands of the second product are numbers of float32, which a tensor core takes in bf16."""
    return F.silu(x.float() @ w.float()) @ v.float()


def drawn(*shape: int, dtype: Any = torch.float32) -> Callable[[], Any]:  # noqa: ANN401
    return lambda: torch.randn(shape).to(dtype)


ENDS, PLACES, LABELS = (torch.tensor(one) for one in ([0, 2, 2, 7, 8], [0, 3, 3, 1, 0, 4, 3, 3], [1, -100, 0, 5]))
BF16 = torch.bfloat16
REFERENCES: dict[str, tuple[Callable[..., Any], list[Callable[[], Any]]]] = {
    "attention": (attention, [drawn(2, 5, 16), drawn(2, 7, 16), drawn(2, 7, 16)]),
    "attention of bf16": (
        attention,
        [drawn(2, 5, 16, dtype=BF16), drawn(2, 7, 16, dtype=BF16), drawn(2, 7, 16, dtype=BF16)],
    ),
    "gated": (gated, [drawn(16, 32, dtype=BF16), drawn(32, 24, dtype=BF16), drawn(24, 8, dtype=BF16)]),
    "layer norm": (layer_norm, [drawn(3, 32), drawn(32)]),
    "layer norm of f16": (layer_norm, [drawn(3, 32, dtype=torch.float16), drawn(32, dtype=torch.float16)]),
    "quantized": (quantized, [drawn(3, 16)]),
    "routed": (routed, [drawn(6, 8)]),
    "segments": (segments, [drawn(8, 3), lambda: ENDS]),
    "in place": (in_place, [drawn(3, 6), drawn(3, 6)]),
    "running values": (running_values, [drawn(3, 4, 5), drawn(4), lambda: torch.rand(4)]),
    "norms in a row": (norms_in_a_row, [drawn(12, 8), drawn(8, 8)]),
    "rotated": (rotated, [drawn(2, 8)]),
    "gradients": (gradients, [drawn(3, 4), drawn(4, 5)]),
    "convolved": (convolved, [drawn(1, 3, 6, 6), drawn(4, 3, 3, 3)]),
    "counted": (counted, [drawn(3, 6)]),
    "losses": (losses, [drawn(4, 9), lambda: LABELS]),
    "spectrum": (spectrum, [drawn(2, 12)]),
    "embedded": (embedded, [drawn(8, 4), lambda: PLACES]),
}


def given_for(name: str, seed: int) -> list[Any]:
    torch.manual_seed(seed)
    return [make() for make in REFERENCES[name][1]]


def grades(sets: Any, got: Any) -> Any:  # noqa: ANN401
    made = as_arrays.grade_answer(sets, [one for _, one in got])
    return made if isinstance(made, str) else np.concatenate([one.ravel() for one in made])


def test_a_reference_that_does_not_run_with_twins_is_measured_and_gives_warnings_alone() -> None:
    """A product with a sparse matrix was refused: `unsupported tensor layout: SparseCsr`."""

    def sparse(rows: Any, cols: Any, x: Any, y: Any) -> Any:  # noqa: ANN401
        return torch.sparse_csr_tensor(rows, cols, x, (3, 4)) @ y

    torch.manual_seed(1)
    given = [torch.tensor([0, 2, 3, 4]), torch.tensor([0, 2, 1, 3]), torch.randn(4), torch.randn(4, 5)]
    sets = as_arrays.reference_sets(three_runs.Answered(sparse, given, __file__))
    right = sparse(*given)
    assert (grades(sets, [("y", right)]) == Grade.KEPT).all()
    assert (grades(sets, [("y", right * (1 + 1e-6))]) == Grade.KEPT).all()
    assert (grades(sets, [("y", right + 1.0)]) == Grade.SUSPECT).all()


def test_what_a_reference_raises_is_raised_as_it_is() -> None:
    with pytest.raises(ValueError, match="no rows"):
        as_arrays.reference_sets(
            three_runs.Answered(lambda x: (_ for _ in ()).throw(ValueError("no rows")), [torch.ones(2)])
        )


@pytest.mark.parametrize("name", REFERENCES)
def test_right_ways_are_kept_and_nearly_all_is_judged(name: str) -> None:
    function = REFERENCES[name][0]
    for seed in range(3):
        given = given_for(name, seed)
        answered = three_runs.Answered(function, given, __file__)
        sets = as_arrays.reference_sets(answered)
        for way, kernel in ways.right_ways(function, given):
            if way == "float32 inside" and name != "attention of bf16":
                continue
            made = grades(sets, leaves.call_with(kernel, leaves.fresh(given)))
            assert set(made) <= {Grade.KEPT, Grade.UNJUDGED}, (way, made)
            assert np.mean(made == Grade.UNJUDGED) <= 0.05


@pytest.mark.parametrize("name", REFERENCES)
def test_a_run_whose_steps_err_by_no_more_than_they_may_stays_within_the_sets(name: str) -> None:
    """A second number system: numbers that move take the place of radii."""
    for seed in range(3):
        three_runs.Answered(REFERENCES[name][0], given_for(name, seed), __file__).check_agrees()


def test_sets_that_are_too_narrow_do_not_agree_with_numbers_that_move() -> None:
    answered = three_runs.Answered(REFERENCES["layer norm"][0], given_for("layer norm", 7), __file__)
    vars(answered)["proved"] = [0.02 * one for one in answered.proved]
    with pytest.raises(three_runs.DisagreementError, match="moves by"):
        answered.check_agrees()


@dataclass(frozen=True)
class WrongAnswer:
    """A reference and a wrong kernel for it, with the worst grade that it gets."""

    name: str
    wrong: Callable[..., Any]
    grade: Grade = Grade.BROKEN


WRONG = [
    WrongAnswer("attention", lambda q, k, v: (q @ k.transpose(-1, -2) * 0.25).softmax(-1) @ v),
    WrongAnswer("attention of bf16", lambda q, k, v: attention(q, k, v) * 1.03),
    WrongAnswer("gated", lambda x, w, v: F.gelu(x.float() @ w.float()) @ v.float()),
    WrongAnswer("layer norm", lambda x, w: F.layer_norm(x, x.shape[-1:], w, None, 1e-3) + x),
    WrongAnswer("quantized", lambda x: (quantized(x)[0] + 1, quantized(x)[1])),
    WrongAnswer("routed", lambda x: {**routed(x), "places": routed(x)["places"].flip(-1)}),
    WrongAnswer("routed", lambda x: {**routed(x), "places": routed(x)["places"][:, :1].expand(-1, 2)}),
    WrongAnswer("segments", lambda x, ends: segments(x, ends) - (ends.diff() == 0).float().unsqueeze(-1)),
    WrongAnswer("in place", lambda x, y: y.mul_(0.5) is None or None),
    WrongAnswer("gradients", lambda x, w: (gradients(x, w)[0] * 1.0001,)),
    WrongAnswer("counted", lambda x: (counted(x)[0], ~counted(x)[1], counted(x)[2])),
    WrongAnswer("losses", lambda x, y: (F.cross_entropy(x, y.clamp(min=0)), torch.logsumexp(x, -1))),
    WrongAnswer("embedded", lambda x, at: (embedded(x, at)[0], torch.full((5,), 9.0))),
]


@pytest.mark.parametrize(
    "function",
    [lambda g, u: F.silu(g) * u, lambda g, u: g * torch.sigmoid(g) * u, lambda g, u: (F.silu(g) * u)[:, :] + 0],
)
def test_of_factors_nothing_is_known_where_another_order_of_them_overflows(function: Callable[..., Any]) -> None:
    """(up gate) sigmoid(gate) of a Triton kernel was broken at 3e38, where up (gate sigmoid(gate)) is finite."""
    g = torch.tensor([[-100.0, 1.1, 0.5, 3e38, 1e20, 1e20]])
    u = torch.tensor([[3e38, 3e38, 3e38, 1e-30, 1e18, 1e19]])
    sets = as_arrays.reference_sets(three_runs.Answered(function, [g, u], __file__))
    unknown, kept, broken = Grade.UNJUDGED, Grade.KEPT, Grade.BROKEN
    assert grades(sets, [("y", u * g * torch.sigmoid(g))]).tolist() == [unknown, *[kept] * 4, unknown]
    assert grades(sets, [("y", function(g, u) * 1.01)]).tolist() == [unknown, *[broken] * 4, unknown]
    assert grades(sets, [("y", torch.full_like(g, torch.nan))]).tolist() == [unknown, *[broken] * 4, unknown]


@pytest.mark.parametrize("one", WRONG, ids=lambda one: one.name)
def test_wrong_answers_have_no_place_in_the_sets(one: WrongAnswer) -> None:
    given = given_for(one.name, 1)
    sets = as_arrays.reference_sets(three_runs.Answered(REFERENCES[one.name][0], given, __file__))
    assert max(grades(sets, leaves.call_with(one.wrong, leaves.fresh(given)))) >= one.grade


def test_of_ties_any_place_is_right_but_none_comes_twice() -> None:
    x = torch.tensor([[1.0, 3.0, 3.0, 2.0]])
    sets = as_arrays.reference_sets(three_runs.Answered(lambda x: x.topk(2).indices, [x], __file__))
    for places, is_right in (([1, 2], True), ([2, 1], True), ([1, 1], False), ([1, 3], False), ([1, 4], False)):
        made = grades(sets, [("y", torch.tensor([places]))])
        assert (max(made) == Grade.KEPT) == is_right, places


def test_of_equal_maxima_argmax_means_the_first_and_of_near_ones_any() -> None:
    """torch documents it: an argmax that names the last of equal ones is another function."""
    x = torch.tensor([[1.0, 3.0, 3.0, 2.0]])
    exact, near = (
        as_arrays.reference_sets(three_runs.Answered(function, [x], __file__))
        for function in (lambda x: x.argmax(-1), lambda x: (x / 3).argmax(-1))
    )
    first, second = ([("y", torch.tensor([place]))] for place in (1, 2))
    assert [max(grades(exact, first)), max(grades(exact, second))] == [Grade.KEPT, Grade.BROKEN]
    assert [max(grades(near, first)), max(grades(near, second))] == [Grade.KEPT, Grade.KEPT]


def shared(x: Any) -> Any:  # noqa: ANN401
    """Copies that have the same numbers, of arrays that are then written in place."""
    whole, double = x * 1.5, x.double()
    before, single = whole.to(torch.bfloat16), double.float()
    whole[0] = 7
    between = whole.to(torch.bfloat16)
    whole[1] = 8
    double.zero_()
    return before, between, whole, single


def test_a_write_into_a_part_changes_no_copy_that_was_made_before() -> None:
    given = [torch.tensor([1.0, 2.0, 3.0])]
    made = [one.x.tolist() for one in three_runs.Answered(shared, given, __file__).sets]
    assert made == [[1.5, 3.0, 4.5], [7.0, 3.0, 4.5], [7.0, 8.0, 4.5], [1.0, 2.0, 3.0]]


SLICES = {
    "a row": lambda x: (2 * x)[1].float(),
    "rows of one of several matrices": lambda x: (2 * x).view(2, 2, -1)[1, :1].float(),
    "a column": lambda x: (2 * x)[:, 1].float(),
    "a row of what is picked": lambda x: x[torch.tensor([2, 1])][1].float(),
    "a part of a row, twice": lambda x: (2 * x).float()[2, 1:].half()[1:].float() + 1,
}


@pytest.mark.parametrize("name", SLICES)
def test_a_slice_in_another_type_has_its_own_numbers(name: str) -> None:
    x = torch.arange(12, dtype=torch.bfloat16).view(4, 3)
    (made,) = three_runs.Answered(SLICES[name], [x], __file__).sets
    assert made.x.tolist() == SLICES[name](x).tolist()


def test_python_that_goes_by_a_number_which_rounding_may_change_is_not_judged() -> None:
    x = torch.tensor([1e-8, -1e-8, 1.0, -1.0])
    answered = three_runs.Answered(lambda x: x if (x / 3).sum() > 0 else -x, [x], __file__)
    assert set(grades(as_arrays.reference_sets(answered), [("y", 5 * x)])) == {Grade.UNJUDGED}
    with pytest.raises(sets.UnstableError, match=r"test_three_runs\.py:\d+: "):
        _ = answered.sets


def test_a_number_that_leaves_torch_gives_warnings_and_no_errors() -> None:
    answered = three_runs.Answered(lambda x: x * float((x / 3).sum()), [torch.ones(4)], __file__)
    every = as_arrays.reference_sets(answered)
    assert set(grades(every, [("y", torch.full((4,), 5.0))])) == {Grade.SUSPECT}
    assert set(grades(every, leaves.call_with(answered.function, answered.given))) == {Grade.KEPT}


@pytest.mark.parametrize(("most", "is_known"), [(1e38, False), (3e37, True)])
def test_of_shares_nothing_is_known_where_a_sum_that_is_divided_afterwards_overflows(
    most: float, is_known: bool
) -> None:
    """Flash attention divides by the sum of a row at its end: four values of 1e38 are infinite before."""
    scores, values = torch.zeros(2, 4), torch.full((4, 3), most)
    sets = as_arrays.reference_sets(
        three_runs.Answered(lambda s, v: torch.softmax(s, 1) @ v, [scores, values], __file__)
    )
    wrong, infinite = torch.full((2, 3), 0.9 * most), torch.full((2, 3), torch.inf)
    for answer in (wrong, infinite):
        grade = Grade.BROKEN if is_known else Grade.UNJUDGED
        assert set(grades(sets, [("y", answer)]).flatten().tolist()) == {grade}


def merged(o: Any, other: Any, m: Any, l: Any, s2: Any) -> Any:  # noqa: ANN401, E741
    """Two parts of an attention: a kernel multiplies (o l) exp2(m), and the first product overflows."""
    s1 = torch.exp2(m - torch.maximum(m, torch.zeros_like(m))) * l
    return (o * s1[:, None] + other * s2[:, None]) / (s1 + s2)[:, None]


@pytest.mark.parametrize(("least", "is_known"), [(-3.4e38, False), (-2.2e38, True), (-1e30, True)])
def test_of_parts_nothing_is_known_where_a_part_times_its_sum_overflows(least: float, is_known: bool) -> None:
    m, l = torch.full((2,), -4.3), torch.full((2,), 1.5)  # noqa: E741
    given = [torch.full((2, 3), least), torch.ones(2, 3), m, l, torch.ones(2)]
    own, sets = merged(*given), as_arrays.reference_sets(three_runs.Answered(merged, given, __file__))
    for answer, known in ((own, Grade.KEPT), (0.9 * own, Grade.BROKEN), (own / 0.0, Grade.BROKEN)):
        assert set(grades(sets, [("y", answer)]).tolist()) == {known if is_known else Grade.UNJUDGED}


def of_a_loop(x: Any, w: Any, r: Any) -> Any:  # noqa: ANN401
    for at in range(600):
        w = w * (1.0 if at else r)
    return x * w


def of_a_factor_that_is_written(x: Any, w: Any, r: Any) -> Any:  # noqa: ANN401
    r = r.clone()
    r[:, :1] = r[:, :1] + 0
    product = w * r
    r[:, :2] = 0
    return x * product


CHAINS = {
    "a product": lambda x, w, r: x * (w * r),
    "a slice of one": lambda x, w, r: (x.T * (w * r).T[:, :])[1:].T,
    "in another order of its axes": lambda x, w, r: (x.T * (w.T * r.T)).T,
    "in place": lambda x, w, r: w.clone().mul_(r).mul_(x),
    "a quotient": lambda x, w, r: x * (w / (1 / r)),
    "divided first": lambda x, w, r: x / (1 / w) * r,
    "divided by a product": lambda x, w, r: x / ((1 / w) * (1 / r)),
    "divided by a quotient": lambda x, w, r: x / ((1 / w) / r),
    "a loop": of_a_loop,
    "a factor that is written": of_a_factor_that_is_written,
}


@pytest.mark.parametrize("name", CHAINS)
def test_small_factors_of_a_chain_count_where_another_order_overflows_and_nowhere_else(name: str) -> None:
    x, small, large, known_twice = (
        torch.tensor([row, row])
        for row in (
            [2.0, 3e38, 3e38, 3e38, 1e30, -3e38],
            [3.0, 0.5, 1e-3, 0.5, 1e-3, 1e-3],
            [1.5, 1.25, 2.0, 0.9, 1e3, 2.0],
            [True, False, False, True, True, False],
        )
    )
    sets = as_arrays.reference_sets(three_runs.Answered(CHAINS[name], [x, small, large], __file__))
    own = CHAINS[name](x, small, large)
    is_known = known_twice[:, -own.shape[1] :]
    for answer, known in ((own, Grade.KEPT), (1.01 * own, Grade.BROKEN), (own * torch.inf, Grade.BROKEN)):
        expected = torch.where(is_known, int(known), int(Grade.UNJUDGED)).flatten().tolist()
        assert grades(sets, [("y", answer)]).tolist() == expected


def test_a_value_that_the_reference_reaches_by_an_overflow_is_not_judged() -> None:
    x = torch.full((2,), 2e38)
    (one,) = as_arrays.reference_sets(three_runs.Answered(lambda x: (x + x) / 4, [x], __file__))
    assert set(one.grade(np.array([np.inf, 1.0]), None)) == {Grade.UNJUDGED}


@pytest.mark.parametrize("of", [torch.relu, lambda x: x * (torch.zeros(3) < x)], ids=["its gradient", "a product"])
def test_nothing_is_known_of_what_an_order_with_nan_chooses(of: Callable[..., Any]) -> None:
    def gradient(x: Any) -> Any:  # noqa: ANN401
        own = x.clone().requires_grad_()
        return torch.autograd.grad(of(own), own, torch.ones(3))[0]

    answered = three_runs.Answered(gradient, [torch.tensor([1.0, torch.nan, -1.0])], __file__)
    for answer in (0.0, 1.0):
        made = grades(as_arrays.reference_sets(answered), [("y", torch.tensor([1.0, answer, 0.0]))])
        assert list(made) == [Grade.KEPT, Grade.UNJUDGED, Grade.KEPT]


def test_a_set_that_does_not_hold_torchs_own_answer_at_all_is_an_error_of_ours() -> None:
    answered = three_runs.Answered(torch.exp, [torch.ones(3)], __file__)
    vars(answered)["own"] = [("y", torch.full((3,), 2.0))]
    with pytest.raises(three_runs.DisagreementError, match="torch gives 2"):
        _ = answered.sets


def half(*shape: int) -> Any:  # noqa: ANN401
    return torch.randn(shape).to(torch.bfloat16)


def running_sums(x: Any) -> Any:  # noqa: ANN401
    """In the type of the numbers, one after the other."""
    made = [x[..., 0]]
    for place in range(1, x.shape[-1]):
        made.append(made[-1] + x[..., place])
    return torch.stack(made, -1)


def parts_of_a_window(x: Any, w: Any) -> Any:  # noqa: ANN401
    """A transposed convolution whose products for each place of the window are stored."""
    made = torch.zeros(x.shape[0], w.shape[1], x.shape[2] + w.shape[2] - 1)
    for place in range(w.shape[2]):
        made[..., place : place + x.shape[2]] += torch.einsum("ncl,co->nol", x.float(), w[..., place].float()).to(
            x.dtype
        )
    return made.to(x.dtype)


def with_stored_statistics(x: Any, groups: int) -> Any:  # noqa: ANN401
    rows = x.float().reshape(x.shape[0], groups, -1)
    mean = rows.mean(-1, keepdim=True).to(x.dtype).float()
    scale = (rows.var(-1, correction=0, keepdim=True) + 1e-5).rsqrt().to(x.dtype).float()
    return ((rows - mean) * scale).reshape(x.shape).to(x.dtype)


OF_GPUS: dict[str, tuple[Callable[..., Any], Callable[..., Any], list[tuple[int, ...]]]] = {
    "running sums": (lambda x: x.cumsum(-1), running_sums, [(4, 200)]),
    "bias": (F.conv1d, lambda x, w, b: F.conv1d(x, w) + b[:, None], [(2, 8, 40), (16, 8, 3), (16,)]),
    "window": (F.conv_transpose1d, parts_of_a_window, [(2, 8, 40), (8, 16, 5)]),
    "group norm": (lambda x: F.group_norm(x, 4), lambda x: with_stored_statistics(x, 4), [(8, 8, 20)]),
    "instance norm": (F.instance_norm, lambda x: with_stored_statistics(x, 8), [(8, 8, 20)]),
}
"""What torch stores in 16 bits on a GPU, and not on a CPU."""


@pytest.mark.parametrize("name", OF_GPUS)
def test_what_a_gpu_stores_in_16_bits_is_kept_and_a_wrong_answer_is_not(name: str) -> None:
    function, on_gpu, shapes = OF_GPUS[name]
    for seed in range(3):
        torch.manual_seed(seed)
        given = [half(*shape) for shape in shapes]
        sets = as_arrays.reference_sets(three_runs.Answered(function, given, __file__))
        made = on_gpu(*given)
        assert not bool(grades(sets, [("y", made)]).any())
        assert bool((grades(sets, [("y", made * 1.5)]) == Grade.BROKEN).any())


def test_torchs_own_answer_in_a_type_of_16_bits_is_no_suspect() -> None:
    for seed in range(4):
        torch.manual_seed(seed)
        given = [4 * torch.randn(2, 4, 6, 8).half() for _ in range(3)]
        answered = three_runs.Answered(F.scaled_dot_product_attention, given, __file__)
        assert not bool(grades(as_arrays.reference_sets(answered), answered.own).any())


def test_the_running_values_of_a_batch_norm_are_outputs_though_torch_counts_no_write() -> None:
    given = [torch.randn(3, 4, 5), torch.zeros(4), torch.ones(4)]
    assert [name for name, _ in leaves.call_with(running_values, given)] == ["y", "input[1]", "input[2]"]
    assert [name for name, _ in leaves.call_with(F.batch_norm, given)] == ["y"], "outside of training"


def test_radii_do_not_grow_from_norm_to_norm_without_end() -> None:
    """After five norms of a network a variance was not known to be above 0, and nothing was known of any answer."""
    _, ((_, _, one),) = three_runs.Answered(norms_in_a_row, given_for("norms in a row", 1), __file__).strict
    assert float(one.radius.max()) < 100


@pytest.mark.parametrize("by_moments", [False, True])
@pytest.mark.parametrize("mean", [0.0, 1.0, 1e3, 1e6])
def test_no_normalised_number_is_further_than_the_most_deviations(mean: float, by_moments: bool) -> None:
    """In float32, of numbers that differ by little or by much, by two passes, by moments, and with a factor first."""
    statistics = pytest.importorskip(f"{twins}.statistics")
    eps, generator = 1e-5, torch.Generator().manual_seed(3)
    for count in (1, 2, 5, 64):
        away = torch.zeros(600, count)
        away[:, 0] = torch.exp2(40 * torch.rand(600, generator=generator) - 30)
        x = (mean + away).float()
        m = x.mean(-1, keepdim=True)
        v = (x * x).mean(-1, keepdim=True) - m * m if by_moments else (x - m).square().mean(-1, keepdim=True)
        s = (v.clamp(min=0) + eps).rsqrt()
        size = x.double().square().mean(-1, keepdim=True).sqrt()
        most = statistics.most_deviations(size, count, eps, sets.SINGLE, by_moments=by_moments)
        for y in ((x - m) * s, x * s - m * s):
            assert bool((y.double().abs() <= most).all()), (count, mean)


def test_a_quotient_at_a_step_may_be_on_either_side() -> None:
    """floor(x / s) where x is a multiple of s: what random roundings showed was none, and x (1 / s) was a suspect."""
    x = torch.tensor([5.125, 0.3671875, 1.0]).bfloat16()
    s = torch.tensor([2.5625, 0.3671875, 0.3]).bfloat16()
    (made,) = three_runs.Answered(lambda x, s: (x.float() / s.float()).floor() * s, [x, s], "").sets
    assert (made.proved >= torch.tensor([2.5, 0.36, 0.0])).all()
    assert made.proved[2] < 1e-6
