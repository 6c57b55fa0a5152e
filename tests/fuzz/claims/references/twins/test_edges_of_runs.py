"""Runs at the edges of torch: complex numbers, no number at all, and numbers that leave torch."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kfuzz.oracle.sets.reference_sets import Grade

torch = pytest.importorskip("torch")
twins = "kfuzz.claims.references.torch.twins"
run = pytest.importorskip(f"{twins}.run")
sets = pytest.importorskip(f"{twins}.sets")
table = pytest.importorskip(f"{twins}.table")
Answered = pytest.importorskip(f"{twins}.three_runs").Answered
as_arrays = pytest.importorskip(f"{twins}.as_arrays")

TIGHT = 0.3
"""A radius of which no move takes this part is wider than it has to be."""
COMPLEX = ["exp", "sin", "cos", "sinh", "cosh", "log", "sqrt", "reciprocal", "pow"]


def radius_of(function: Callable[..., Any], *given: Any) -> Any:  # noqa: ANN401  tensors
    """The radius of the first output."""
    return Answered(function, list(given)).run()[1][0][2].radius


@pytest.mark.parametrize("name", COMPLEX)
def test_a_function_of_complex_numbers_moves_within_its_disc(name: str) -> None:
    generator = torch.Generator().manual_seed(1)
    z = torch.complex(*(torch.randn(200, generator=generator, dtype=torch.float64) for _ in range(2)))
    r = 0.1 * torch.rand(200, generator=generator, dtype=torch.float64) * z.abs()
    rest = [3] if name == "pow" else []
    operand = sets.NumberSet(z, r, torch.complex64)
    overload = "Tensor_Scalar" if name == "pow" else "default"
    func = getattr(getattr(torch.ops.aten, name), overload)
    results = [func(z.to(torch.complex64), *rest)]
    made = table.rule_of(name)(run.TwinRun(), table.Operation(name, func, [operand, *rest], {}, results))[0]
    known = made.r.isfinite()
    tightest = 0.0
    for turn in range(32):
        moved = func(z + torch.polar(r, torch.full_like(r, turn * math.pi / 16)), *rest)
        part = ((moved - made.x).abs() / made.r)[known]
        assert bool((part <= 1 + 1e-9).all()), part.max()
        tightest = max(tightest, float(part.median()))
    assert int(known.sum()) > 100
    assert tightest > TIGHT


def test_what_torch_takes_apart_by_names_with_underscores_rounds() -> None:
    """Before, `_unsafe_index_put` had lost its underscore on its way to its rule: a sum of numbers was exact."""
    x = torch.randn(1, 2, 4, 4)
    r = radius_of(
        lambda x: torch.nn.functional.fold(torch.nn.functional.unfold(x, 3, padding=1), (4, 4), 3, padding=1), x
    )
    assert float(r.min()) > 0


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.softmax(-1),
        lambda x: torch.cat([x.logsumexp(-1), x.sum(-1)]),
        lambda x: x @ x.t(),
        lambda x: torch.nn.functional.layer_norm(x, (x.shape[-1],)),
        lambda x: x.exp().cumsum(0).amax(0) if x.shape[0] else x.exp(),
        lambda x: torch.zeros(3, x.shape[-1]).index_add(0, torch.zeros(len(x), dtype=torch.int64), x.exp()),
        lambda x: x.exp()[x[:, :1].isnan().any(1)].mean(0),
    ],
)
@pytest.mark.parametrize("shape", [(0, 4), (3, 0)])
def test_nothing_is_judged_as_torch_has_it(function: Callable[..., Any], shape: tuple[int, int]) -> None:
    x = torch.randn(*shape)
    try:
        own = function(x)
    except (IndexError, RuntimeError):
        pytest.skip("torch does not take it")
    (one,) = Answered(function, [x]).sets
    torch.testing.assert_close(one.x.float(), own, equal_nan=True)


def test_numpys_array_has_the_radius_of_the_tensor_whose_memory_it_is() -> None:
    x = torch.randn(4, 5)
    wanted = radius_of(lambda x: x.exp()[1:], x)
    assert torch.equal(radius_of(lambda x: x.exp().numpy()[1:], x), wanted)
    assert bool(radius_of(lambda x: x.exp().numpy() * 2, x).isinf().all())


def test_a_number_that_leaves_torch_keeps_its_radius() -> None:
    x = torch.randn(40)
    assert float(radius_of(lambda x: float(x.sum()), x)) == float(radius_of(lambda x: x.sum(), x))


def test_nothing_compiles_a_reference() -> None:
    uncompiled = pytest.importorskip("kfuzz.claims.references.torch.runnable").uncompiled
    assert uncompiled(radius_of) is radius_of
    assert uncompiled(fullgraph=True, mode="max-autotune")(radius_of) is radius_of


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.from_numpy(np.sqrt(x.exp().numpy())) * 2.0,
        lambda x: torch.tensor([one / 3 for one in x.exp().tolist()]) * 2.0,
        lambda x: torch.tensor(np.asarray(x.exp())) + 0.0,
    ],
    ids=["numpy", "list", "array"],
)
def test_floats_that_come_back_to_torch_are_not_exact(function: Callable[..., Any]) -> None:
    """Before, they had no radius, so that a kernel which computes the same in float32 was accused."""
    answered = Answered(function, [torch.randn(8)])
    assert bool(answered.sets[0].loosest.isinf().all())
    assert answered.notes.left


def test_constants_of_numpy_stay_exact() -> None:
    answered = Answered(lambda x: torch.from_numpy(np.arange(8.0)).float() + x, [torch.randn(8)])
    assert not answered.notes.left
    assert bool(answered.sets[0].loosest.isfinite().all())


def test_memory_that_is_left_unset_is_not_judged() -> None:
    def half(x: Any) -> Any:  # noqa: ANN401  a tensor
        out = torch.empty(8)
        out[:4] = x[:4]
        return out

    (made,) = Answered(half, [torch.randn(8)]).sets
    assert made.proved.isinf().tolist() == [False] * 4 + [True] * 4


def test_a_draw_that_no_answer_follows_from_does_not_matter() -> None:
    (doubled,) = Answered(lambda x: x * 2.0 + 0 * len(torch.randn_like(x)), [torch.randn(8)]).sets
    assert bool(doubled.proved.isfinite().all())
    with pytest.raises(Exception, match="draws random numbers"):
        _ = Answered(lambda x: (x * 2.0, x + torch.randn_like(x)), [torch.randn(8)]).sets


def test_a_product_in_a_loop_has_one_way_to_store_its_operands() -> None:
    def attend(x: Any) -> Any:  # noqa: ANN401  a tensor
        return torch.stack([torch.softmax(one.float() @ one.float().T, -1) @ one.float() for one in x])

    assert len(Answered(attend, [torch.randn(3, 4, 8).half()], __file__).stored) == 2


def grades_of(function: Callable[..., Any], given: list[Any], answer: Any) -> set[int]:  # noqa: ANN401  tensors
    """The grades of all elements of an answer in float32."""
    (grades,) = as_arrays.grade_answer(as_arrays.reference_sets(Answered(function, given, __file__)), [answer])
    return set(map(int, grades.ravel()))


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_what_another_kernel_has_stored_in_16_bits_before_is_right(kind: Any) -> None:  # noqa: ANN401  a type
    """A backward kernel reads the answer o of the forward one in 16 bits: delta = (o * do).sum(-1) was suspect."""
    generator = torch.Generator().manual_seed(1)
    p, v, do = (torch.rand(16, 16, generator=generator).to(kind).float() for _ in range(3))

    def reference(p: Any, v: Any, do: Any) -> Any:  # noqa: ANN401  tensors
        return ((p.float() * 0.7) @ v.float() * do.float()).sum(-1)

    o = (p * 0.7) @ v
    given = [one.to(kind) for one in (p, v, do)]
    assert grades_of(reference, given, (o.to(kind).float() * do).sum(-1)) == {Grade.KEPT}
    assert Grade.KEPT not in grades_of(reference, given, (o * 1.1 * do).sum(-1))


def test_a_result_that_is_an_output_is_not_stored_in_16_bits_before() -> None:
    a, b = torch.rand(8, 8).half(), torch.rand(8, 8).half()
    assert not Answered(lambda a, b: a.float().exp() @ b.float(), [a, b], __file__).kept


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("shift", "grade"), [(-16.0, Grade.KEPT), (0.0, Grade.KEPT), (12.0, Grade.UNJUDGED)])
def test_an_operand_in_float16_may_be_0_or_infinite(kind: Any, shift: float, grade: int) -> None:  # noqa: ANN401
    """With inputs in bfloat16 an operand that is stored in float16 made an error of what is infinite or 0 there."""
    generator = torch.Generator().manual_seed(1)
    x, v = (torch.rand(8, 8, generator=generator).to(kind) for _ in range(2))

    def reference(x: Any, v: Any) -> Any:  # noqa: ANN401  tensors
        return torch.exp(x.float() + shift) @ v.float()

    stored = torch.exp(x.float() + shift).half().float()
    assert grades_of(reference, [x, v], stored @ v.float()) == {grade}


def test_in_the_loosest_run_an_operand_in_float16_may_be_0_or_infinite() -> None:
    x = torch.zeros(2, 2).half()
    for shift, radius in ((-20.0, math.exp(-20.0)), (12.0, math.inf)):
        answered = Answered(lambda x: torch.exp(x.float() + shift) @ torch.ones(2, 2), [x], __file__)  # noqa: B023
        assert float(answered.run(is_loose=True)[1][0][2].radius.min()) >= radius


def test_an_input_in_bfloat16_is_not_excused_where_float16_has_no_such_number() -> None:
    """Its own type holds it: a kernel that casts it to float16 is wrong."""
    x, v = torch.zeros(2, 2).bfloat16(), torch.full((2, 2), 1e6).bfloat16()

    def reference(x: Any, v: Any) -> Any:  # noqa: ANN401  tensors
        return torch.exp(x.float() + 0.3) @ v.float()

    assert grades_of(reference, [x, v], torch.full((2, 2), torch.inf)) == {Grade.BROKEN}


def test_one_number_at_places_that_are_not_known_is_there_or_not() -> None:
    """Before, nothing was known of any element where a mask or an index followed from numbers that are almost equal."""
    scores = torch.randn(6, 8, generator=torch.Generator().manual_seed(1))

    def by_mask(x: Any) -> Any:  # noqa: ANN401  a tensor
        kept = x.clone().exp()
        kept[kept < kept[2, 3].sqrt() ** 2] = 0
        return kept

    def by_index(x: Any) -> Any:  # noqa: ANN401  a tensor
        scaled = x.exp()
        return torch.zeros_like(x, dtype=torch.bool).scatter_(-1, scaled.topk(3, -1, sorted=False)[1], value=True) * 1.0

    for function, given in ((by_mask, scores), (by_index, scores)):
        r = radius_of(function, given)
        assert int((r > 0.5).sum()) <= 1
        assert bool((r[0] < 1e-5).all())
    equal = scores.clone()
    equal[4] = 1.0
    r = radius_of(by_index, equal)
    assert bool((r[4] > 0).any())
    assert bool((r[[0, 1, 2, 3, 5]] == 0).all())


def test_a_complex_number_beyond_the_largest_float_may_be_anything() -> None:
    """Before, the real part of what torch answers with NaN was exact."""

    def twice(v: Any, by: Any) -> Any:  # noqa: ANN401  tensors
        return (torch.view_as_complex(v) * (by + 0j) * torch.ones(2, dtype=torch.complex64)).real

    r = radius_of(twice, torch.tensor([[0.0, 3.0e38], [1.0, 2.0]]), torch.tensor([2.0, 2.0]))
    assert bool(r[0].isinf())
    assert float(r[1]) < 1e-5


@pytest.mark.parametrize("dtype", [torch.int16, torch.int32, torch.int64])
@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_an_integer_of_what_is_no_number_may_be_any(dtype: Any, odd: float) -> None:  # noqa: ANN401
    """0 / 0 as an integer is 0 on a GPU and the least one on a CPU: torch's own answer was BROKEN there."""
    radius = radius_of(lambda x: x.to(dtype), torch.tensor([odd, 1.5, -3.0]))
    assert radius.isinf().tolist() == [True, False, False]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_mask_of_the_least_number_is_known(dtype: Any) -> None:  # noqa: ANN401
    """A product that is the largest number of its type counted as one that overflows: no attention with such a mask
    was judged.
    """

    def masked(x: Any) -> Any:  # noqa: ANN401
        mask = torch.triu(torch.ones(4, 4, dtype=dtype), diagonal=1) * torch.finfo(dtype).min
        return torch.softmax(x + mask.float(), -1)

    assert float(radius_of(masked, torch.eye(4)).max()) < 1e-5


