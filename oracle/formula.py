"""An op that is a formula: enclosure, reference, special values and joint test follow from a few lines of Python.

A file in `oracle/ops/`, or a user's own, holds INPUTS, OUTPUTS, SCALARS, FORMS and a function `formula`; what is made
of it here is an op like any other. Knows the number systems; never which op it is. Long, for an op and the question
that it is asked need each other: apart they would import in a circle.
"""

import inspect
import itertools
import math
import re
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from flint import arb, ctx

from kfuzz.oracle.diagnosis import formulas as diagnosis
from kfuzz.oracle.enclosure import PRECISIONS, Bounds, Clash, Doubles, Enclosure, Index, Mask
from kfuzz.oracle.joint.boxes import Contradiction
from kfuzz.oracle.joint.contraction import contract
from kfuzz.oracle.op import Diagnosis, OracleError
from kfuzz.oracle.rounding import Accuracy
from kfuzz.oracle.systems.band import Bands
from kfuzz.oracle.systems.ends import BallEnds
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.formats import DTYPES, F32, F64, FORMATS, Format, Reals, values
from kfuzz.oracle.systems.named import Named
from kfuzz.oracle.systems.value import WORDS, Quantity
from kfuzz.oracle.verdict import Special

NamedReals = Mapping[str, Reals]
ROLE = re.compile(r"(float|int)\s*\[([\w\s,]*)\]\s*(?:<\s*(\w+))?")
USAGE = 'write "float[rows, cols]" or "int[rows] < cols"'
ANYTHING = "elements of which any value may be right"


@dataclass(frozen=True)
class Role:
    """One array of an op: numbers or integers, its dimensions, and what integers stay below."""

    is_float: bool
    dimensions: tuple[str, ...]
    below: str | None = None


def read_role(op: str, name: str, text: object) -> Role:
    """A role as an op's file writes it."""
    found = ROLE.fullmatch(text.strip()) if isinstance(text, str) else None
    if not found:
        raise OracleError(f"{op}: {name} = {text!r}: no role; {USAGE}")
    dimensions = tuple(part.strip() for part in found[2].split(",") if part.strip())
    return Role(found[1] == "float", dimensions, found[3])


@dataclass(frozen=True)
class Names:
    """The names of a formula's sums, with the terms of each, of what it may keep narrow, and of its functions."""

    sums: Mapping[str, int]
    kept: tuple[str, ...]
    functions: tuple[str, ...]


