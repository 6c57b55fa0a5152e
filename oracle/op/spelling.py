"""An op over other arrays than its own: `softmax(x[batch, cols, inner])`, `sgemm(a, b.T)`, `gemm(a, b)`.

The brackets hold the dimensions of a kernel's array in their order. Names that the op does not have make up, together,
the one dimension of the op that is not there, or its first one. `.T` exchanges the last two. An optional input that is
not listed is left out, and a dimension that no array has is 1. Knows names and dimensions; never what an op computes.
Long, since a spelling is read, checked and carried out here alone.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.numbers.enclosure import Floats
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.verdict import Verdict, Worst
from kfuzz.oracle.op.axis_orders import ArrayView, ArrayViews
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.role import Role, shape_output
from kfuzz.oracle.op.shapes import Places, is_derived, names_in, read_dimension
from kfuzz.oracle.systems.absent import Absent
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

SPELLED = re.compile(r"\s*(\w+)\s*\(([^()]*)\)\s*(?:->(.*))?")
ARRAY = re.compile(r"(\w+)\s*(?:(\.T)|\[([\w\s,]*)\])?")
NAME = re.compile(r"[A-Za-z_]\w*")
BETWEEN = re.compile(r",(?![^\[\]]*\])")
ONE = "1"
EXPRESSION = "expression"
FILE_NAME = re.compile(r"[\w.-]+")
"""A text that is no expression although Python would read one: the name of a file, as `my-op`."""
LONGEST = 2000

T = TypeVar("T", bound=np.generic)
AxisNames = tuple[str, ...]
Joined = Mapping[str, AxisNames]
"""For each dimension of the op, the kernel's dimensions that make it up."""


def name_in(text: str) -> str:
    """The name of the op in its spelling: `gemm` of `gemm(a, b)`; what combines ops is an `expression`."""
    return EXPRESSION if is_expression(text) else text.partition("(")[0].strip()


@cache
def is_expression(text: str) -> bool:
    """Whether a text combines arrays or ops (expression.py); a single op over arrays is a spelling."""
    if FILE_NAME.fullmatch(text) or len(text) > LONGEST or text.endswith(".py"):
        return False
    try:
        root = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if isinstance(root, ast.Call):
        return bool(root.keywords) or not all(is_array(one) for one in root.args)
    return isinstance(root, ast.BinOp | ast.UnaryOp)


