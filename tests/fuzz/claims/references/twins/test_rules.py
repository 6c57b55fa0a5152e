"""Each rule: what operands move within their sets stays inside its radius, and would not inside a third of it."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath
import pytest

torch = pytest.importorskip("torch")
twins = "kfuzz.claims.references.torch.twins"
run = pytest.importorskip(f"{twins}.run")
sets = pytest.importorskip(f"{twins}.sets")
table = pytest.importorskip(f"{twins}.table")
functions = pytest.importorskip(f"{twins}.rules.functions")

ATEN = torch.ops.aten
TIGHT = 0.3
"""A rule whose radius is this part of what it should be fails for some operand."""
SMALL = 2.0**-14
Draw = Callable[[Any], list[Any]]


def numbers(*shape: int, low: float = -3.0, high: float = 3.0) -> Callable[[Any], Any]:
    return lambda generator: low + (high - low) * torch.rand(shape, generator=generator, dtype=torch.float64)


positive = partial(numbers, low=0.25, high=4.0)
FIRST = 0
"""An operation is followed from its first result."""
MOVES = [
    (ATEN.clone.default, [numbers(4, 5)], []),
    (ATEN.neg.default, [numbers(4, 5)], []),
    (ATEN.flip.default, [numbers(4, 5)], [[1]]),
    (ATEN.roll.default, [numbers(4, 5)], [[2], [1]]),
    (ATEN.repeat.default, [numbers(4, 5)], [[2, 1]]),
    (ATEN.tril.default, [numbers(4, 5)], []),
    (ATEN.constant_pad_nd.default, [numbers(4, 5)], [[1, 2], 7.0]),
    (ATEN.reflection_pad1d.default, [numbers(2, 4, 5)], [[1, 2]]),
    (ATEN.pixel_shuffle.default, [numbers(1, 4, 3, 3)], [2]),
    (ATEN.index_select.default, [numbers(4, 5)], [1, torch.tensor([0, 4, 4])]),
    (ATEN.gather.default, [numbers(4, 5)], [1, torch.tensor([[0], [1], [4], [2]])]),
    (ATEN.embedding.default, [numbers(4, 5)], [torch.tensor([3, 0, 3])]),
    (ATEN.upsample_nearest2d.default, [numbers(1, 2, 3, 3)], [[6, 6]]),
]
ARITHMETIC = [
    (ATEN.add.Tensor, [numbers(4, 5), numbers(5)], []),
    (ATEN.sub.Tensor, [numbers(4, 5), numbers(4, 1)], []),
    (ATEN.rsub.Scalar, [numbers(4, 5)], [2]),
    (ATEN.mul.Tensor, [numbers(4, 5), numbers(4, 5)], []),
    (ATEN.div.Tensor, [numbers(4, 5), positive(4, 5)], []),
    (ATEN.abs.default, [numbers(4, 5)], []),
    (ATEN.maximum.default, [numbers(4, 5), numbers(4, 5)], []),
    (ATEN.clamp.default, [numbers(4, 5)], [-9, 9]),
    (ATEN.relu.default, [positive(4, 5)], []),
    (ATEN.where.self, [numbers(4, 5), numbers(4, 5)], "where"),
    (ATEN.masked_fill.Scalar, [numbers(4, 5)], [torch.eye(4, 5) > 0, -7.0]),
    (ATEN.amax.default, [numbers(4, 5)], [[1]]),
    (ATEN.remainder.Scalar, [positive(4, 5)], [9]),
    (ATEN.lerp.Scalar, [numbers(4, 5), numbers(4, 5)], [0.25]),
]
SUMS = [
    (ATEN.sum.dim_IntList, [numbers(4, 9)], [[1]]),
    (ATEN.mean.dim, [numbers(4, 9)], [[1], True]),
    (ATEN.cumsum.default, [numbers(4, 9)], [1]),
    (ATEN.avg_pool2d.default, [numbers(1, 2, 6, 6)], [[3, 3], [2, 2]]),
    (ATEN._adaptive_avg_pool2d.default, [numbers(1, 2, 7, 7)], [[3, 3]]),
    (ATEN.upsample_bilinear2d.default, [numbers(1, 2, 4, 4)], [[7, 7], False]),
    (ATEN.prod.dim_int, [positive(4, 5)], [1]),
    (ATEN.cumprod.default, [positive(4, 5)], [1]),
    (ATEN.scatter_add.default, [numbers(4, 5)], "scatter"),
    (ATEN.index_add.default, [numbers(4, 5)], "index_add"),
    (ATEN.index_put.default, [numbers(4, 5), numbers(2, 5)], "index_put"),
    (ATEN.max_pool2d_with_indices.default, [numbers(1, 2, 6, 6)], [[2, 2]]),
    (ATEN.topk.default, [numbers(4, 9)], [3]),
    (ATEN.sort.default, [numbers(4, 9)], []),
    (ATEN.max.dim, [numbers(4, 9)], [1]),
]
PRODUCTS = [
    (ATEN.mm.default, [numbers(4, 7), numbers(7, 3)], []),
    (ATEN.bmm.default, [numbers(2, 4, 7), numbers(2, 7, 3)], []),
    (ATEN.mv.default, [numbers(4, 7), numbers(7)], []),
    (ATEN.dot.default, [numbers(7), numbers(7)], []),
    (ATEN.addmm.default, [numbers(3), numbers(4, 7), numbers(7, 3)], []),
    (ATEN.baddbmm.default, [numbers(2, 4, 3), numbers(2, 4, 7), numbers(2, 7, 3)], []),
    (ATEN.convolution.default, [numbers(1, 4, 6), numbers(3, 4, 3), numbers(3)], [[1], [1], [1], False, [0], 1]),
    (ATEN.convolution.default, [numbers(1, 4, 6), numbers(4, 3, 3), numbers(3)], [[2], [1], [1], True, [0], 1]),
]
NORMALISING = [
    (ATEN._softmax.default, [numbers(4, 7)], [1, False]),
    (ATEN._log_softmax.default, [numbers(4, 7)], [1, False]),
    (ATEN.logsumexp.default, [numbers(4, 7)], [[1]]),
    (ATEN.var.correction, [numbers(4, 7)], [[1]]),
    (ATEN.std.correction, [numbers(4, 7)], [[1]]),
    (ATEN.var_mean.correction, [numbers(4, 7)], [[1]]),
    (ATEN.linalg_vector_norm.default, [numbers(4, 7)], [2, [1]]),
    (ATEN.linalg_vector_norm.default, [numbers(4, 7)], [1, [1]]),
    (ATEN.linalg_vector_norm.default, [numbers(4, 7)], [math.inf, [1]]),
]
OPERATIONS = [*MOVES, *ARITHMETIC, *SUMS, *PRODUCTS, *NORMALISING]


def of_floats(one: Any) -> Any:  # noqa: ANN401  a tensor or a set
    return torch.float64 if isinstance(one, sets.NumberSet) else one.dtype


BEHIND = {
    "where": lambda given: [torch.tril(torch.ones(4, 5)) > 0, *given],
    "scatter": lambda given: [
        given[0],
        1,
        torch.tensor([[0, 2], [1, 1], [4, 4], [3, 0]]),
        torch.ones(4, 2, dtype=of_floats(given[0])),
    ],
    "index_add": lambda given: [given[0], 0, torch.tensor([1, 1, 3]), torch.ones(3, 5, dtype=of_floats(given[0]))],
    "index_put": lambda given: [given[0], [torch.tensor([1, 3])], given[1], True],
}
WIDE = ("softmax", "log_softmax", "std", "linalg_vector_norm", "upsample")
"""Whose radius holds for several elements at once: the worst of one element moves less."""


def arguments(given: list[Any], rest: Any) -> list[Any]:  # noqa: ANN401  the arguments after the operands
    return BEHIND[rest](given) if isinstance(rest, str) else [*given, *rest]


def first(made: Any) -> Any:  # noqa: ANN401  of torch
    return made[FIRST] if isinstance(made, tuple | list) else made


def outcome(func: Any, given: list[Any], radii: list[Any], rest: Any) -> Any:  # noqa: ANN401
    """What the rule says of operands with these radii."""
    operands = [sets.NumberSet(x, r, torch.float32) for x, r in zip(given, radii, strict=True)]
    single = func(*arguments([one.float() for one in given], rest))

    def wrapped(one: Any) -> Any:  # noqa: ANN401  an argument
        if isinstance(one, list) and any(isinstance(part, torch.Tensor) for part in one):
            return [wrapped(part) for part in one]
        return (
            sets.NumberSet(one, None, torch.float32 if one.is_floating_point() else one.dtype)
            if isinstance(one, torch.Tensor)
            else one
        )

    args = [one if isinstance(one, sets.NumberSet) else wrapped(one) for one in arguments(operands, rest)]
    name = func._schema.name.partition("::")[2]
    results = list(single) if isinstance(single, tuple | list) else [single]
    made = table.rule_of(name)(run.TwinRun(), table.Operation(name, func, args, {}, results))[FIRST]
    return made if made.r is not None else sets.StepResult(made.x, made.error, made.error)  # both in one sum


def worst_move(func: Any, given: list[Any], radii: list[Any], rest: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """How far each of some elements moves if all operands move as its slopes point, and these elements."""
    leaves = [one.clone().requires_grad_() for one in given]
    made = first(func(*arguments(leaves, rest)))
    flat = made.reshape(-1)
    places = torch.randperm(len(flat), generator=torch.Generator().manual_seed(0))[:5]
    moves = []
    for place in places:
        slopes = torch.autograd.grad(flat[place], leaves, retain_graph=True, allow_unused=True)
        best = torch.zeros((), dtype=torch.float64)
        for sign in (-1, 1):
            moved = [x if s is None else x + sign * r * s.sign() for x, r, s in zip(given, radii, slopes, strict=True)]
            best = torch.maximum(
                best, (first(func(*arguments(moved, rest))).reshape(-1)[place] - flat[place]).abs().detach()
            )
        moves.append(best)
    return torch.stack(moves), places


@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: str(row[0]))
def test_what_moves_within_its_set_stays_within_the_radius_and_not_within_a_third(
    row: tuple[Any, list[Any], Any],
) -> None:
    func, draws, rest = row
    if table.rule_of(func._schema.name.partition("::")[2]) is None:
        pytest.skip("torch decomposes it")
    tightest = 0.0
    for seed in range(6):
        generator = torch.Generator().manual_seed(seed)
        given = [draw(generator).float().double() for draw in draws]
        radii = [SMALL * torch.rand(one.shape, generator=generator, dtype=torch.float64) for one in given]
        moved, places = worst_move(func, given, radii, rest)
        r = outcome(func, given, radii, rest).r.expand(first(func(*arguments(given, rest))).shape).reshape(-1)[places]
        assert bool((moved <= r * (1 + 1e-9) + 2.0**-50).all()), (moved, r)
        tightest = max(tightest, float((moved / r.clamp(min=1e-300)).max()))
    assert tightest > (TIGHT / 3 if any(word in str(func) for word in WIDE) else TIGHT)


@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: str(row[0]))
def test_torch_in_float32_stays_within_the_error_of_exact_operands(row: tuple[Any, list[Any], Any]) -> None:
    func, draws, rest = row
    if table.rule_of(func._schema.name.partition("::")[2]) is None:
        pytest.skip("torch decomposes it")
    for seed in range(6):
        generator = torch.Generator().manual_seed(seed)
        given = [draw(generator).float().double() for draw in draws]
        made = outcome(func, given, [torch.zeros(one.shape, dtype=torch.float64) for one in given], rest)
        error = torch.zeros(()) if made.error is None else made.error
        own = first(func(*arguments([one.float() for one in given], rest))).double()
        r = torch.zeros(()) if made.r is None else made.r
        assert bool(((own - made.x).abs() <= error + r).all())


IN_DIGITS = {
    "exp2": lambda x: mpmath.power(2, x), "log2": lambda x: mpmath.log(x, 2), "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "reciprocal": lambda x: 1 / x, "square": lambda x: x * x, "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "silu": lambda x: x / (1 + mpmath.exp(-x)), "gelu": lambda x: x * mpmath.ncdf(x),
    "mish": lambda x: x * mpmath.tanh(mpmath.log1p(mpmath.exp(x))), "softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    "elu": lambda x: x if x > 0 else mpmath.expm1(x), "leaky_relu": lambda x: x if x > 0 else mpmath.mpf(0.01) * x,
    "hardsigmoid": lambda x: max(0, min(6, x + 3)) / 6, "hardswish": lambda x: x * max(0, min(6, x + 3)) / 6,
    "lgamma": mpmath.loggamma, "rad2deg": mpmath.degrees, "deg2rad": mpmath.radians,
}  # fmt: skip
POSITIVE = ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "lgamma", "digamma")
WITHIN_ONE = ("asin", "acos", "atanh", "erfinv")
OF_TWO = ("logaddexp", "hypot", "xlogy", "celu", "selu", "log_sigmoid_forward", "acosh")
OF_ONE = [name for name in functions.FUNCTIONS if name not in OF_TWO]


def drawn_for(name: str, seed: int) -> Any:  # noqa: ANN401  a tensor
    generator = torch.Generator().manual_seed(seed)
    low, high = (0.1, 6.0) if name in POSITIVE else (-0.9, 0.9) if name in WITHIN_ONE else (-6.0, 6.0)
    return numbers(40, low=low, high=high)(generator).float().double()


def overload(name: str) -> Any:  # noqa: ANN401  an operation
    packet = getattr(ATEN, name)
    return packet.default if "default" in packet.overloads() else packet.Tensor


@pytest.mark.parametrize("name", OF_ONE)
def test_a_function_lies_between_what_mpmath_gives_and_its_error(name: str) -> None:
    x = drawn_for(name, 1)
    digits = IN_DIGITS.get(name) or getattr(mpmath, name)
    with mpmath.workdps(40):
        wanted = torch.tensor([float(digits(mpmath.mpf(float(one)))) for one in x], dtype=torch.float64)
    made = outcome(overload(name), [x], [torch.zeros(x.shape, dtype=torch.float64)], [])
    assert bool(((made.x - wanted).abs() <= 2.0**-46 * wanted.abs() + 2.0**-50).all())
    error = torch.zeros(()) if made.error is None else made.error
    seen = (overload(name)(x.float()).double() - wanted).abs()
    assert bool((seen <= error).all())
    assert float((seen / error).max()) > 1 / 64, "the units are far too many"


@pytest.mark.parametrize("name", OF_ONE)
def test_a_functions_radius_holds_at_every_point_of_a_set(name: str) -> None:
    for size in (2.0**-20, 0.05, 1.0):
        x = drawn_for(name, 2)
        r = size * torch.rand(x.shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
        if name in WITHIN_ONE:
            r = r.clamp(max=0.09)
        made = outcome(overload(name), [x], [r], [])
        every = x + torch.linspace(-1, 1, 41).double().unsqueeze(1) * r
        away = (overload(name)(every) - made.x).abs()
        inside = (away <= made.r * (1 + 1e-9) + 2.0**-50) | made.r.isinf() | away.isnan()
        assert bool(inside.all()), name
        if size < 1:
            assert float((away.nan_to_num(0) / made.r).nan_to_num(0, posinf=0).max()) > TIGHT, (
                "the radius is far too wide"
            )
