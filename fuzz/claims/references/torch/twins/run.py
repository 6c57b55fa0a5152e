"""Runs a reference and keeps a twin of each storage: one operation at a time, by its rule.

An operation without a rule is torch's own decomposition of it, under the same run; else it is measured. torch's own
tensors run beside the twins, and decide which types, shapes and steps of Python there are. Long, since every way to
take an operation needs the state of the one run.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import cache
from math import prod
from typing import Any

import torch
from torch._C import DispatchKey
from torch._decomp import core_aten_decompositions, decomposition_table
from torch._ops import HigherOrderOperator

from kfuzz.claims.references.torch.declared import DrawsError
from kfuzz.claims.references.torch.storage import does_draw, is_view, key_of, name_of, tensors_in
from kfuzz.claims.references.torch.twins.decomposed import own_decompositions
from kfuzz.claims.references.torch.twins.lines import line_of
from kfuzz.claims.references.torch.twins.memory import Twins
from kfuzz.claims.references.torch.twins.sets import (
    GRIDS,
    LEAST,
    MOST,
    MOST_SINGLE,
    SINGLE,
    UNITS,
    NumberSet,
    Ranked,
    RowRanks,
    RowShares,
    StepResult,
    UnstableError,
    facts_of,
    numbers_of,
    sets_in,
    to_infinity,
)  # fmt: skip
from kfuzz.claims.references.torch.twins.statistics import HALVES, NORMS, ROWS, farthest, lost_by_statistics
from kfuzz.claims.references.torch.twins.table import Operation, Roundings, StepRule, rule_of
from kfuzz.claims.references.torch.twins.tf32 import CUT_TYPES, CutWay, WatchedProducts, cut
from kfuzz.devices.python.torch.modes import UncompiledMode

FACTORIES = frozenset((
    "zeros", "ones", "full", "empty", "empty_strided", "new_zeros", "new_ones", "new_full", "new_empty", "arange",
    "eye", "scalar_tensor", "zeros_like", "ones_like", "full_like", "empty_like", "tril_indices", "triu_indices",
    "new_empty_strided", "empty_permuted", "zero_", "linspace", "logspace",
))  # fmt: skip
"""Operations whose numbers are those of torch."""
ROUNDED_FACTORIES = ("linspace", "logspace")
UNSET = frozenset((
    "empty", "empty_strided", "new_empty", "empty_like", "new_empty_strided", "empty_permuted",
))  # fmt: skip
"""Factories that leave what the memory held: no answer there is right or wrong."""
SILENT = frozenset((
    "_assert_async", "_assert_tensor_metadata", "record_stream", "is_same_size", "resize_", "set_",
    "_has_same_storage_numel",
    "_linalg_check_errors", "is_pinned", "_pin_memory", "lift_fresh", "squeeze_", "unsqueeze_", "transpose_", "t_",
    "as_strided_", "detach_", "swapaxes_", "swapdims_",
))  # fmt: skip
"""Operations that compute nothing, or change how a tensor reads its storage."""
FILLS = ("uniform_", "normal_", "random_", "exponential_", "trunc_normal_")
"""Operations that draw numbers into a tensor: a layer does for weights that may be replaced before they count."""
BY_VALUE = frozenset((
    "_local_scalar_dense", "item", "equal", "is_nonzero", "nonzero", "masked_select", "_unique2", "unique_dim",
    "unique_consecutive", "nonzero_numpy",
))  # fmt: skip
"""Operations whose result steers Python, or the sizes of tensors."""
WITH_LITERALS = frozenset((
    "add", "sub", "rsub", "mul", "div", "clamp", "clamp_min", "clamp_max", "lt", "le", "gt", "ge", "maximum", "minimum",
    "hardtanh", "true_divide",
))  # fmt: skip
"""Operations in which a number of the text counts as an operand: a kernel rounds it to float32."""
JUMPS = ("floor", "ceil", "trunc", "round", "frac", "sign", "sgn", "heaviside", "floor_divide", "remainder", "fmod")
"""Operations whose result jumps from one number to another, as each does whose result is none of many digits."""
PYTHON = 8.0
"""Units that a kernel may lose where a reference computes a number in Python, and so in float64."""
STOCK = (1 << 20) + 7
"""Numbers of noise: no power of two, by which rows would meet the same ones."""
LOOSE = 4.0
"""How often each rounding counts where any arrangement is right."""


@cache
def stock_of_noise(is_heavy: bool) -> torch.Tensor:
    """Random numbers from -1 to 1; if heavy, of Cauchy's law."""
    drawn = 2 * torch.rand(STOCK, generator=torch.Generator().manual_seed(0)) - 1  # whose tangents take a quarter
    return (torch.tan(torch.pi / 2 * drawn).clamp(-1e3, 1e3) if is_heavy else drawn).double()