def is_array(node: ast.AST) -> bool:
    """Whether it is an array, maybe with its dimensions or transposed."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def spell(op: Op, text: str) -> Op:
    """The op over the arrays that a text names, under its shortest name; OracleError if they do not fit."""
    found = SPELLED.fullmatch(text)
    if found is None:
        raise OracleError(f"op={text!r}: write it as {op.name}({', '.join(op.inputs)}), or with .T or [dimensions]")
    inputs = _read_arrays(op, text, found[2], op.inputs)
    outputs = _read_arrays(op, text, found[3] or "", op.outputs)
    for role in op.inputs:
        if role not in inputs and role not in op.optional:
            raise OracleError(f"op={text!r}: {role} is missing; only {', '.join(optional_inputs(op)) or 'none'} may be")
    own = leave_out(op, [role for role in op.inputs if role not in inputs])
    layout = _Spelling(own, text, inputs, outputs)
    return layout.op()


def leave_out(op: Op, roles: Sequence[str]) -> Op:
    """The op without some of its optional inputs."""
    if not roles:
        return op
    missing = {role: op.optional[role] for role in roles}

    def formula(N: Any, **given: Any) -> Any:  # noqa: ANN401  any system, its values
        return op.formula(N, **given, **{role: Absent(N, value) for role, value in missing.items()})

    inputs = {role: one for role, one in op.inputs.items() if role not in missing}
    return replace(op, name=f"{op.name}({', '.join(inputs)})", inputs=inputs, formula=formula)


def without(op: Op, roles: Sequence[str], dimensions: Sequence[str] = ()) -> str:
    """A spelling of the op without some of its optional inputs, and without some dimensions in all its arrays."""

    def spelled(arrays: Mapping[str, Role]) -> str:
        left = {role: [name for name in one.dimensions if name not in dimensions] for role, one in arrays.items()}
        return ", ".join(f"{role}[{', '.join(names)}]" for role, names in left.items() if role not in roles)

    given = {role: one for role, one in op.outputs.items() if not one.derived}  # the others follow from the inputs
    return f"{name_in(op.name)}({spelled(op.inputs)}){' -> ' if given else ''}{spelled(given)}"


def in_own_arrays(
    op: Op, given: Mapping[str, Floats], answers: Mapping[str, Floats]
) -> tuple[Op, dict[str, Floats], dict[str, Floats]]:
    """Inputs and answers as the op has them that an op over other arrays is made from; as they are for any other op."""
    if op.own is None or op.views is None:
        return op, dict(given), dict(answers)
    inputs, _ = op.views
    asked = {role: inputs[role].to_op(array) for role, array in given.items()}
    return op.own, asked, as_own_outputs(op, answers)


def as_own_outputs(op: Op, answers: Mapping[str, NDArray[T]]) -> dict[str, NDArray[T]]:
    """Answers as the op has them that an op over other arrays is made from."""
    return {role: op.views[1][role].to_op(one) if op.views else one for role, one in answers.items()}


def in_other_arrays(views: ArrayViews, verdict: Verdict, answers: Mapping[str, Floats]) -> Verdict:
    """A verdict on answers in the op's own arrays, with the places of the worst elements in the kernel's."""
    if verdict.inaccurate is not None:
        return replace(
            in_other_arrays(views, replace(verdict, inaccurate=None), answers),
            inaccurate=in_other_arrays(views, verdict.inaccurate, answers),
        )
    if verdict.worst is None:
        return verdict
    view = views[verdict.worst.output]
    lengths = view.lengths(answers[verdict.worst.output].shape)

    def place(worst: Worst) -> Worst:
        return replace(worst, index=view.index(worst.index, lengths))

    picture = verdict.picture
    if picture:
        got = view.to_kernel(np.array(picture.got).reshape(picture.shape), lengths)
        picture = replace(
            picture, shape=got.shape, got=tuple(got.ravel().tolist()), wrong=tuple(map(place, picture.wrong))
        )
    return replace(verdict, worst=place(verdict.worst), picture=picture)


def optional_inputs(op: Op) -> list[str]:
    """The inputs that a kernel may not have."""
    return [role for role in op.optional if role in op.inputs]


def _read_arrays(op: Op, text: str, listed: str, roles: Mapping[str, Role]) -> dict[str, AxisNames | None]:
    """The dimensions of each array that is listed; None for those of the op."""
    arrays: dict[str, AxisNames | None] = {}
    for item in filter(None, (one.strip() for one in BETWEEN.split(listed))):
        found = ARRAY.fullmatch(item)
        if found is None or found[1] not in roles or found[1] in arrays:
            raise OracleError(f"op={text!r}: '{item}': {op.name} has {', '.join(op.inputs)} -> {', '.join(op.outputs)}")
        own = roles[found[1]].dimensions
        if found[2] and len(own) < 2:
            raise OracleError(f"op={text!r}: '{item}': {found[1]} has one dimension, so it has no transpose")
        swapped = (*own[:-2], *own[:-3:-1])
        given = tuple(one.strip() for one in found[3].split(",")) if found[3] is not None else None
        arrays[found[1]] = swapped if found[2] else given
    return arrays


@dataclass(frozen=True)
class _Spelling:
    """An op, and the dimensions that its arrays are given; None for its own."""

    own: Op
    text: str
    inputs: Mapping[str, AxisNames | None]
    outputs: Mapping[str, AxisNames | None]

    def op(self) -> Op:
        """The op over these arrays; the op itself if they are its own."""
        own, parts = self.own, self.parts()
        first = self.view(next(iter(own.inputs)), own.inputs, self.inputs, parts, None)
        inputs = {role: self.view(role, own.inputs, self.inputs, parts, first) for role in own.inputs}
        outputs = {role: self.view(role, own.outputs, self.outputs, parts, first) for role in own.outputs}
        if all(
            view.dimensions == role.dimensions
            for views, roles in ((inputs, own.inputs), (outputs, own.outputs))
            for view, role in zip(views.values(), roles.values(), strict=True)
        ):
            return own
        if any(role.divided for _, role in own.roles):
            raise self.error(f"{own.name} has groups, so its arrays are its own")
        names = {name: _as_text(part) for name, part in parts.items() if name not in own.axes}
        return replace(
            own,
            name=self.name(inputs, outputs, first),
            inputs={role: self.role(own.inputs[role], view, parts) for role, view in inputs.items()},
            outputs={role: self.role(own.outputs[role], view, parts) for role, view in outputs.items()},
            where=(
                *(_replace_names(rule, names) for rule in own.where),
                *(
                    f"{_replace_names(name, names) if is_derived(name) else name} == 1"
                    for name, part in parts.items()
                    if not part and (is_derived(name) or name in own.axes)
                ),
            ),
            scalars={n: _replace_names(one, names) if isinstance(one, str) else one for n, one in own.scalars.items()},
            axes={n: _replace_names(one, names) if isinstance(one, str) else one for n, one in own.axes.items()},
            formula=formula_over(own, inputs, outputs),
            own=own,
            views=(inputs, outputs),
        )

    def parts(self) -> Joined:
        """What each dimension of the op is made of, by the arrays whose dimensions are given."""
        found: dict[str, AxisNames] = {}
        for roles, given in ((self.own.inputs, self.inputs), (self.own.outputs, self.outputs)):
            for role, dimensions in given.items():
                if dimensions is None:
                    continue
                for name, part in self.parts_of(role, roles[role].dimensions, dimensions).items():
                    if found.setdefault(name, part) != part:
                        raise self.error(f"{name} is {_as_text(part)} in {role} and {_as_text(found[name])} elsewhere")
        every = [name for _, role in self.own.roles for name in role.dimensions]
        parts = {name: found.get(name, () if name == ONE else (name,)) for name in dict.fromkeys(every)}
        names = {name: _as_text(part) for name, part in parts.items() if name not in self.own.axes}
        follow = {
            name: (read_dimension(_replace_names(name, names)),) if self.is_there(name, parts) else ()
            for name in parts
            if is_derived(name)
        }
        return parts | follow

    def is_there(self, derived: str, parts: Joined) -> bool:
        """Whether any dimension is there of those that a derived one follows from."""
        return any(parts[name] for name in names_in(derived) if name in parts and name not in self.own.axes)

    def parts_of(self, role: str, own: AxisNames, given: AxisNames) -> dict[str, AxisNames]:
        """What each dimension of one array is made of."""
        others = {name for _, one in self.own.roles for name in one.dimensions} - {*own, ONE}
        named = [name for name in given if name != ONE]
        if len(set(named)) < len(named) or not all(NAME.fullmatch(name) for name in named):
            raise self.error(f"{role}[{', '.join(given)}]: a dimension is a name, each another one, or 1")
        if strange := [name for name in named if name in others]:
            raise self.error(f"{role} has {', '.join(own)}, and {strange[0]} is a dimension of another array")
        extra, missing = [name for name in named if name not in own], [name for name in own if name not in named]
        if extra and len(missing) > 1:
            raise self.error(f"{role}[{', '.join(given)}]: {', '.join(extra)} may be {' or '.join(missing)}; name one")
        joined = (missing or list(own))[0] if extra else ""
        parts: dict[str, AxisNames] = {name: (name,) if name in named else () for name in own}
        if joined:
            parts[joined] = tuple(name for name in named if name in extra or name == joined)
        return parts

    def view(
        self, role: str, roles: Mapping[str, Role], given: Mapping[str, AxisNames | None], parts: Joined,
        first: ArrayView | None,
    ) -> ArrayView:  # fmt: skip
        """How an array lies; one whose dimensions are not given follows the first input, if it has no others."""
        own = roles[role].dimensions
        dimensions = given.get(role)
        if dimensions is None:
            dimensions = self.usual(own, parts, first)
        return ArrayView(dimensions, tuple(parts[name] for name in own))

    def usual(self, own: AxisNames, parts: Joined, first: ArrayView | None) -> AxisNames:
        """The dimensions of an array that are not given."""
        lead = iter(next(iter(self.own.inputs.values())).dimensions)
        if first is not None and all(name in lead for name in own):  # in this order
            mine = {one for name in own for one in parts[name]}
            return tuple(one for one in first.dimensions if one in mine) or (ONE,)
        return tuple(one for name in own for one in (parts[name] if name != ONE else (ONE,))) or (ONE,)

    def role(self, role: Role, view: ArrayView, parts: Joined) -> Role:
        """The role with the kernel's dimensions."""
        if role.structure:
            names = {name: parts[name][0] for name in role.structure.names if len(parts.get(name, ())) == 1}
            if missing := sorted(role.structure.names - names.keys()):
                raise self.error(f"{missing[0]} bounds integers, so it has to be one dimension")
            return replace(role, dimensions=view.dimensions, structure=role.structure.rename(names))
        if role.below is None or role.below.isdigit():
            return replace(role, dimensions=view.dimensions)
        if len(parts[role.below]) != 1:
            raise self.error(f"{role.below} bounds integers, so it has to be one dimension")
        return replace(role, dimensions=view.dimensions, below=parts[role.below][0])

    def name(self, inputs: ArrayViews, outputs: ArrayViews, first: ArrayView) -> str:
        """The spelling, with the dimensions of those arrays alone that do not follow from the ones before."""
        said: dict[str, AxisNames | None] = {}
        answered: dict[str, AxisNames | None] = {}

        def spell_array(role: str, view: ArrayView, own: Role, to: dict[str, AxisNames | None]) -> str:
            parts = replace(self, inputs=said, outputs=answered).parts()
            usual = self.usual(own.dimensions, parts, first if said or answered else None)
            to[role] = None if view.dimensions == usual else view.dimensions
            return role if to[role] is None else f"{role}[{', '.join(view.dimensions)}]"

        shown = [spell_array(role, view, self.own.inputs[role], said) for role, view in inputs.items()]
        ends = [spell_array(role, view, self.own.outputs[role], answered) for role, view in outputs.items()]
        arrow = f" -> {', '.join(ends)}" if any("[" in one for one in ends) else ""
        return f"{name_in(self.own.name)}({', '.join(shown)}){arrow}"

    def error(self, found: str) -> OracleError:
        return OracleError(f"op={self.text!r}: {found}")


