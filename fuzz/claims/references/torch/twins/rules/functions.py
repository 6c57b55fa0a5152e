"""Functions of one number, or of two: at both ends of their sets, or by their largest slope.

The units are generous: the most that a usual implementation errs by, in units of the last place of float32.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from kfuzz.claims.references.torch.twins.factors import join_factors
from kfuzz.claims.references.torch.twins.rules.arithmetic import are_short, lost_infinities, pair, unknown_where_loose
from kfuzz.claims.references.torch.twins.rules.shared import (
    TRUTHS,
    certain,
    corners,
    finite,
    gap,
    holds,
    is_nowhere,
    of_integers,
    rounding,
    size_of,
)  # fmt: skip
from kfuzz.claims.references.torch.twins.sets import (
    UNITS,
    NumberSet,
    StepResult,
    is_power_of_two,
    to_infinity,
)
from kfuzz.claims.references.torch.twins.table import Operation, Roundings

MOST_EXPONENT = 200.0
MANY = 6
"""Units of a larger term by way of which torch computes: docs/numerics.md#torch-on-a-cpu."""
AT_ZERO = (
    "sqrt", "square", "exp", "exp2", "expm1", "log1p", "tanh", "sin", "cos", "silu", "erf", "atan", "asin", "sinh",
)  # fmt: skip
"""Functions that are 0 or 1 at 0, whatever computes them."""


@dataclass(frozen=True)
class ScalarFunction:
    """How a function errs. `units`: of the result. `by_argument`: it goes through an exponential, whose argument is
    rounded. `slope`: the largest one of a function that neither rises nor falls all along, and has no least value at
    which it turns; `even` or convex functions need none. `larger`: a larger term by way of which a kernel may compute
    it, in units of 1, or of the argument; `always`: torch itself does so.
    """

    units: float
    by_argument: bool = False
    slope: float = 0.0
    larger: str = ""
    always: bool = False
    least: float | None = None
    pole: bool = False


FUNCTIONS: Mapping[str, ScalarFunction] = {
    "exp": ScalarFunction(4, True), "exp2": ScalarFunction(4, True), "expm1": ScalarFunction(4, True, larger="one"),
    "log": ScalarFunction(4, least=0.0, larger="one"), "log2": ScalarFunction(4, least=0.0, larger="one"),
    "log10": ScalarFunction(4, least=0.0, larger="one"), "log1p": ScalarFunction(4, least=-1.0, larger="one"),
    "sqrt": ScalarFunction(3, least=0.0), "rsqrt": ScalarFunction(5, least=0.0, pole=True),
    "reciprocal": ScalarFunction(3, pole=True), "square": ScalarFunction(1),
    "tanh": ScalarFunction(6, True, larger="one"), "sigmoid": ScalarFunction(8, True, larger="one"),
    "silu": ScalarFunction(12, True, slope=1.1, larger="argument"),
    "gelu": ScalarFunction(24, slope=1.13, larger="argument", always=True),
    "mish": ScalarFunction(24, True, slope=1.09, larger="argument"),
    "softplus": ScalarFunction(12, True, larger="one"), "log_sigmoid_forward": ScalarFunction(12, True, larger="one"),
    "elu": ScalarFunction(12, True, larger="one"), "celu": ScalarFunction(12, True, larger="one"),
    "selu": ScalarFunction(12, True, larger="one"), "leaky_relu": ScalarFunction(2),
    "hardswish": ScalarFunction(4, slope=1.5, larger="argument"), "hardsigmoid": ScalarFunction(4, larger="one"),
    "erf": ScalarFunction(6, larger="one"), "erfc": ScalarFunction(16, True, larger="one"),
    "sin": ScalarFunction(4, slope=1.0, larger="argument"), "cos": ScalarFunction(4, slope=1.0, larger="argument"),
    "tan": ScalarFunction(8, pole=True), "atan": ScalarFunction(6), "asin": ScalarFunction(6),
    "acos": ScalarFunction(6),
    "sinh": ScalarFunction(8, True, larger="one"), "cosh": ScalarFunction(8, True),
    "asinh": ScalarFunction(8, larger="one"),
    "acosh": ScalarFunction(8, larger="one"), "atanh": ScalarFunction(8, larger="one"),
    "lgamma": ScalarFunction(40, pole=True, larger="one", always=True),
    "digamma": ScalarFunction(40, pole=True, larger="one", always=True),
    "erfinv": ScalarFunction(40), "rad2deg": ScalarFunction(2), "deg2rad": ScalarFunction(2),
    "logaddexp": ScalarFunction(12, larger="argument"), "hypot": ScalarFunction(4),
    "xlogy": ScalarFunction(8, larger="argument"),
}  # fmt: skip
GATED = ("silu", "gelu", "mish", "hardswish")
"""Functions that are their argument times a number up to about 1."""
INVERSE = {"special_erf": "erf", "special_erfc": "erfc", "special_expm1": "expm1", "special_log1p": "log1p"}