@dataclass(frozen=True)
class StepNoise:
    """A measured run: every result moves by its own error times a random number.

    `scale`: of the random numbers. `is_heavy`: they follow Cauchy's law, and so the median of a sum of them is the sum
    of all sizes; else they are uniform from -1 to 1.
    """

    generator: torch.Generator
    scale: float = 1.0
    is_heavy: bool = False
    only: int | None = None
    """The number of the only step that moves."""

    def draw(self, shape: Sequence[int]) -> torch.Tensor:
        """Numbers of a stock, from a random place on: to draw others for each step takes half of a run."""
        stock, count = stock_of_noise(self.is_heavy), prod(shape)
        if count >= len(stock):
            stock = stock.repeat(2 + count // len(stock))
        first = int(torch.randint(0, len(stock) - count, (), generator=self.generator))
        return self.scale * stock[first : first + count].reshape(tuple(shape))


class StoredWay(Enum):
    """How operands are stored: as they are, or shares as the exponentials that a kernel divides after the product."""

    DIVIDED = auto()
    UNDIVIDED = auto()


@dataclass(frozen=True)
class RunOptions:
    """What one run allows. `narrow`: no value of a loose run is finer than this type. `stored`: the products, by their
    number among those with wider operands, whose operands are rounded to it, as tensor cores need it, and in which way.
    `kept`: the products, by their places, whose results are rounded to it, as a kernel hands them to another one.
    `is_tf32`: the kernel's code rounds operands of float32 products to TF32. `cut`: in which way this run does; a loose
    one does in any. `adds_8_bits`: a kernel makes products of 8 bits, and adds them by wgmma.
    """

    is_loose: bool = False
    narrow: torch.dtype | None = None
    stored: Mapping[int, StoredWay] = field(default_factory=dict)
    kept: Collection[str] = ()
    in_half: bool = False
    """A kernel stores operands in float16 whatever type the inputs have."""
    is_tf32: bool = False
    cut: CutWay | None = None
    adds_8_bits: bool = False
    noise: StepNoise | None = None
    is_traced: bool = False
    trusts_draws: bool = False
    """Numbers that are drawn into a tensor count as exact: what is unknown without that follows from them."""


@dataclass(frozen=True)
class SeenStep:
    """A step of a run that is traced: where it is, what it does, and its first result."""

    place: str
    text: str
    operation: str
    result: NumberSet


@dataclass
class RunNotes:
    """What a run leaves beside its numbers, each with the reference's line."""

    measured: dict[str, None] = field(default_factory=dict)
    """Operations without a rule."""
    left: dict[str, None] = field(default_factory=dict)
    """Where numbers left torch: their radii are lost."""
    steps: list[SeenStep] = field(default_factory=list)
    count: int = 0
    jumps: bool = False
    """Whether a number may be that of another place: how far it moves is measured only where it does."""
    drawn: list[DrawsError] = field(default_factory=list)
    wide_products: dict[tuple[str, bool], int] = field(default_factory=dict)
    """The products whose operands have more digits than the inputs' type of 16 bits, with their numbers: by the text,
    since one in a loop is one of a kernel, and by whether an operand are shares.
    """
    results: dict[str, set[int]] = field(default_factory=dict)
    """The storages of the results of such products, by their places."""
    float_products: dict[str, None] = field(default_factory=dict)
    """The places of the products whose operands are in float32, where a kernel may round these to TF32."""


class TwinRun(UncompiledMode):
    """One run of a reference. `file`: the reference's own, whose lines are named."""

    supports_higher_order_operators = True

    def __init__(self, file: str = "", options: RunOptions | None = None) -> None:
        super().__init__()
        self.file, self.options = file, options or RunOptions()
        self.is_loose, self.noise = self.options.is_loose, self.options.noise
        self.twins, self.notes = Twins(flushes=self.is_loose), RunNotes()
        self.joint: dict[int, Ranked | RowShares | RowRanks] = {}
        self.elements: dict[int, torch.Tensor] = {}
        """The place of each element in the order of those that are joint, as a storage has them."""
        self.left: dict[float, float] = {}
        """The radius of each number that has left torch."""
        self.steps_done = 0
        self.product = ""
        """The place of a product with wide operands that runs."""
        self.products = WatchedProducts()
        self.is_cut = False
        """Whether the last product's operands were rounded to TF32."""
        self.has_left = False
        """Whether numbers that rounding may change have left torch, and may come back as exact ones."""

    # -- how a kernel may round in this run

    @property
    def fine(self) -> float:
        return SINGLE * (LOOSE if self.is_loose else 1.0)

    def unit(self, dtype: torch.dtype) -> float:
        u = UNITS.get(dtype, 0.0)
        if not self.is_loose or not u:
            return u
        least = UNITS[self.options.narrow] if self.options.narrow is not None else 0.0
        return max(LOOSE * u if u == SINGLE else 2 * u, least)

    @property
    def fine_in_product(self) -> float:
        """docs/numerics.md#tensor-cores: what tensor cores add they truncate, and round to no nearest number."""
        return 2 * self.fine if self.is_cut else self.fine

    @property
    def adds_8_bits(self) -> bool:
        return self.options.adds_8_bits

    def operands(self, *every: NumberSet) -> list[NumberSet]:
        """The operands of a product: rounded to TF32, or to the inputs' type of 16 bits, in a run that does so."""
        every = self.operands_in_tf32(every)
        kind = self.options.narrow
        if kind is None or not any(is_wider(one, kind) for one in every):
            return list(every)
        known = self.notes.wide_products
        self.product = place = self.place_of_product(len(known))
        way = self.options.stored.get(known.setdefault((place, any(one.is_share for one in every)), len(known)))
        if not self.is_loose and way is None:
            return list(every)
        if self.options.in_half and not self.is_loose:
            kind = torch.float16
        return [self.stored(one, kind, way) if is_wider(one, kind) else one for one in every]

    def operands_in_tf32(self, every: tuple[NumberSet, ...]) -> tuple[NumberSet, ...]:
        """The operands of a product, rounded to TF32 if the kernel's code does so."""
        self.is_cut = self.options.is_tf32 and any(one.dtype in CUT_TYPES for one in every)
        if not self.is_cut:
            return every
        self.notes.float_products[self.place_of_product(len(self.notes.float_products))] = None
        way = CutWay.ANY if self.is_loose else self.options.cut
        self.is_cut = way is not None
        return every if way is None else tuple(cut(one, way) for one in every)

    def factors(self, a: NumberSet, b: NumberSet) -> tuple[NumberSet, ...]:
        """The factors of single numbers: rounded as operands where these are a product of matrices for torch, and in a
        loose run wherever a kernel may make such a product of them.
        """
        if not self.options.is_tf32 or any(not one.x.ndim or one.x.is_complex() for one in (a, b)):
            return a, b
        if self.products.is_within or self.is_loose:
            return self.operands_in_tf32((a, b))
        return a, b

    def place_of_product(self, number: int) -> str:
        """Where a product is: by the text, since one in a loop is one of a kernel, else by a number."""
        line, text = line_of(self.file)
        return f"{line} {text or number}"

    def keep_result(self, one: torch.Tensor) -> None:
        """Note the result of such a product, and round it in a run in which a kernel hands it to another one."""
        place, self.product = self.product, ""
        kind = self.options.narrow
        if not place or kind is None or one.is_complex() or UNITS.get(one.dtype, 1.0) >= UNITS[kind]:
            return
        self.notes.results.setdefault(place, set()).add(key_of(one))
        if place in self.options.kept:
            made = self.stored(self.twins.get(one), kind, None)
            self.twins.put(one, made.x, made.r)

    def stored(self, one: NumberSet, kind: torch.dtype, way: StoredWay | None) -> NumberSet:
        """An operand in a type of 16 bits: in a loose run by whatever rounding, else to the nearest."""
        if self.is_loose:
            lost = 2 * UNITS[kind] * one.size.nan_to_num(0, posinf=0) + LEAST[torch.float16]
            may_overflow = one.number.isfinite() & (one.size + one.radius + lost >= MOST[kind])
            return NumberSet(one.number, one.radius + torch.where(may_overflow, torch.inf, lost), one.dtype)
        top, its = torch.ones(()), torch.zeros(())
        if one.is_share and way is StoredWay.UNDIVIDED:  # the largest exponential of a row is 1
            top, its = one.number.amax(-1, keepdim=True), one.radius.amax(-1, keepdim=True)
        rounded = (one.number / top).to(kind).double() * top
        low = (one.end(-1) / (top + its)).to(kind).double() * (top - its)
        high = (one.end(1) / (top - its)).to(kind).double() * (top + its)
        r = to_infinity(torch.maximum(high - rounded, rounded - low))
        if one.r is None and kind != self.options.narrow:  # an input that this type does not hold
            rounded, r = (torch.where(r.isinf(), of, made) for of, made in ((one.number, rounded), (0.0, r)))
        return NumberSet(torch.where(r.isinf() & one.number.isfinite(), one.number, rounded), r, one.dtype)

    def note_jump(self) -> None:
        self.notes.jumps = True

    def note_measured(self, name: str) -> None:
        self.notes.measured[f"{name} ({self.where()})"] = None

    def where(self) -> str:
        """The line of the reference that runs."""
        return line_of(self.file)[0]

    def set_of(self, one: Any) -> NumberSet:  # noqa: ANN401  a tensor or a number
        """The set of an output. A number that Python made of others has no radius but for what float32 loses."""
        if isinstance(one, torch.Tensor):
            is_by_memory = is_of_numpy(one) and not self.twins.has(one)
            found = self.twins.get_by_memory(one) if is_by_memory else self.twins.get(one)
            return replace(found, product=None)  # whose factors would outlive the run
        kind, r = torch.float64 if isinstance(one, float) else None, None
        if self.notes.left and isinstance(one, float):
            r = torch.tensor(self.left.get(one, PYTHON * SINGLE * abs(one)), dtype=torch.float64)
        return NumberSet(torch.tensor(one, dtype=kind), r, torch.float64)

    def note_leaving(self, one: torch.Tensor) -> None:
        """Note a tensor that leaves torch: one whose numbers rounding may change."""
        with torch.no_grad():
            self.has_left |= self.twins.has(one) and not self.twins.get(one).is_exact

    def note_return(self, name: str, given: Sequence[torch.Tensor]) -> None:
        """Note floats that may be made of those that have left: in an array of numpy, or in a new tensor of a list."""
        floats = [one for one in given if one.is_floating_point() and not self.twins.has(one)]
        if any(is_of_numpy(one) or (name == "lift_fresh" and one.ndim) for one in floats):
            self.notes.left[self.where()] = None

    # -- operations

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        """Run one operation on torch's tensors and on their twins."""
        kwargs = kwargs or {}
        if isinstance(func, HigherOrderOperator):
            with self:
                return written_out(func)(*args, **kwargs)
        name = name_of(func)
        self.notes.count += 1
        self.note_return(name, tensors_in([list(args), dict(kwargs)]) if self.has_left else [])
        known = rule_of(name)
        if known is None and is_composite(func):
            with self:
                made = func.decompose(*args, **kwargs)
            if made is not NotImplemented:
                return made
        if is_view(func) or name in SILENT:
            return func(*args, **kwargs)
        given = tensors_in([list(args), dict(kwargs)])
        if name in BY_VALUE:
            return self.go_by_value(func, name, args, kwargs, given)
        is_live = any(one.is_floating_point() or one.is_complex() or self.twins.has(one) for one in given)
        if name in FACTORIES or not is_live:
            return self.take_exact(func, name, args, kwargs)
        if name in FILLS:
            return self.take_drawn(func, name, args, kwargs)
        if does_draw(func) and not draws_nothing(name, args, kwargs):
            return self.take_drawn(func, name, args, kwargs)
        if known is None and func in core() and "out" not in kwargs:
            try:
                with self:
                    made = core()[func](*args, **kwargs)
                if made is not NotImplemented:
                    return self.with_facts_of_norms(name, args, made)
            except (UnstableError, DrawsError):
                raise
            except Exception:  # noqa: S110  a decomposition that does not take these operands
                pass
        return self.step(known or rule_of("measured"), func, name, args, kwargs)

    def step(self, rule: StepRule | None, func: Any, name: str, args: Any, kwargs: Any) -> Any:  # noqa: ANN401
        """Run one operation by its rule."""
        assert rule is not None, "there is a rule for what has none"
        with torch.no_grad():
            options = {key: value for key, value in kwargs.items() if key != "out"}
            sets, named = self.as_sets(list(args)), self.as_sets(options)
        out = func(*args, **kwargs)
        results = tensors_in(out if isinstance(out, tuple | list) else [out])
        with torch.no_grad():
            plain = name.removesuffix("_")
            if plain in WITH_LITERALS and any(one.dtype in UNITS for one in sets_in(sets)):
                sets = [self.literal(one) for one in sets]
                named = {key: self.literal(one) if key in ("min", "max") else one for key, one in named.items()}
            operation = Operation(plain, functional(func), sets, named, results)
            if not any(one.x.numel() for one in operation.sets):  # what no number gives is exact: 0, or an infinity
                rule = of_nothing
            made = rule(self, operation)
            for one, result in zip(results, made, strict=False):
                self.finish(one, result)
                if (plain in JUMPS or one.dtype not in UNITS) and self.is_unsure(one):
                    self.note_jump()
            if self.product:
                self.keep_result(results[0])
            if name == "_to_copy" and isinstance(shares := self.joint.get(key_of(args[0])), RowShares):
                self.joint[key_of(out)] = shares
            if self.options.is_traced and results:
                self.notes.steps.append(SeenStep(*line_of(self.file), name, self.twins.get(results[0])))
            self.steps_done += 1
        return out

    def is_unsure(self, one: torch.Tensor) -> bool:
        """Whether some number of a result is one of several that are known."""
        r = self.twins.get(one).r
        return r is not None and bool(((r > 0) & r.isfinite()).any())

    def with_facts_of_norms(self, name: str, args: Any, made: Any) -> Any:  # noqa: ANN401
        """What a decomposition gives: of a norm no wider than all that it may give, and in 16 bits with what its means
        and factors lose.
        """
        if name not in NORMS and name != ROWS:
            return made
        with torch.no_grad():
            y, given = self.twins.get(made[0]), self.as_sets(list(args))
            r = y.r
            if r is not None and y.dtype not in HALVES and bool((r > y.size).any()):
                most = farthest(name, given, y, self.fine, self.unit(y.dtype), by_moments=self.is_loose)
                r = torch.minimum(r, most)
            if r is not y.r or (name in NORMS and y.dtype in HALVES):
                lost = lost_by_statistics(name, given, y) if name in NORMS and y.dtype in HALVES else None
                self.finish(made[0], StepResult(y.number, r, lost))
        return made

    def as_sets(self, given: Any) -> Any:  # noqa: ANN401  nested arguments
        """The same arguments with sets in the place of tensors."""
        if isinstance(given, torch.Tensor):
            found, joint = self.twins.get(given), self.joint.get(key_of(given))
            if isinstance(joint, RowShares) and given.stride()[-1:] == (1,):
                is_last = joint.axis % max(joint.missing.ndim, 1) == joint.missing.ndim - 1
                is_narrow = self.options.narrow is not None or self.options.is_tf32
                found = replace(found, is_share=is_last and is_narrow, is_undivided=is_last)
            return replace(found, joint=self.joint_of(given)) if isinstance(joint, RowRanks | Ranked) else found
        if isinstance(given, dict):
            return {name: self.as_sets(one) for name, one in given.items()}
        return [self.as_sets(one) for one in given] if isinstance(given, list | tuple) else given

    def joint_of(self, one: torch.Tensor) -> Ranked | RowRanks | None:
        """The places or the ranks of a tensor's numbers, which may be some of those that are joint."""
        joint, elements = self.joint.get(key_of(one)), self.elements.get(key_of(one))
        if not isinstance(joint, RowRanks | Ranked) or elements is None:
            return None
        if one.untyped_storage().nbytes() != len(elements) * one.element_size():
            return None
        own = elements.as_strided(one.shape, one.stride(), one.storage_offset())
        return None if bool((own < 0).any()) else joint.at(own)

    def literal(self, one: Any) -> Any:  # noqa: ANN401  an argument
        """A float of the reference's text, which a kernel rounds to float32."""
        if type(one) is not float:
            return one
        x = torch.tensor(one, dtype=torch.float64)
        away = (x - x.float().double()).abs()
        if not bool((away > 0) & away.isfinite()):
            return NumberSet(x, None, torch.float64, is_literal=True)
        if self.noise is not None and self.noise.only is None:
            return NumberSet(x + away * self.noise.draw(()), None, torch.float64, is_literal=True)
        return NumberSet(x, away, torch.float64, is_literal=True)

    def finish(self, one: torch.Tensor, made: StepResult) -> None:
        """Write a result: with its own error in the radius, or moved by it at random."""
        x, r, error = made.x, made.r, made.error
        if x.shape != one.shape:
            x = x.expand(one.shape)
        self.joint.pop(key_of(one), None)
        if made.joint is not None:
            self.joint[key_of(one)] = made.joint
            if isinstance(made.joint, RowRanks | Ranked):
                self.elements[key_of(one)] = elements_of(one)
        if self.noise is not None:
            if error is not None and self.noise.only in (None, self.steps_done):
                moved = x + self.noise.draw(x.shape) * error
                finite = moved.isfinite()  # it is not where x is not
                x = moved if bool(finite.all()) else torch.where(finite, moved, x)
            self.twins.put(one, x, None)
            return
        both = r if error is None else error if r is None else r + error
        top = made.top
        if top is not None and r is not None:  # it says something only of what may be -infinity
            top = torch.where(r.isinf(), top if error is None else top + error, torch.inf)
        most = MOST.get(one.dtype, MOST_SINGLE)
        if both is not None and not (facts := facts_of(x, both)).reach < most:
            both = r if error is None else torch.where(x.isinf() | x.isnan(), 0.0, error) + (0.0 if r is None else r)
            both = to_infinity(torch.as_tensor(both, dtype=torch.float64))
            if one.dtype in UNITS:  # it may overflow, and what follows is anything
                lost = x.isfinite() & (x.abs() + both > most)
                if not x.is_complex() and bool((fell := lost & (x + both < 0)).any()):
                    top = torch.where(fell, x + both, torch.inf if top is None else top)
                both = torch.where(lost, torch.inf, both)
            facts = None
        self.twins.put(one, x, both, None if both is None else facts, made.product, top)

    def take_drawn(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:  # noqa: ANN401
        """Run what draws numbers, into a tensor or a new one: nothing is known of them."""
        out = func(*args, **kwargs)
        self.notes.drawn.append(DrawsError(f"(torch's {name})", self.where()))
        with torch.no_grad():
            for one in tensors_in(out if isinstance(out, tuple | list) else [out]):
                x = numbers_of(one.detach())
                r = None if self.options.trusts_draws else torch.full(x.shape, torch.inf, dtype=torch.float64)
                self.joint.pop(key_of(one), None)
                self.twins.put(one, x, r)
        return out

    def take_exact(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:  # noqa: ANN401
        """Run what gives exact numbers: integers of integers, and tensors that are filled."""
        if does_draw(func):
            return self.take_drawn(func, name, args, kwargs)
        out = func(*args, **kwargs)
        for one in tensors_in(out if isinstance(out, tuple | list) else [out]):
            self.joint.pop(key_of(one), None)
            if name in UNSET and self.noise is None:
                with torch.no_grad():
                    unknown = torch.full(one.shape, torch.inf, dtype=torch.float64)
                    self.twins.put(one, numbers_of(torch.zeros_like(one)), unknown)
            elif name in ROUNDED_FACTORIES and one.dtype in UNITS:
                with torch.no_grad():
                    x = numbers_of_factory(func, args, kwargs)
                    self.finish(one, StepResult(x, None, 4 * self.unit(one.dtype) * x.abs().max().expand(x.shape)))
            elif self.twins.has(one):
                with torch.no_grad():
                    self.twins.put(one, one.double() if one.is_floating_point() else one, None)
        return out

    def go_by_value(self, func: Any, name: str, args: Any, kwargs: Any, given: Any) -> Any:  # noqa: ANN401
        """Let Python, or a size, go by values: those of the twins, which have to be certain."""
        with torch.no_grad():
            sets = [self.twins.get(one) for one in given]
        is_sure = all(one.is_exact for one in sets)
        if name == "_local_scalar_dense" and sets[0].dtype in UNITS:
            if not is_sure or self.noise is not None:
                self.notes.left[self.where()] = None
            if not sets[0].x.is_complex():
                self.left[float(sets[0].x)] = float(sets[0].radius)
            return complex(sets[0].x) if sets[0].x.is_complex() else float(sets[0].x)
        if not is_sure:
            if self.notes.drawn:
                raise self.notes.drawn[0]
            raise UnstableError(f"{self.where()}: the reference goes by values that rounding may change ({name})")
        exact = [
            one.x.to(real.dtype) if real.dtype not in GRIDS else real for one, real in zip(sets, given, strict=True)
        ]
        if name == "_local_scalar_dense":
            return exact[0].item()
        if name == "masked_select":  # numbers at places that are certain
            return torch.ops.aten.index.Tensor(args[0], [exact[1]])
        return func(*exact, *args[len(exact) :], **kwargs)


def elements_of(one: torch.Tensor) -> torch.Tensor:
    """The place of each element in a tensor's order, as its storage has them; -1 of others there."""
    made = torch.full((one.untyped_storage().nbytes() // one.element_size(),), -1)
    made.as_strided(one.shape, one.stride(), one.storage_offset()).copy_(torch.arange(one.numel()).reshape(one.shape))
    return made


def written_out(func: HigherOrderOperator) -> Callable[..., Any]:
    """What an operation on functions does without a compiler, as a function of Python.

    torch's own `cond` runs in no mode.
    """
    if func.name() == "cond":
        return lambda truth, yes, no, operands: (yes if truth else no)(*operands)
    return func.py_kernels[DispatchKey.CompositeExplicitAutograd]  # type: ignore[no-any-return]  # of torch


def is_of_numpy(one: torch.Tensor) -> bool:
    """Whether a tensor's memory is that of an array of numpy."""
    return one.device.type == "cpu" and not one.untyped_storage().resizable()


def of_nothing(run: Roundings, op: Operation) -> list[StepResult]:
    """The results of an operation without a number."""
    return [StepResult(one) for one in op.values()]


def is_wider(one: NumberSet, kind: torch.dtype) -> bool:
    """Whether an operand's numbers may have more digits than a type of 16 bits."""
    if one.dtype not in UNITS or one.x.is_complex():
        return False
    return not one.is_exact or not bool((one.number.to(kind).double() == one.number).all())


def numbers_of_factory(func: Any, args: Any, kwargs: Any) -> torch.Tensor:  # noqa: ANN401
    """What a factory fills in, in float64."""
    made: torch.Tensor = func(*args, **{**kwargs, "dtype": torch.float64})
    return made


def draws_nothing(name: str, args: Any, kwargs: Any) -> bool:  # noqa: ANN401
    """Whether an operation that may draw does not: a dropout of nothing, or outside of training."""
    if name == "native_dropout":
        return args[1] == 0 or args[2] is False
    return (
        name.startswith("_scaled_dot_product") and float(kwargs.get("dropout_p", args[3] if len(args) > 3 else 0)) == 0
    )


@cache
def core() -> dict[Any, Callable[..., Any]]:
    """torch's own decompositions, and those that it lacks."""
    return {**decomposition_table, **core_aten_decompositions(), **own_decompositions()}


@cache
def is_composite(func: Any) -> bool:  # noqa: ANN401
    """Whether an operation is defined by others, whatever its operands."""
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"))


@cache
def functional(func: Any) -> Any:  # noqa: ANN401
    """The same operation without writes: `add` for `add_`, and for an overload with `out`."""
    if not any(one.alias_info is not None and one.alias_info.is_write for one in func._schema.arguments):
        return func
    packet = getattr(torch.ops.aten, name_of(func).removesuffix("_"), None)
    if packet is None:
        return func
    own = func._overloadname
    wanted = (own.removesuffix("_out").removesuffix("out") or "default", own, "default", "Tensor")
    return next((getattr(packet, one) for one in wanted if one in packet.overloads()), packet)