def _as_text(part: AxisNames) -> str:
    """A dimension of the op in words of the kernel's."""
    return f"({' * '.join(part)})" if len(part) > 1 else "".join(part) or ONE


def _replace_names(text: str, names: Mapping[str, str]) -> str:
    return NAME.sub(lambda found: names.get(found[0], found[0]), text)


def formula_over(own: Op, inputs: ArrayViews, outputs: ArrayViews) -> Any:  # noqa: ANN401  a function of any system
    """The formula over a kernel's arrays, for the exact systems; an answer is judged by the op's own formula."""

    def formula(N: Exact, **given: Any) -> dict[str, Quantity]:  # noqa: ANN401
        lengths: dict[str, int] = {}
        sizes: dict[str, int] = {}
        for role, view in inputs.items():
            array = given[role].x if isinstance(given[role], Quantity) else given[role]
            lengths |= view.lengths(array.shape)
            mine = view.to_op(array)
            sizes |= dict(zip(own.inputs[role].dimensions, mine.shape, strict=True))
            given[role] = N.value(mine) if isinstance(given[role], Quantity) else mine
        sizes = own.add_axes(sizes, {axis: N.size(axis) for axis in own.axes})
        with N.over(sizes, Places(sizes)):
            made = own.formula(N, **given)
        for role, view in outputs.items():
            pairs = zip(own.outputs[role].dimensions, view.parts, strict=True)
            follows = [(dimension, part) for dimension, part in pairs if is_derived(dimension) or dimension in own.axes]
            lengths |= {part[0]: sizes[dimension] for dimension, part in follows if part}
        made = made if isinstance(made, Mapping) else {next(iter(own.outputs)): made}
        if any(name not in sizes and name != ONE for role in own.outputs.values() for name in role.dimensions):
            return dict(made)  # only an answer knows these sizes
        return {
            role: N.value(view.to_kernel(shape_output(made[role].x, own.outputs[role], sizes), lengths))
            for role, view in outputs.items()
        }

    return formula