@dataclass(frozen=True)
class FormulaOp:
    """An op made of a formula's file. `calls` is the file's function; the rest is what it says beside it.

    `forms`: the ways to compute it that a claim without a form means. `seldom`: other ways, each with the function that
    a kernel's text calls if it goes that way; such a claim names it, or "any" of them all.
    """

    name: str
    calls: Any
    roles: Mapping[str, Role]
    outputs: Mapping[str, Role]
    scalars: Mapping[str, float | str]
    forms: tuple[str, ...]
    seldom: Mapping[str, str]
    where: tuple[str, ...]
    special: Mapping[str, str]
    source: ModuleType = field(repr=False)

    # -- what every op has

    @property
    def INPUTS(self) -> dict[str, tuple[str, ...]]:  # noqa: N802  as the modules of other ops have it
        return {name: role.dimensions for name, role in self.roles.items()}

    @property
    def OUTPUTS(self) -> dict[str, tuple[str, ...]]:  # noqa: N802
        return {name: role.dimensions for name, role in self.outputs.items()}

    @property
    def INTEGERS(self) -> tuple[str, ...]:  # noqa: N802
        return tuple(name for name, role in self.roles.items() if not role.is_float)

    @property
    def BELOW(self) -> dict[str, str]:  # noqa: N802
        return {name: role.below for name, role in self.roles.items() if role.below}

    @property
    def VECTOR(self) -> bool:  # noqa: N802
        """Whether a [rows, cols] input may be one row."""
        return next(iter(self.roles.values())).dimensions == ("rows", "cols")

    @cached_property
    def CUT(self) -> dict[str, int]:  # noqa: N802  a constant of the other ops
        """The arrays that begin with the outputs' first dimension, where the op falls apart along that one."""
        every = {**self.roles, **self.outputs}
        leads = {role.dimensions[:1] for role in self.outputs.values()}
        lead = "".join(*leads) if len(leads) == 1 else ""
        cut = {name: 0 for name, role in every.items() if role.dimensions[:1] == (lead,)}
        is_whole = all(name in cut or lead not in role.dimensions for name, role in every.items())
        return cut if lead and is_whole and cut.keys() & self.roles.keys() and self._falls_apart(lead, cut) else {}

    def define(self, N: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401  a system of `number`
        """The exact definition to the digits of `N`, which is mpmath's."""
        return self.wanted(inputs, {}, bits=N.context.prec)

    # -- the formula over a number system

    @property
    def every_form(self) -> tuple[str, ...]:
        return (*self.forms, *self.seldom) or ("",)

    def forms_of(self, claimed: str | None) -> tuple[str, ...]:
        """The forms that a claim may mean; a formula without forms has one, without a name."""
        if claimed == "any":
            return self.every_form
        return (claimed,) if claimed else self.forms or ("",)

    def sizes_of(self, inputs: NamedReals) -> dict[str, int]:
        fixed = {d: int(d) for role in self.outputs.values() for d in role.dimensions if d.isdigit()}
        return fixed | {
            d: n for name, role in self.roles.items() for d, n in zip(role.dimensions, inputs[name].shape, strict=True)
        }

    def scalars_of(self, sizes: Mapping[str, int], given: Mapping[str, float]) -> dict[str, float]:
        """Every scalar's value: given, or the op's own default, which may depend on the sizes."""
        unknown = sorted(set(given) - set(self.scalars))
        if unknown:
            raise OracleError(f"{self.name}: scalars has {unknown[0]}: expected {', '.join(self.scalars) or 'none'}")
        for name, said in given.items():
            if isinstance(said, bool | str) or not math.isfinite(said):
                raise OracleError(f"{self.name}: scalars[{name!r}]={said!r}: expected a finite number")
        found = {}
        for name, default in self.scalars.items():
            value = given.get(name, default)
            found[name] = float(value if not isinstance(value, str) else evaluated(value, sizes))
        return found

    def run(
        self,
        N: Any,  # noqa: ANN401  any system
        inputs: NamedReals,
        sizes: Mapping[str, int],
        scalars: Mapping[str, float],
    ) -> dict[str, Quantity]:
        """The formula over one system, with every output in the shape that it declares."""
        given = {n: N.input(inputs[n]) if role.is_float else inputs[n] for n, role in self.roles.items()}
        derived = {name for name in self.scalars if isinstance(self.scalars[name], str)}
        numbers = {n: self._scalar(N, v, n in derived and n not in self.given(scalars)) for n, v in scalars.items()}
        try:
            made = self.calls(N, **given, **numbers)
        except (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError) as error:
            raise self._cannot(error) from error
        if not isinstance(made, Mapping):
            made = {next(iter(self.outputs)): made}
        for output in self.outputs:
            if not isinstance(made.get(output), Quantity):
                found = f"the formula gives no '{output}' made by N"
                raise OracleError(f"{self.name}: {found}; return one value, or {{'{output}': value, ...}}")
        return dict(made)

    def _cannot(self, error: Exception) -> OracleError:
        """What the formula's own file did wrong, and where in it."""
        if isinstance(error, OracleError):
            return error
        file = self.calls.__code__.co_filename
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        place = f"{Path(file).name}:{lines[-1]}" if lines else self.name
        if isinstance(error, AttributeError) and isinstance(error.obj, Exact | Bands):
            return OracleError(f"{place}: there is no N.{error.name}; a formula may ask N for {', '.join(WORDS)}")
        return OracleError(f"{place}: the formula cannot be worked out: {type(error).__name__}: {error}")

    @staticmethod
    def given(scalars: Mapping[str, float]) -> frozenset[str]:
        return scalars.names if isinstance(scalars, Given) else frozenset(scalars)

    @staticmethod
    def _scalar(N: Any, value: float, is_derived: bool) -> Quantity:  # noqa: ANN401
        """A scalar that a kernel works out for itself, such as 1 / sqrt(d), is off by two roundings more (R3)."""
        made: Quantity = N.number(value)
        if is_derived and isinstance(N, Bands) and math.frexp(abs(value))[0] != 0.5:
            u = 2 * N.u * (1 + N.u)
            made = N.value(made.lo - abs(made.lo) * u, made.hi + abs(made.hi) * u)
        return made

    def indices(self, sizes: Mapping[str, int], only: Mapping[str, int] | None = None) -> "Places":
        return Places(sizes, only or {})

    def wanted(self, inputs: NamedReals, scalars: Mapping[str, float], bits: int = 0) -> dict[str, Reals]:
        """The exact outputs, by float64 or by mpmath."""
        sizes = self.sizes_of(inputs)
        N = Exact(sizes, bits=bits, index=self.indices(sizes))
        numbers = self.scalars_of(sizes, scalars)
        plain = {
            n: a if bits or not role.is_float else values(a)
            for (n, role), a in zip(self.roles.items(), self._in_order(inputs), strict=True)
        }
        if bits:
            plain = {
                n: a.astype(np.float64) if role.is_float and a.dtype == object else a
                for (n, role), a in zip(self.roles.items(), self._in_order(inputs), strict=True)
            }
        with np.errstate(all="ignore"):
            made = self.run(N, plain, sizes, numbers)
        return {name: shaped(value.x, self.outputs[name], sizes) for name, value in made.items()}

    def _in_order(self, inputs: NamedReals) -> list[Reals]:
        return [inputs[name] for name in self.roles]

    # -- the enclosure

    def enclose(
        self, inputs: NamedReals, accuracy: Accuracy, special: Special, scalars: Mapping[str, float] | None = None,
        stored: Mapping[str, Format] | None = None,
    ) -> dict[str, Enclosure]:  # fmt: skip
        """The sets of every output: of the claimed form, or the union of all (R8)."""
        question = Question(self, inputs, accuracy, special, Given.of(scalars or {}), stored or {})
        return {name: question.enclosure(name) for name in self.outputs}

    def diagnose(
        self, inputs: NamedReals, output: str, got: Doubles, enclosure: Enclosure, wrong: Mask, worst: Index
    ) -> Diagnosis:
        """What the error looks like: by the op's own eyes, where it has some, else by those of all formulas."""
        own = getattr(self.source, "diagnose", None)
        if own is not None:
            found: Diagnosis = own(inputs, output, got, enclosure, wrong, worst)
            return found
        return diagnosis.diagnose(self, inputs, output, got, enclosure, wrong, worst)

    @cached_property
    def names(self) -> "Names":
        """What a claim may speak of by name, over all forms."""
        return self.names_at(self.random_inputs(self.small_sizes(3), np.random.default_rng(2)))

    def names_at(self, inputs: NamedReals) -> "Names":
        """The same, with the terms that each sum has of these inputs."""
        sizes = self.sizes_of(inputs)
        sums: dict[str, int] = {}
        kept: dict[str, None] = {}
        functions: dict[str, None] = {}
        for form in self.every_form:
            N = Named(sizes, form, self.indices(sizes))
            with np.errstate(all="ignore"):
                self.run(N, inputs, sizes, self.scalars_of(sizes, {}))
            sums, kept, functions = sums | N.sums, kept | N.kept, functions | N.functions
        return Names(sums, tuple(kept), tuple(functions))

    def check_names(self, accuracy: Accuracy) -> None:
        """An error where a claim names a form, a sum, or anything else that the formula does not have."""
        sums = (*self.names.sums, "*")
        named = {
            "form": ((accuracy.form,) if accuracy.form is not None else (), (*filter(None, self.every_form), "any")),
            "adds": (accuracy.adds if isinstance(accuracy.adds, Mapping) else (), sums),
            "rescales": (accuracy.rescales if isinstance(accuracy.rescales, Mapping) else (), sums),
            "keep": (accuracy.keep, self.names.kept),
            "functions": (accuracy.functions, self.names.functions),
            "shared": (accuracy.shared or (), self.names.sums),
        }
        for key, (given, known) in named.items():
            for name in given:
                if name not in known:
                    raise OracleError(f"{self.name}: {key}={name!r}: expected {' or '.join(known) or 'none'}")

    # -- which dimensions fall apart

    @cached_property
    def apart(self) -> dict[str, tuple[str, ...]]:
        """For each output the dimensions along which nothing of one index enters another's answer.

        Found by taint: NaN in all inputs at one index of a dimension must stay at that index.
        """
        sizes = self.small_sizes(4)
        rng = np.random.default_rng(1)
        inputs = self.random_inputs(sizes, rng)
        scalars = self.scalars_of(sizes, {})
        found = {}
        for output, role in self.outputs.items():
            kept = [d for d in role.dimensions if self._stays_apart(output, d, inputs, sizes, scalars)]
            found[output] = tuple(kept)
        return found

    def _stays_apart(
        self, output: str, d: str, inputs: NamedReals, sizes: Mapping[str, int], scalars: Mapping[str, float]
    ) -> bool:
        with_d = [n for n, role in self.roles.items() if d in role.dimensions]
        if d.isdigit() or not any(self.roles[n].is_float for n in with_d):
            return False
        for place in range(sizes[d]):
            tainted = dict(inputs)
            for name in with_d:
                if self.roles[name].is_float:
                    tainted[name] = inputs[name].copy()
                    np.moveaxis(tainted[name], self.roles[name].dimensions.index(d), 0)[place] = np.nan
            N = Exact(sizes, index=self.indices(sizes))
            with np.errstate(all="ignore"):
                made = self.run(N, tainted, sizes, scalars)[output]
            y = shaped(made.x, self.outputs[output], sizes)
            others = np.delete(np.moveaxis(y, self.outputs[output].dimensions.index(d), 0), place, axis=0)
            if np.any(np.isnan(others)):
                return False
        return True

    def _falls_apart(self, lead: str, cut: Mapping[str, int]) -> bool:
        """Whether each place of a dimension has the same answer by itself, and the formula never asks which it is."""
        if not all(lead in apart for apart in self.apart.values()):
            return False
        sizes = self.small_sizes(4)
        inputs = self.random_inputs(sizes, np.random.default_rng(3))
        rest = {d: n for d, n in sizes.items() if d != lead}
        try:
            scalars = self.scalars_of(rest, {})
            whole = self.run(Exact(sizes, index=self.indices(sizes)), inputs, sizes, scalars)
            for place in range(sizes[lead]):
                alone = {name: array[place : place + 1] if name in cut else array for name, array in inputs.items()}
                made = self.run(Exact(rest, index=self.indices(rest)), alone, rest, scalars)
                for name, role in self.outputs.items():
                    mine, his = shaped(made[name].x, role, rest | {lead: 1}), shaped(whole[name].x, role, sizes)
                    if not np.allclose(mine[0], his[place], equal_nan=True):
                        return False
        except (LookupError, NameError, ValueError, ArithmeticError):  # it asks for what is not there
            return False
        return True

    def small_sizes(self, n: int) -> dict[str, int]:
        """Sizes of about n for which the op's axes rules hold; a dimension that is a number has that size."""
        names = list(
            dict.fromkeys(d for role in (*self.roles.values(), *self.outputs.values()) for d in role.dimensions)
        )
        fixed = {name: int(name) for name in names if name.isdigit()}
        names = [name for name in names if not name.isdigit()]
        for choice in itertools.product(*([n, 2 * n, 1, max(n // 2, 1)] for _ in names)):
            sizes = dict(zip(names, choice, strict=True)) | fixed
            if self.admits(sizes):
                return sizes
        raise OracleError(f"{self.name}: no sizes of about {n} satisfy {' and '.join(self.where)}")

    def admits(self, sizes: Mapping[str, int]) -> bool:
        return all(bool(evaluated(rule, sizes)) for rule in self.where)

    def random_inputs(self, sizes: Mapping[str, int], rng: np.random.Generator) -> dict[str, Reals]:
        """Normal numbers, and integers in their range."""
        made: dict[str, Reals] = {}
        for name, role in self.roles.items():
            shape = tuple(sizes[d] for d in role.dimensions)
            most = sizes[role.below] if role.below else 100
            made[name] = rng.standard_normal(shape) if role.is_float else rng.integers(0, most, shape)
        return made


class Given(dict[str, float]):
    """Scalars that a claim or a trial named: these are float32 or double numbers as they stand."""

    names: frozenset[str]

    @classmethod
    def of(cls, given: Mapping[str, float]) -> "Given":
        made = cls(given)
        made.names = frozenset(given)
        return made


def evaluated(text: str, sizes: Mapping[str, int]) -> Any:  # noqa: ANN401  a number or a truth
    """An expression of an op's own file over its sizes."""
    return eval(text, {"__builtins__": {}, "sqrt": math.sqrt, **sizes})  # noqa: S307  the file is Python itself


def shaped(x: Reals, role: Role, sizes: Mapping[str, int], only: Mapping[str, int] | None = None) -> Reals:
    """An output without the axes that a reduction left behind."""
    only = only or {}
    shape = tuple(1 if d in only or d == "1" else sizes[d] for d in role.dimensions)
    size = math.prod(shape)
    if x.size == size:
        return x.reshape(shape)
    return np.broadcast_to(x, shape)


class Places(dict[str, Reals]):
    """0, 1, ... along each dimension, or the one place that is asked for: made where a formula speaks of them."""

    def __init__(self, sizes: Mapping[str, int], only: Mapping[str, int]) -> None:
        super().__init__()
        self.sizes, self.only = sizes, only

    def __missing__(self, dimension: str) -> Reals:
        one = self.only.get(dimension)
        self[dimension] = np.arange(self.sizes[dimension]) if one is None else np.array([one])
        return self[dimension]


class Question:
    """One case, one claim: the bands of all forms over it, and over single rows of it by balls."""

    def __init__(
        self, op: FormulaOp, inputs: NamedReals, accuracy: Accuracy, special: Special, scalars: Given,
        stored: Mapping[str, Format],
    ) -> None:  # fmt: skip
        self.op, self.claim, self.special, self.stored = op, accuracy, special, stored
        self.inputs = {n: values(a) if op.roles[n].is_float else a for n, a in inputs.items()}
        self.sizes = op.sizes_of(inputs)
        given = [DTYPES.get(a.dtype, F32) for n, a in inputs.items() if op.roles[n].is_float]
        self.work = F64 if F64 in given else F32
        said = [FORMATS[name] for name in (accuracy.operand, *accuracy.keep.values()) if name]
        self.least = max(form.min_normal for form in (*given, *said, self.work))
        numbers = op.scalars_of(self.sizes, scalars)
        self.scalars = Given(numbers)
        self.scalars.names = frozenset(scalars)
        op.check_names(accuracy)
        self.forms = op.forms_of(accuracy.form)
        self.bands = [self.band(form) for form in self.forms]
        self.made = [self._run(band, self.inputs) for band in self.bands]
        self._rows: dict[tuple[Index, int, str], Any] = {}

    def band(self, form: str, only: Mapping[str, int] | None = None, balls: bool = False) -> Bands:
        return Bands(
            self.claim, self.sizes, self.work, form, BallEnds() if balls else None,
            self.op.indices(self.sizes, only), self.special.all_neg_inf, self.least,
        )  # fmt: skip

    def _run(self, band: Bands, inputs: NamedReals) -> dict[str, Quantity]:
        with np.errstate(all="ignore"):
            made = self.op.run(band, inputs, self.sizes, self.scalars)
            return {name: band.stored(value, self.stored.get(name, band.f)) for name, value in made.items()}

    def _parts(
        self, band: Bands, value: Quantity, name: str, only: Mapping[str, int] | None = None
    ) -> tuple[Reals, Reals, Reals]:
        """lo, hi, may be NaN, in the output's own shape; masked rows are what the claim or the op says they are."""
        role = self.op.outputs[name]
        full = np.broadcast_shapes(*(part.shape for part in value.parts))
        lo, hi, nan = (np.broadcast_to(part, full) for part in value.parts)
        said = "zero" if band.all_masked == "zero" else self.op.special.get("all_neg_inf")
        for mark in band.masked if said else ():
            mask = np.broadcast_to(mark, full) if _fits(mark.shape, full) else np.zeros(full, dtype=np.bool_)
            is_zero = said == "zero"
            end, nan = 0.0 if is_zero else -np.inf, nan & ~mask if is_zero else nan | mask
            lo, hi = np.where(mask, end, lo), np.where(mask, end, hi)
        return tuple(shaped(part, role, self.sizes, only) for part in (lo, hi, nan))  # type: ignore[return-value]

    def enclosure(self, name: str) -> Enclosure:
        """The union of the forms, element by element; what a claim is silent of is not judged."""
        parts = [self._parts(band, made[name], name) for band, made in zip(self.bands, self.made, strict=True)]
        lo, hi, nan = united(parts)
        lost = np.isnan(lo) | np.isnan(hi)  # float64 itself overflowed on the way: nothing is known
        if np.any(lost):
            lo, hi, nan = np.where(lost, -np.inf, lo), np.where(lost, np.inf, hi), nan | lost
        want = self._want(name)
        judged, reasons, must = self._judged(name, lo.shape)
        if np.any(must):
            lo, hi, nan = np.where(must, np.inf, lo), np.where(must, -np.inf, hi), nan | must
        open_ = (lo == -np.inf) & (hi == np.inf) & nan
        judged = judged & ~open_
        notes = {reason: count for band in self.bands for reason, count in band.notes.items()}
        reasons += tuple(f"{count} {reason}" for reason, count in notes.items())
        if np.any(open_) and not notes_explain(notes):
            reasons += (f"{int(open_.sum())} {ANYTHING}",)
        only_nan = lo > hi
        with np.errstate(invalid="ignore"):
            if np.any(is_nan := np.isnan(want)):
                want = np.where(is_nan, lo, want)
            want = np.clip(want, lo, hi)
            if np.any(only_nan):
                want, lo, hi = (np.where(only_nan, np.nan, end) for end in (want, lo, hi))
        none = np.broadcast_to(0.0, lo.shape)
        joint = self._joint(name) if self.claim.denominator == "row" and self.claim.shared != () else None
        return Enclosure(
            want, lo, hi, judged, none, none, lambda index, bits: self.exact(name, index, bits), joint, reasons,
            may_be_nan=nan & ~only_nan,
        )  # fmt: skip

    def _want(self, name: str) -> Doubles:
        N = Exact(self.sizes, self.forms[0], index=self.op.indices(self.sizes))
        with np.errstate(all="ignore"):
            made = self.op.run(N, self.inputs, self.sizes, self.scalars)[name]
        return np.asarray(shaped(made.x, self.op.outputs[name], self.sizes), dtype=np.float64)

    # -- special values

    def _judged(self, name: str, shape: tuple[int, ...]) -> tuple[Mask, tuple[str, ...], Mask]:
        """What the claim speaks of, why not of the rest, and what must be NaN."""
        judged, must = np.ones(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
        reasons: tuple[str, ...] = ()
        for value, key, shown in ((np.isnan, "nan", "NaN"), (np.isposinf, "pos_inf", "+inf")):
            rows = self._rows_with(name, value, shape)
            if not np.any(rows):
                continue
            word = getattr(self.special, key) or self.op.special.get(key)
            if word is None:
                judged &= ~rows
                number = int(
                    np.prod(
                        [
                            n
                            for d, n in zip(self.op.outputs[name].dimensions, shape, strict=True)
                            if d not in self.op.apart[name]
                        ]
                    )
                )
                reasons += (
                    f"{int(rows.sum()) // max(number, 1)} rows with {shown}: the claim does not speak of {shown}",
                )
            elif word == "row":
                must |= rows
        return judged, reasons, must

    def _rows_with(self, name: str, test: Any, shape: tuple[int, ...]) -> Mask:  # noqa: ANN401  a ufunc
        """Which answers a special value may enter: those that share its place along what falls apart."""
        dimensions, apart = self.op.outputs[name].dimensions, self.op.apart[name]
        found = np.zeros(shape, dtype=np.bool_)
        for role, array in self.inputs.items():
            if not self.op.roles[role].is_float or not np.any(mask := test(array)):
                continue
            own = self.op.roles[role].dimensions
            kept = [d for d in own if d in apart]
            mask = mask.any(axis=tuple(axis for axis, d in enumerate(own) if d not in apart))
            order = np.transpose(mask, np.argsort([dimensions.index(d) for d in kept])) if kept else mask
            found |= order.reshape([n if d in kept else 1 for d, n in zip(dimensions, shape, strict=True)])
        return found

    # -- rows by themselves, by balls

    def sliced(self, name: str, index: Index, keep_last: bool = False) -> tuple[dict[str, Reals], dict[str, int]]:
        """The inputs that one element's answer needs: its own index along every dimension that falls apart."""
        dimensions, apart = self.op.outputs[name].dimensions, self.op.apart[name]
        only = {d: i for d, i in zip(dimensions, index, strict=False) if d in apart}
        if keep_last:
            only.pop(dimensions[-1], None)
        cut = {}
        for role, array in self.inputs.items():
            place = tuple(
                slice(only[d], only[d] + 1) if d in only else slice(None) for d in self.op.roles[role].dimensions
            )
            cut[role] = array[place]
        return cut, only

    def exact(self, name: str, index: Index, bits: int) -> Bounds:
        """One element's set by balls, under the precision that the caller has set."""
        parts = []
        for form in self.forms:
            rows, only = self._row_by_balls(name, index, bits, form)
            lo, hi, _ = (
                part[tuple(0 if d in only else i for d, i in zip(self.op.outputs[name].dimensions, index, strict=True))]
                for part in rows
            )
            parts.append((lo, hi))
        some = [(lo, hi) for lo, hi in parts if not lo > hi]
        if not some:
            return Bounds(arb("nan"), arb("nan"), arb("nan"))
        lo = min((arb(lo) for lo, _ in some), key=_sortable)
        hi = max((arb(hi) for _, hi in some), key=_sortable)
        return Bounds(lo, (lo + hi) / 2, hi)

    def _row_by_balls(
        self, name: str, index: Index, bits: int, form: str
    ) -> tuple[tuple[Reals, Reals, Reals], dict[str, int]]:
        cut, only = self.sliced(name, index)
        key = (tuple(only.values()), bits, f"{form} {name}")
        if key not in self._rows:
            if len(self._rows) > 8:
                self._rows.clear()
            with ctx.workprec(bits), np.errstate(all="ignore"):
                band = self.band(form, only, balls=True)
                self._rows[key] = self._parts(band, self._run(band, cut)[name], name, only)
        return self._rows[key], only

    # -- the joint test

    def _joint(self, name: str) -> Any:  # noqa: ANN401  a generator function, or nothing
        dimensions, apart = self.op.outputs[name].dimensions, self.op.apart[name]
        if len(dimensions) < 2 or dimensions[-1] in apart:
            return None
        return lambda got: self._clashes(name, got)

    def _clashes(self, name: str, got: Doubles) -> Iterator[Clash]:
        """Rows that no form's shared values fit, each with a question to the balls."""
        first = self._contradictions(name, got, self.forms[0])
        rows = set(first)
        for form in self.forms[1:]:
            rows = rows and rows.intersection(self._contradictions(name, got, form))
        for row in sorted(rows, key=lambda r: -first[r].excess):
            told = first[row]
            last = (*row, told.worst)
            yield Clash(last, told.wrong, told.message(row), partial(self._is_certain, name, got, row))

    def _contradictions(
        self, name: str, got: Doubles, form: str, rows: Index | None = None
    ) -> dict[Index, Contradiction]:
        balls = rows is not None
        inputs, only = (self.inputs, {}) if rows is None else self.sliced(name, rows, keep_last=True)
        if rows is None:
            band = self.bands[self.forms.index(form)]
            made = self.made[self.forms.index(form)][name]
        else:
            band = self.band(form, only, balls)
            made = self._run(band, inputs)[name]
        value = got if rows is None else got[rows]
        return contract(band, made, value.reshape(made.shape), self.claim.shared)

    def _is_certain(self, name: str, got: Doubles, row: Index) -> bool:
        with ctx.workprec(PRECISIONS[0]):
            return all(self._contradictions(name, got, form, row) for form in self.forms)


def _sortable(x: arb) -> float:
    return float(x)


def notes_explain(notes: Mapping[str, int]) -> bool:
    return bool(notes)


def _fits(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(small, large) == large
    except ValueError:
        return False


def united(parts: list[tuple[Reals, Reals, Reals]]) -> tuple[Reals, Reals, Reals]:
    """The union of sets; the empty interval adds nothing but NaN."""
    lo, hi, nan = parts[0]
    for other_lo, other_hi, other_nan in parts[1:]:
        lo, hi, nan = np.minimum(lo, other_lo), np.maximum(hi, other_hi), nan | other_nan
    return np.asarray(lo), np.asarray(hi), np.asarray(np.broadcast_to(nan, lo.shape))


def from_module(name: str, module: Any) -> FormulaOp:  # noqa: ANN401  an op's file
    """The op that a file holds, or an error that says what is wrong with it."""
    calls = getattr(module, "formula", None)
    if not callable(calls):
        raise OracleError(f"{name}: no function 'formula(N, ...)'; 'kfuzz op --template' prints an op to start from")
    tables = {}
    for table in ("INPUTS", "OUTPUTS"):
        given = getattr(module, table, None)
        if not isinstance(given, Mapping) or not given:
            raise OracleError(f"{name}: {table} is missing; {USAGE}")
        tables[table] = {role: read_role(name, f"{table}[{role!r}]", text) for role, text in given.items()}
    scalars = dict(getattr(module, "SCALARS", {}))
    parameters = list(inspect.signature(calls).parameters)
    wanted = ["N", *tables["INPUTS"], *scalars]
    if sorted(parameters) != sorted(wanted):
        raise OracleError(f"{name}: formula takes {', '.join(parameters)}: expected {', '.join(wanted)}")
    return FormulaOp(
        name, calls, tables["INPUTS"], tables["OUTPUTS"], scalars,
        tuple(getattr(module, "FORMS", ())), dict(getattr(module, "SELDOM", {})), tuple(getattr(module, "WHERE", ())),
        dict(getattr(module, "SPECIAL", {})), module,
    )  # fmt: skip


__all__ = ["FormulaOp", "Question", "from_module", "replace"]