def test_zero_times_the_least_number_is_zero() -> None:
    radius = radius_of(lambda x: x * torch.finfo(torch.float32).min, torch.tensor([0.0, 1.0]))
    assert radius.tolist() == [0.0, 0.0]


def by_hand(x: Any) -> Any:  # noqa: ANN401
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("softmax", [lambda x: torch.softmax(x, -1, dtype=torch.float32), by_hand])
def test_what_a_mask_of_the_least_number_hides_has_no_share(dtype: Any, softmax: Callable[..., Any]) -> None:  # noqa: ANN401
    """-3 + finfo.min may be -infinity in another arrangement, and counted as any number: no attention with such a mask
    was judged.
    """

    def masked(x: Any) -> Any:  # noqa: ANN401
        return softmax(x + torch.triu(torch.ones(4, 4, dtype=dtype), diagonal=1) * torch.finfo(dtype).min)

    scores = torch.tensor([[-3.0, 2, 1, -5]]).expand(4, 4).to(dtype)
    radius = radius_of(masked, scores)
    assert float(radius.max()) < 0.02
    assert float(radius.triu(1).max()) < 2.0**-22  # the least numbers of float16


def test_nothing_is_known_of_a_row_that_is_hidden_as_a_whole() -> None:
    """All of its numbers may be -infinity: another arrangement gives NaN where torch gives equal shares."""
    hidden = torch.full((2, 4), torch.finfo(torch.float32).min)
    radius = radius_of(lambda x: torch.softmax(x + hidden, -1), torch.full((2, 4), -3.0))
    assert radius.isinf().all()