def evaluate(run: Roundings, op: Operation) -> list[StepResult]:
    """A function at its operands, and at both ends of their sets."""
    row = FUNCTIONS[INVERSE.get(op.name, op.name)]
    every = op.at(lambda one: one.number)
    a, x = op.args[0], every[0]
    if x.is_complex():
        return of_complex(run, op, every)
    r = None if op.is_exact else radius_of(row, op, x)
    if row.pole or op.name in ("log", "log2", "log10"):
        r = lost_infinities(a, x, r)
    more, size = None, size_of(a)
    if row.by_argument:
        more = run.fine * size * slope_of(INVERSE.get(op.name, op.name), a.number, finite(x.abs()))
    if row.larger and (run.is_loose or row.always):
        top = (
            torch.ones(())
            if row.larger == "one"
            else size + (op.args[1].size if len(op.args) > 1 and isinstance(op.args[1], NumberSet) else 0.0)
        )
        top = (MANY if row.always else 2) * run.fine * top
        more = top if more is None else more + top
    kept = _is_kept(op, a, x)
    kept = kept if a.known.is_finite else (x == 0) & a.number.isinf() | kept
    product = join_factors([(a.factor, False)], op.results[0]) if op.name in GATED else None
    error = rounding(run, x, op.dtype, more, kept, row.units * run.fine)
    rest = [StepResult(one, torch.full(one.shape, torch.inf, dtype=torch.float64)) for one in every[1:]]
    return [StepResult(x, r, error, product=product), *rest]


def slope_of(name: str, a: torch.Tensor, size: torch.Tensor) -> torch.Tensor:
    """The most that a function moves with the argument of its exponential, which is rounded."""
    if name == "expm1":
        return torch.exp(a)
    if name in ("elu", "celu", "selu", "softplus"):
        return torch.exp(a).clamp(max=1.0)
    if name == "log_sigmoid_forward":
        return torch.exp(-a).clamp(max=1.0)
    if name in ("tanh", "sigmoid"):
        return 4 * torch.exp(-a.abs())
    if name in ("silu", "mish"):
        return 4 * a.abs() * torch.exp(-a.abs())
    return size * a.abs() if name == "erfc" else size


def _is_kept(op: Operation, a: NumberSet, x: torch.Tensor) -> torch.Tensor:
    """Where whatever computes it rounds nothing."""
    if op.name == "log2":
        return certain(a) & is_power_of_two(a.number) & (a.number > 0)
    if op.name == "reciprocal":
        return certain(a) & is_power_of_two(a.number) & (a.number != 0) & (x.abs() > 2.0**-100)
    kept = TRUTHS[False]
    if is_nowhere(certain(a)):
        return kept
    for names, number in ((AT_ZERO, 0), (("sqrt", "rsqrt", "log", "square"), 1)):
        kept = kept | (a.number == number) & certain(a) if op.name in names else kept
    return kept


def radius_of(row: ScalarFunction, op: Operation, x: torch.Tensor) -> torch.Tensor:
    """How far a function's value moves within its operands' sets."""
    a = op.args[0]
    if row.slope:
        return row.slope * a.radius
    if op.name == "leaky_relu":
        return max(1.0, abs(float(op.option(1, "negative_slope", 0.01)))) * a.radius

    def end(one: NumberSet, sign: int) -> torch.Tensor:
        """An end, inside the function's domain as far as the value itself is."""
        made = one.end(sign).double()
        if row.least is None or one is not a:
            return made
        return torch.where(one.number >= row.least, made.clamp(min=row.least), made)

    r = torch.zeros(x.shape, dtype=torch.float64)
    for made in corners(op, end):
        r = torch.maximum(r, gap(made[0], x))
    if row.pole and op.name != "rsqrt":
        r = torch.where((_distance_to_pole(op.name, a.number) <= a.radius) & ~certain(a), torch.inf, r)
    return r


def _distance_to_pole(name: str, x: torch.Tensor) -> torch.Tensor:
    if name == "tan":
        return torch.cos(x).abs()
    return x.abs() if name == "reciprocal" else torch.where(x > 0, x, 0.0)


def of_complex(run: Roundings, op: Operation, every: list[torch.Tensor]) -> list[StepResult]:
    """A function of complex numbers, by how far it moves within a disc. A logarithm loses digits of 1, too."""
    a, x = op.sets[0], every[0]
    error = 16 * run.fine * ((1 + finite(a.size)) * x.abs() + (1.0 if op.name.startswith("log") else 0.0))
    if op.is_exact:
        return [StepResult(x, None, error)]
    is_alone = a is op.args[0] and a.x.is_complex() and all(one.is_exact for one in op.sets[1:])
    moved = to_infinity(moved_in_disc(op, a, x)) if is_alone else torch.full(x.shape, torch.inf, dtype=torch.float64)
    return [StepResult(x, torch.where(a.radius > 0, moved, 0.0) if is_alone else moved, error)]


