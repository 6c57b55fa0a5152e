"""An op: its arrays, its formula over any number system, and the sets of right answers that are not intervals.

`read_op` makes an op from a Python file, in `oracle/ops/` or of a user. Knows the exact system; knows no bounds.
Long, since an op answers all questions about its arrays and sizes.
"""

import inspect
import itertools
import math
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.numbers.elements import Element, Reals, store, values
from kfuzz.oracle.numbers.enclosure import Enclosure, Floats
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.label import Diagnose
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.answer_sets import AnswerSets
from kfuzz.oracle.op.axis_orders import ArrayViews
from kfuzz.oracle.op.role import USAGE, Role, read_role, shape_output, shares_of
from kfuzz.oracle.op.shapes import Lengths, Places, dimension_length, evaluate, is_derived, lengths_of, names_in
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import WORDS, Quantity

NamedReals = Mapping[str, Reals]
Answers = Callable[[Mapping[str, Floats], Accuracy, Special, Lengths], dict[str, Enclosure]]
"""A file's `answers(inputs, accuracy, special, sizes)`: the set of right answers for every output."""
InputsMaker = Callable[[Mapping[str, NDArray[Any]]], Mapping[str, NDArray[Any]]]
MANY_DIMENSIONS, SMALLEST = 4, 3
"""Arrays of so many dimensions have no more than 3 places along each where a size of about n is wanted."""
ENOUGH = 4
"""How many sizes are tried from the one that is wanted on."""
AT_LEAST = re.compile(r"(\w+) >= (\d+)")
"""A rule that a size obeys by itself."""
MULTIPLE = re.compile(r"(\w+) % (\d+) == 0")
EXACTLY = re.compile(r"(\w+) == (\d+)")
NO_SCALARS: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Op:
    """The declarations of an op's file. `formula` gives the exact outputs over any number system.

    `answers`: the sets of right answers, for an op whose bounds do not follow from the formula. `forms`: the ways to
    compute it that a claim without a form means. `seldom`: rarer ways, each with the function that such a kernel calls,
    or "" where no call reveals it; a claim names such a form, or "any" for all of them. `needs_form`: the forms are
    different functions, of which a claim must name one. `diagnose`: recognises the op's typical errors.
    `axes`: sizes that no input has, such as that of a group or a stride: a number, or an expression over the other
    sizes, which a claim may change as it changes scalars. One whose default is 0, such as a padding, may be 0.
    `ignores_nan`: a kernel may compute the op without the NaNs among its inputs, as fmaxf does.
    `sets`: in place of `answers`, for an op whose sets depend on its scalars, on other outputs as they were written, or
    have probabilities.
    `steps`: of an op made from a reference, the values that the reference stores in tensors of its inputs' type.
    `is_whole`: its formula depends on the sizes and integers of a case, so kfuzz asks for whole arrays alone.
    `is_deep`: whether many sums follow one another in it, if its file says so.
    `make_inputs`: the arrays that a kernel gets in the place of some of a case, which the file makes by these; its
    rules then fix the sizes.
    `weights`: an input that says which weights a reference has; for each integer the names of those that differ, each
    with a digest of its numbers.
    `is_gradient`: what may be NaN here is a number in another arrangement, which does not multiply an infinity by 0.
    `optional`: inputs that a kernel may not have, each with 0 as a term or 1 as a factor, and dimensions that its
    arrays may not have. `also`: other names, each with the spelling that it means. `own`, `views`: for an op over other
    arrays than its own (spelling.py), the op over its own arrays, and how these lie in the others.
    """

    name: str
    about: str
    formula: Callable[..., Any]
    answers: Answers | None
    inputs: Mapping[str, Role]
    outputs: Mapping[str, Role]
    scalars: Mapping[str, float | str]
    forms: tuple[str, ...]
    seldom: Mapping[str, str]
    where: tuple[str, ...]
    special: Mapping[str, str]
    diagnose: Diagnose | None
    axes: Mapping[str, int | str]
    ignores_nan: bool = False
    needs_form: bool = False
    steps: tuple[str, ...] = ()
    sets: AnswerSets | None = None
    is_gradient: bool = False
    is_whole: bool = False
    is_deep: bool | None = None
    make_inputs: InputsMaker | None = None
    weights: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)
    optional: Mapping[str, float] = field(default_factory=dict)
    also: Mapping[str, str] = field(default_factory=dict)
    own: "Op | None" = None
    views: tuple[ArrayViews, ArrayViews] | None = None

    @property
    def roles(self) -> tuple[tuple[str, Role], ...]:
        """Every array, inputs first; an input and an output may have one name."""
        return (*self.inputs.items(), *self.outputs.items())

    @property
    def takes_vector(self) -> bool:
        """Whether a [rows, cols] input may be one row, [n]."""
        first, *_ = self.inputs.values()
        is_by_row = all(role.dimensions != ("cols", "rows") for role in self.outputs.values())
        return first.dimensions == ("rows", "cols") and is_by_row

    @property
    def takes_any_float(self) -> bool:
        """Whether the arrays may be of any float type."""
        return not any(role.is_only_float32 for _, role in self.roles)

    @property
    def every_form(self) -> tuple[str, ...]:
        """All forms; "" is the usual one of an op that names none."""
        return (*(self.forms or ("",)), *self.seldom)

    @property
    def fragile_forms(self) -> tuple[str, ...]:
        """The forms with a variance by E[x^2] - mean^2, of which no digit may be right: docs/numerics.md#inaccurate."""
        return tuple(form for form in self.every_form if form.startswith("moments"))

    def forms_of(self, claimed: str | None) -> tuple[str, ...]:
        """The forms that a claim may mean; an op without forms has one form, without a name."""
        if claimed == "any":
            return self.every_form
        return (claimed,) if claimed else self.forms or ("",)

    @property
    def draws(self) -> bool:
        """Whether its answers are drawn by the kernel's own random numbers, which then have so many bits."""
        return "random_bits" in self.scalars

    @property
    def gives_sets(self) -> bool:
        """Whether its file gives the right answers as sets, which do not follow from its formula."""
        return self.answers is not None or self.sets is not None

    @property
    def fixed(self) -> dict[str, int]:
        """The dimensions for which the rules allow one size."""
        return {found[1]: int(found[2]) for rule in self.where if (found := EXACTLY.fullmatch(rule))}

    @property
    def selects(self) -> bool:
        """Whether the numbers in its answers are elements of its inputs: it answers with places, too, or may leave NaN
        out.
        """
        kinds = {role.is_float for role in self.outputs.values()}
        return not self.is_whole and (len(kinds) == 2 or (self.ignores_nan and kinds == {True}))

    @property
    def has_grid(self) -> bool:
        """Whether an output is rounded to a grid of few numbers."""
        return any(role.is_grid for role in self.outputs.values())

    def sizes_of(self, inputs: NamedReals, given: Mapping[str, float | str] | None = None) -> dict[str, int]:
        """The length of every dimension of the inputs and of every dimension that is a number, and the op's axes.

        `given`: the scalars of a claim, among which axes may be.
        """
        fixed = {d: int(d) for role in self.outputs.values() for d in role.dimensions if d.isdigit()}
        placed = [
            pair for name, role in self.inputs.items() for pair in zip(role.dimensions, inputs[name].shape, strict=True)
        ]
        return self.add_axes(fixed | lengths_of(placed), given or {})

    def add_axes(self, lengths: Mapping[str, int], given: Mapping[str, float | str]) -> dict[str, int]:
        """Add the op's axes, and the dimensions that follow from other sizes, to lengths."""
        sizes, is_full = dict(lengths), all(lengths.values())
        for name, default in self.axes.items():
            value, least = given.get(name, default), self.least_of(name)
            size = evaluate(value, sizes) if isinstance(value, str) else value
            if int(size) != size or (size < least and is_full):
                raise OracleError(f"{self.name}: {name}={value!r}: expected an integer of at least {least}")
            sizes[name] = max(int(size), least)
        for dimension in self.derived_dimensions:
            if names_in(dimension) <= sizes.keys():
                sizes[dimension] = dimension_length(dimension, sizes)
        return sizes

    @cached_property
    def derived_dimensions(self) -> tuple[str, ...]:
        """The dimensions of all arrays that follow from other sizes."""
        return tuple(dict.fromkeys(dimension for _, role in self.roles for dimension in role.derived))

    @cached_property
    def given_dimensions(self) -> frozenset[str]:
        """The dimensions whose sizes the inputs and the axes give."""
        of_inputs = (dimension for role in self.inputs.values() for dimension in role.dimensions)
        return frozenset((*of_inputs, "1", *self.derived_dimensions, *self.axes))

    def least_of(self, axis: str) -> int:
        """The least size of an axis: 0 if its default is 0, or is an axis that may be 0."""
        default = self.axes[axis]
        return self.least_of(default) if isinstance(default, str) and default in self.axes else int(default != 0)

    def scalars_of(self, sizes: Lengths, given: Mapping[str, float | str]) -> dict[str, float]:
        """Every scalar's value: the given one, or the op's default, which may depend on the sizes."""
        known = (*self.scalars, *self.axes)
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise OracleError(f"{self.name}: scalars has {unknown[0]}: expected {', '.join(known) or 'none'}")
        for name, number in given.items():
            if name in self.axes:
                continue
            if isinstance(number, bool | str) or not math.isfinite(number):
                raise OracleError(f"{self.name}: scalars[{name!r}]={number!r}: expected a finite number")
        numbers = {}
        for name, default in self.scalars.items():
            value = given.get(name, default)
            numbers[name] = float(value if not isinstance(value, str) else evaluate(value, sizes))
        return numbers

    def derived_scalars(self, given: Mapping[str, float | str]) -> frozenset[str]:
        """The scalars that a kernel computes from its sizes, such as 1 / sqrt(d), unless a claim gives their value."""
        return frozenset(name for name, default in self.scalars.items() if isinstance(default, str)) - set(given)

    def run(
        self,
        N: Any,  # noqa: ANN401  any system
        inputs: NamedReals,
        sizes: Lengths,
        scalars: Mapping[str, float],
        derived: frozenset[str] = NO_SCALARS,
    ) -> dict[str, Quantity]:
        """Run the formula over one system; N rounds the `derived` scalars like a kernel that computes them."""
        given = {n: N.input(inputs[n]) if role.is_float else inputs[n] for n, role in self.inputs.items()}
        numbers = {n: N.derived_number(v) if n in derived else N.number(v) for n, v in scalars.items()}
        try:
            results = self.formula(N, **given, **numbers)
        except (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError) as error:
            raise self._mistake(N, error) from error
        if not isinstance(results, Mapping):
            results = {next(iter(self.outputs)): results}
        for output in self.outputs:
            if not isinstance(results.get(output), Quantity):
                missing = f"the formula gives no '{output}' made by N"
                raise OracleError(f"{self.name}: {missing}; return one value, or {{'{output}': value, ...}}")
        return dict(results)

    def _mistake(self, N: object, error: Exception) -> OracleError:
        """The error for a mistake in the formula's file, with its line."""
        if isinstance(error, OracleError):
            return error
        file = inspect.unwrap(self.formula).__code__.co_filename
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        place = f"{Path(file).name}:{lines[-1]}" if lines else self.name
        if isinstance(error, AttributeError) and error.obj is N:
            return OracleError(f"{place}: there is no N.{error.name}; a formula may ask N for {', '.join(WORDS)}")
        return OracleError(f"{place}: the formula cannot be worked out: {type(error).__name__}: {error}")

    def compute(self, inputs: NamedReals, scalars: Mapping[str, float], bits: int = 0) -> dict[str, Reals]:
        """Compute the exact outputs, in float64 or to so many bits by mpmath."""
        sizes = self.sizes_of(inputs, scalars)
        N = Exact(sizes, bits=bits, index=Places(sizes))
        plain = {n: values(inputs[n]) if role.is_float else inputs[n] for n, role in self.inputs.items()}
        with np.errstate(all="ignore"):
            made = self.run(N, plain, sizes, self.scalars_of(sizes, scalars))
        return {name: shape_output(value.x, self.outputs[name], sizes) for name, value in made.items()}

    def admits(self, sizes: Lengths) -> bool:
        """Whether the sizes obey the op's rules, and no dimension is negative."""
        is_possible = all(sizes.get(dimension, 0) >= 0 for dimension in self.derived_dimensions)
        return is_possible and all(bool(evaluate(rule, sizes)) for rule in self.where)

    def store_input(self, name: str, x: Reals, form: Element) -> NDArray[Any]:
        """An input as an array: numbers in this type, or in that of a grid; integers as they are."""
        role = self.inputs[name]
        return store(np.asarray(x, dtype=np.float64), role.stored_as(form)) if role.is_float else x

    def small_sizes(self, n: int) -> dict[str, int]:
        """Lengths of about n that obey the op's rules; a dimension that is a number has that size.

        A dimension that follows from others is about n, too: to slide over 2 n places, a window of n makes n + 1. Of
        arrays of many dimensions n is less, so that none has many elements.
        """
        names = list(lengths_of((d, 0) for _, role in self.roles for d in role.dimensions))
        fixed = {name: int(name) for name in names if name.isdigit()} | self.fixed
        names = [name for name in names if name not in fixed]
        n = min(n, SMALLEST) if self.has_many_dimensions else n
        lower = {found[1]: int(found[2]) for rule in self.where if (found := AT_LEAST.fullmatch(rule))}
        parts = {found[1]: int(found[2]) for rule in self.where if (found := MULTIPLE.fullmatch(rule))}
        for least in range(n, n + ENOUGH):  # a window of 3 has no place in a row of 1 or 2
            for choice in itertools.product(*([least, 2 * least, 1, max(least // 2, 1)] for _ in names)):
                enough = {name: max(one, lower.get(name, 0)) for name, one in zip(names, choice, strict=True)}
                whole = {name: size + -size % parts.get(name, 1) for name, size in enough.items()}
                sizes = self.add_axes(whole | fixed, {})
                if self.admits(sizes):
                    return self._lengthened(sizes, least)
        raise OracleError(f"{self.name}: no sizes of about {n} satisfy {' and '.join(self.where)}")

    @property
    def has_many_dimensions(self) -> bool:
        return max(len(role.dimensions) for _, role in self.roles) >= MANY_DIMENSIONS

    def _lengthened(self, sizes: dict[str, int], n: int) -> dict[str, int]:
        """The same sizes with those doubled by which dimensions that are less than n become longer."""
        for name in [name for name in sizes if name.isidentifier() and name not in self.axes]:
            short = [
                dimension for dimension in self.derived_dimensions if " / " not in dimension and sizes[dimension] < n
            ]
            doubled = {d: size for d, size in sizes.items() if not is_derived(d)} | {name: 2 * sizes[name]}
            longer = self.add_axes(doubled, {}) if short else sizes
            if sum(longer[one] for one in short) > sum(sizes[one] for one in short) and self.admits(longer):
                sizes = longer
        return sizes

    def random_inputs(self, sizes: Lengths, rng: np.random.Generator) -> dict[str, Reals]:
        """Normal numbers, integers in their range, and of a grid the numbers that every signed one has."""
        made: dict[str, Reals] = {}
        for name, role in self.inputs.items():
            limit = role.limit(sizes)
            most = 100 if limit is None else limit
            shape = role.shape(sizes)
            if role.is_grid:
                made[name] = rng.integers(-4, 5, shape).astype(np.float64)
                continue
            if role.is_uniform or role.is_share:
                made[name] = rng.random(shape) if role.is_uniform else shares_of(rng.random(shape))
                continue
            made[name] = rng.standard_normal(shape) if role.is_float else rng.integers(0, most, shape)
            if role.structure:
                low, high = role.structure.bounds(sizes)
                made[name] = role.structure.arrange(rng.integers(low, max(low, high) + 1, shape), sizes)
            if role.is_float and (role.divided or role.dimensions == ("1",)):  # a scale
                made[name] = np.abs(made[name])
        return made if self.make_inputs is None else {**made, **self.make_inputs(made)}


def read_op(name: str, module: object) -> Op:
    """Read the op from a file's module, or raise an error that says what is wrong with it."""
    table = vars(module)
    formula = table.get("formula")
    if not callable(formula):
        raise OracleError(f"{name}: no function 'formula(N, ...)'; 'kfuzz op --template' prints an op to start from")
    roles = {}
    for key in ("INPUTS", "OUTPUTS"):
        given = table.get(key)
        if not isinstance(given, Mapping) or not given:
            raise OracleError(f"{name}: {key} is missing; {USAGE}")
        roles[key] = {role: read_role(name, f"{key}[{role!r}]", text) for role, text in given.items()}
    _check_dimensions(name, roles["INPUTS"], roles["OUTPUTS"], table.get("AXES", {}))
    rules = dict.fromkeys(rule for role in roles["INPUTS"].values() if role.structure for rule in role.structure.rules)
    scalars = dict(table.get("SCALARS", {}))
    parameters = list(inspect.signature(formula).parameters)
    wanted = ["N", *roles["INPUTS"], *scalars]
    if sorted(parameters) != sorted(wanted):
        raise OracleError(f"{name}: formula takes {', '.join(parameters)}: expected {', '.join(wanted)}")
    return Op(
        name=name, about=inspect.getdoc(module) or "", formula=formula, answers=table.get("answers"),
        inputs=roles["INPUTS"], outputs=roles["OUTPUTS"], scalars=scalars,
        axes=dict(table.get("AXES", {})), forms=tuple(table.get("FORMS", ())), seldom=dict(table.get("SELDOM", {})),
        where=(*table.get("WHERE", ()), *rules), special=dict(table.get("SPECIAL", {})), diagnose=table.get("diagnose"),
        ignores_nan=bool(table.get("IGNORES_NAN", False)), needs_form=bool(table.get("NEEDS_FORM", False)),
        steps=tuple(table.get("STEPS", ())), sets=table.get("sets"),
        is_whole=bool(table.get("WHOLE", False)), is_deep=table.get("DEEP"),
        is_gradient=bool(table.get("GRADIENT", False)),
        make_inputs=table.get("make_inputs"), weights=dict(table.get("WEIGHTS", {})),
        optional=dict(table.get("OPTIONAL", {})), also=dict(table.get("ALSO", {})),
    )  # fmt: skip


def _check_dimensions(
    name: str, inputs: Mapping[str, Role], outputs: Mapping[str, Role], axes: Mapping[str, int | str]
) -> None:
    """Raise an error if a dimension is made of sizes that the inputs, or the axes, do not give."""
    known = {*lengths_of((d, 0) for role in inputs.values() for d in role.dimensions), *axes}
    for role in (*inputs.values(), *outputs.values()):
        for dimension in role.derived:
            if unknown := sorted(names_in(dimension) - known):
                found = f"'{unknown[0]}' of '{dimension}' is no dimension of an input and not in AXES"
                raise OracleError(f"{name}: {found}; there are {', '.join(sorted(known))}")
        if role.structure and (unknown := sorted(role.structure.names - known)):
            found = f"'{unknown[0]}' of '{role.structure}' is no dimension of an input and not in AXES"
            raise OracleError(f"{name}: {found}; there are {', '.join(sorted(known))}")