@pytest.mark.skipif(not hasattr(torch, "_grouped_mm"), reason="this torch has no products of groups")
@pytest.mark.parametrize("form", ["rows", "columns", "terms"])
def test_a_product_of_groups_is_known(form: str) -> None:
    """It was measured, and so anything in bfloat16: no mixture of experts by torch._grouped_mm was judged."""
    ends = torch.tensor([16, 48, 64], dtype=torch.int32)
    shapes = {"rows": ((64, 32), (3, 32, 16)), "columns": ((3, 64, 32), (32, 64)), "terms": ((32, 64), (64, 16))}
    a, b = (torch.randn(one, dtype=torch.bfloat16) for one in shapes[form])
    assert radius_of(lambda a, b: torch._grouped_mm(a, b, offs=ends).float(), a, b).isfinite().all()


def test_numbers_that_lie_in_a_bin_are_counted() -> None:
    """torch.histc was measured: counts that are known of whole numbers were not, nor was what followed from them."""
    experts = torch.tensor([0, 1, 1, 3, 3, 3])
    assert radius_of(lambda x: torch.histc(x.float(), bins=4, min=0, max=4), experts).tolist() == [0, 0, 0, 0]


def test_a_number_at_an_edge_may_be_in_either_bin() -> None:
    x = torch.tensor([0.1, 0.3, 0.65, 0.9])  # 0.3 lies at the edge of the bins of width 0.1
    assert radius_of(lambda x: torch.histc(x, bins=10, min=0, max=1), x).nonzero().flatten().tolist() == [
        0,
        1,
        2,
        3,
        8,
        9,
    ]


def test_what_is_not_hidden_keeps_the_rounding_of_a_difference() -> None:
    """The top of a sum stood for the upper end of its other numbers, too, without what the sum itself loses: 1e-8 for
    1e-3 at 1e4.
    """
    hidden = torch.tensor([0.0, 0.0, torch.finfo(torch.float32).min])
    made = Answered(lambda x: (x + hidden) - 0.3, [torch.tensor([0.1, 1e4, 3.0])]).run()[1][0][2]
    assert ((made.end(1) - made.x)[:2] >= 0.99 * made.radius[:2]).all()
    assert made.end(1)[2] < -3e38