def moved_in_disc(op: Operation, a: NumberSet, x: torch.Tensor) -> torch.Tensor:
    """The most that a function moves with a complex argument within its radius; infinite where that is not known."""
    z, r, size = a.number, a.radius, a.size
    is_cut = (z.real <= r) & (z.imag.abs() <= r) | (size <= r)  # both sides of the negative axis, or 0
    match op.name:
        case "exp":
            return x.abs() * torch.expm1(r)
        case "sin" | "cos":
            return r * torch.cosh(z.imag.abs() + r)
        case "sinh" | "cosh":
            return r * torch.cosh(z.real.abs() + r)
        case "log":
            return torch.where(is_cut, torch.inf, -torch.log1p(-r / size))
        case "sqrt":
            return torch.where(is_cut, torch.inf, r / size.sqrt())
        case "reciprocal":
            return torch.where(size <= r, torch.inf, r / (size * (size - r)))
        case "pow" if isinstance(op.args[1], int) and op.args[1] >= 0:
            return (size + r) ** op.args[1] - size ** op.args[1]
    return torch.full(x.shape, torch.inf, dtype=torch.float64)


def power(run: Roundings, op: Operation) -> list[StepResult]:
    """a to the power b: at all corners; where a may be 0 or less, what is known of the function there."""
    if op.dtype not in UNITS:
        return of_integers(run, op) if op.is_exact else unknown_where_loose(op)
    a, b = pair(op)
    if a.x.is_complex() or b.x.is_complex():
        return of_complex(run, op, op.at(lambda one: one.number))
    x = op.at(lambda one: one.number)[0].double()
    is_whole = certain(b) & (b.number == b.number.round())
    r = None
    if not op.is_exact:
        r = torch.zeros(x.shape, dtype=torch.float64)
        for made in corners(op, lambda one, sign: one.end(sign).double()):
            r = torch.maximum(r, gap(made[0], x))
        crosses = (a.size <= a.radius) & ~(certain(a) & certain(b))
        is_root = (a.number >= 0) & certain(b) & (b.number > 0)
        root = torch.maximum(x.abs(), gap((a.number + a.radius) ** b.number, x))
        r = torch.where(crosses & ~(is_whole & (b.number >= 0)), torch.where(is_root, root, torch.inf), r)
    is_short = is_whole & (b.size <= 8) | certain(b) & (b.size == 0.5)
    logs = finite(a.size.log().abs()).clamp(max=MOST_EXPONENT) * finite(b.size).clamp(max=MOST_EXPONENT)
    units = torch.where(is_short, finite(b.size) + 4, 16 + logs)
    kept = (x == 0) & (a.number == 0) & certain(a) | certain(b) & (b.number == 0) | is_whole & (b.number == 1)
    kept = kept | is_whole & (b.number > 0) & certain(a) & are_short(certain(a), a.number, x) & holds(x, op.dtype)
    return [
        StepResult(x, lost_infinities(a, x, r), rounding(run, x, op.dtype, units * run.fine * finite(x.abs()), kept))
    ]


def angle_of(run: Roundings, op: Operation) -> list[StepResult]:
    """atan2: it jumps where the first operand changes its sign beside a negative second one."""
    y, z = pair(op)
    x = op.at(lambda one: one.number)[0]
    r = torch.zeros(x.shape, dtype=torch.float64)
    for made in corners(op):
        r = torch.maximum(r, gap(made[0], x))
    jumps = (y.size <= y.radius) & (z.number - z.radius <= 0) & ~(certain(y) & certain(z))
    r = torch.where(jumps, 2 * torch.pi, r)
    return [StepResult(x, r, rounding(run, x, op.dtype, 6 * run.fine * x.abs()))]


def polar(run: Roundings, op: Operation) -> list[StepResult]:
    """A complex number by its size and its angle."""
    a, b = pair(op)
    x = op.at(lambda one: one.number)[0]
    r = None if op.is_exact else a.radius + (a.size + a.radius) * b.radius
    return [StepResult(x, r, 6 * run.fine * a.size + (2 * run.fine * b.size * a.size if run.is_loose else 0.0))]


def as_complex(run: Roundings, op: Operation) -> list[StepResult]:
    """A complex number by its parts."""
    a, b = pair(op)
    return [StepResult(op.at(lambda one: one.number)[0], None if op.is_exact else a.radius + b.radius)]


RULES = {
    **dict.fromkeys((*FUNCTIONS, *INVERSE), evaluate), "pow": power, "float_power": power, "atan2": angle_of,
    "polar": polar, "complex": as_complex,
}  # fmt: skip
