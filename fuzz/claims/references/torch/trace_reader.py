"""Reads a trace of torch, node by node, and writes it as the text of a formula over a number system.

Long, since it reads every kind of node.
"""

import ast
import json
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import sympy
import torch

from kfuzz.claims.references.aten.elementwise import POWERS
from kfuzz.claims.references.aten.norms import MOMENTS
from kfuzz.claims.references.aten.table import write_operation
from kfuzz.claims.references.aten.term import HELPERS, Arg, Term, Writer
from kfuzz.claims.references.torch.declared import CannotError, DrawsError, OneSizeError
from kfuzz.claims.references.torch.integers import declared_as
from kfuzz.claims.references.torch.sizes import BOOLEAN, Below, Dims
from kfuzz.claims.references.torch.storage import does_draw, exact_in_single
from kfuzz.claims.references.torch.weights import WeightSets
from kfuzz.devices.python.torch.elements import OF_TYPE
from kfuzz.oracle.numbers.elements import NARROW

ARITHMETIC = {operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.floordiv: "//"}
OF_SIZES = {
    "slice", "select", "narrow", "view", "expand", "reshape", "arange", "full", "split", "unsafe_split",
    "split_with_sizes", "repeat", "roll",
}  # fmt: skip
"""Operations whose numbers are sizes and places, and never elements."""


MOVES = {"slice", "select", "view", "reshape", "expand", "unsqueeze", "squeeze", "permute", "transpose", "t", "alias"}
COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}


class LostWriteError(Exception):
    """A trace has a write into a part of a tensor that is read again as a whole: nothing in it says so."""


def check_writes(graph: torch.fx.Graph) -> None:
    """Raise a LostWriteError if a node reads memory that an earlier one wrote under another name."""
    roots: dict[torch.fx.Node, torch.fx.Node] = {}
    written: dict[torch.fx.Node, set[torch.fx.Node]] = {}
    for node in graph.nodes:
        for one in node.all_input_nodes:
            root = roots.get(one, one)
            if one not in written.get(root, {one}):
                raise LostWriteError(f"{node} reads {one}, a part of which was written")
        schema = getattr(node.target, "_schema", None)
        aliases = [one.alias_info for one in schema.returns] if schema is not None else []
        if not aliases or aliases[0] is None or not node.all_input_nodes:
            continue
        first = node.all_input_nodes[0]
        root = roots[node] = roots.get(first, first)
        if aliases[0].is_write:
            written[root] = {node}
        elif root in written:
            written[root].add(node)


def as_exact(held: torch.Tensor) -> Any:  # noqa: ANN401  an array
    """A tensor's numbers in float32, in double if that rounds them."""
    wide = held.double().cpu().numpy()
    return wide.astype(np.float32) if exact_in_single(wide) else wide


def is_stored(node: torch.fx.Node, op: str) -> bool:
    """Whether a tensor is made narrow only to be returned: then a kernel's own array is narrow too."""
    return op == "_to_copy" and all(user.op == "output" for user in node.users)


class TraceReader:
    """Reads a trace, node by node."""

    def __init__(
        self, graph: torch.fx.GraphModule, inputs: Dims, below: Below, sizes: Mapping[str, int], fixed: set[str],
        weights: WeightSets | None = None,
    ) -> None:  # fmt: skip
        self.weights = weights
        self.graph, self.inputs, self.below = graph, inputs, below
        self.fixed = {name: sizes[name] for name in fixed}
        every = {name for dims in inputs.values() for name in dims if not name.isdigit()}
        self.to = Writer({f"n_{name}": self.declared_size(name) for name in sorted(every)})
        self.values: dict[Any, Any] = {}
        self.numbers: dict[Any, str] = {}
        self.symbols: dict[str, str] = {}
        self.constants: dict[str, Any] = {}
        self.unknown: list[str] = []
        self.moved_constants: set[torch.fx.Node] = set()
        self.results: list[Term] = []
        self.waiting = list(inputs)

    @property
    def outputs(self) -> list[str]:
        """The names of the outputs."""
        names = ["y"] if len(self.results) == 1 else [f"y{number}" for number in range(len(self.results))]
        return [name if name not in self.inputs else f"{name}_out" for name in names]

    def read_node(self, node: torch.fx.Node) -> None:
        """One step of the trace."""
        if node.op == "placeholder":
            self.read_placeholder(node)
        elif node.op == "get_attr":
            self.read_constant(node)
        elif node.op == "output":
            every = node.args[0] if isinstance(node.args[0], tuple | list) else [node.args[0]]
            self.results = [self.result(one) for one in every]
        elif isinstance(node.meta.get("val"), torch.SymInt | torch.SymFloat):
            self.read_size(node)
        else:
            self.read_operation(node)

    def read_placeholder(self, node: torch.fx.Node) -> None:
        name = self.waiting.pop(0)
        for claimed, size in zip(self.inputs[name], node.meta["val"].shape, strict=True):
            if isinstance(size, torch.SymInt) and not size.node.expr.is_number:
                text = claimed if claimed.isdigit() else f"n_{claimed}"
                self.symbols[str(size.node.expr)] = text
            elif not claimed.isdigit() and claimed not in self.fixed and int(size) != 1:
                raise OneSizeError(f"the reference is for {claimed} = {int(size)} alone; write that into axes")
        text = name if self.below.get(name) != BOOLEAN else self.to.set(f"{name}_true", f"{name} != 0")
        self.values[node] = Term(text, self.shape(node.meta["val"].shape), is_mask=name in self.below, is_input=True)

    def shape(self, sizes: Sequence[Any]) -> tuple[str, ...]:
        """Sizes over those of the inputs, as text."""
        return tuple(self.expression(size) for size in sizes)

    def expression(self, size: int | torch.SymInt) -> str:
        if not isinstance(size, torch.SymInt):
            return str(int(size))
        expr = size.node.expr.expand()
        text = str(expr)
        for symbol in sorted((str(one) for one in expr.free_symbols), key=len, reverse=True):
            text = text.replace(symbol, self.symbols.get(symbol, symbol))
        if not all(letter.isalnum() or letter in "_+-*/() " for letter in text):
            raise CannotError(f"a size of {text} cannot be written down")
        return text

    def read_constant(self, node: torch.fx.Node) -> None:
        held = self.graph
        for name in str(node.target).split("."):
            held = getattr(held, name)
        self.add_constant(node, held)

    def add_constant(self, node: torch.fx.Node, held: torch.Tensor) -> None:
        """A tensor that belongs to the reference: its numbers are stored with the formula."""
        shape = tuple(str(int(size)) for size in held.shape)
        sets = self.weights.of(held) if self.weights else ()
        every = [as_exact(one.detach()) for one in sets or [held]]
        self.constants[node.name] = np.stack(every) if sets else every[0]
        which = f"[{self.weights.role}[0]]" if self.weights and sets else ""
        text = f'N.input(CONSTANTS["{node.name}"]{which}.astype("f8"))'
        self.values[node] = Term(self.to.set(node.name, text), shape)
        self.moved_constants.add(node)

    def read_size(self, node: torch.fx.Node) -> None:
        """A number that follows from sizes: an integer in shapes, a value of the number system in computations."""
        value = node.meta["val"]
        if isinstance(value, torch.SymInt):
            text = self.expression(value)
            self.values[node] = text
            self.numbers[node] = f'N.number(N.size("{self.to.dims[text]}"))' if text in self.to.dims else ""
            return
        args = [self.numbers.get(one, repr(one) if isinstance(one, int | float) else "") for one in node.args]
        sign = ARITHMETIC.get(node.target)
        if not all(args):
            made = ""
        elif sign in ("+", "-", "*", "/"):
            made = f"({args[0]} {sign} {args[1]})"
        elif node.target is operator.pow and node.args[1] in POWERS:
            made = f"({POWERS[node.args[1]].format(args[0])})"
        else:
            made = args[0] if getattr(node.target, "__name__", "") == "sym_float" else ""
        self.numbers[node] = self.values[node] = made

    def read_operation(self, node: torch.fx.Node) -> None:
        """One operation of torch; of an operation's tuple, elements that its rule does not give are unknown."""
        value = node.meta.get("val")
        if node.target is operator.getitem:
            every = self.values[node.args[0]]
            every = every if isinstance(every, list) else [every]
            is_known = node.args[1] < len(every)
            self.values[node] = every[node.args[1]] if is_known else self.unknown_term(node, value)
            return
        first = value[0] if isinstance(value, tuple | list) else value
        if not isinstance(first, torch.Tensor):
            return  # an assertion about sizes
        op = str(node.target).removeprefix("aten.").removeprefix("kfuzz.").partition(".")[0]
        options: dict[str, Any] = {key: self.option(one) for key, one in node.kwargs.items()}
        if not first.is_floating_point() and not first.is_complex():
            options["dtype"] = "bool" if first.dtype == torch.bool else "int"
        if isinstance(value, tuple | list):
            options["results"] = [self.shape(one.shape) for one in value if isinstance(one, torch.Tensor)]
        is_narrow = OF_TYPE.get(first.dtype) in NARROW.values() and not is_stored(node, op)
        args = [self.operand(one, op) for one in node.args]
        if self.are_constants(node) and op in MOVES:
            self.moved_constants.add(node)
        elif self.are_constants(node) and op in COMPARISONS:
            args = [self.exact_numbers(one) for one in args]
        made = None if is_narrow else write_operation(self.to, op, node.name, args, options, self.shape(first.shape))
        if made is None and does_draw(node.target):
            raise DrawsError(op)
        self.values[node] = made or self.unknown_term(node, first, op)

    def are_constants(self, node: torch.fx.Node) -> bool:
        """Whether the tensors of an operation are the reference's own, perhaps at other places."""
        tensors = [one for one in node.all_input_nodes if isinstance(self.values.get(one), Term)]
        return bool(tensors) and all(one in self.moved_constants for one in tensors)

    def exact_numbers(self, one: Any) -> Any:  # noqa: ANN401  an Arg
        """A constant as numpy holds it: a comparison of such numbers is known, whatever rounds."""
        if not isinstance(one, Term) or one.is_mask:
            return one
        return replace(one, text=f"{self.to.use('exact_numbers')}({one.text})", is_mask=True)

    def unknown_term(self, node: torch.fx.Node, value: torch.Tensor, op: str = "") -> Term:
        """A tensor of unknown values."""
        op = op or str(node.args[0].target).removeprefix("aten.").partition(".")[0]
        if node.users:
            self.unknown.append(op)
        sizes = "".join(f", {size}" for size in self.shape(value.shape))
        text = f'N.unknown("of torch\'s {op}, which kfuzz has no rule for"{sizes})'
        return Term(self.to.set(node.name, text), self.shape(value.shape))

    def result(self, node: torch.fx.Node) -> Term:
        """An output; of unknown integers, such as the places of a sort, it is known that they are integers."""
        found: Term = self.values[node]
        is_unknown = dict(self.to.lines).get(found.text, "").startswith("N.unknown(")
        return replace(found, is_place=not node.meta["val"].is_floating_point()) if is_unknown else found

    def operand(self, one: object, op: str) -> Any:  # noqa: ANN401  an Arg, or a list of them: what a rule takes
        """An operand as a rule takes it: sizes as text, numbers that follow from sizes as values of the system."""
        if isinstance(one, list | tuple):
            return [self.operand(each, op) for each in one]
        if isinstance(one, torch.fx.Node):
            if one in self.numbers:
                return self.values[one] if op in OF_SIZES else self.numbers[one] or None
            return self.values[one]
        return one

    def option(self, one: object) -> Arg:
        found = self.operand(one, "")
        return found if isinstance(found, Term | int | float | str | None) else str(found).removeprefix("torch.")

    def text(self, title: str) -> str:
        """The text of the formula's file, without unused lines."""
        every = [(name, one) for name, one in zip(self.outputs, self.results, strict=True)]
        wanted = {one.text for _, one in every}
        lines: list[str] = []
        for name, text in reversed(self.to.lines):
            if name in wanted:
                wanted |= names_in(text)
                lines.append(f"    {name} = {text}")
        taken: list[str] = []
        used = {name for name in wanted if name.startswith("n_")}
        for role, dims in self.inputs.items():
            named = [f"n_{d}" if not d.isdigit() else "_" for d in dims]
            if used & set(named):
                taken.append(f"    {', '.join(named)}, = {role}.shape")
                used -= set(named)
        known = {f"n_{d}": self.declared_size(d) for dims in self.inputs.values() for d in dims if not d.isdigit()}
        shown = {role: ", ".join(map(self.declared_size, dims)) for role, dims in self.inputs.items()}
        inputs = {role: f"float[{text}]" for role, text in shown.items()}
        inputs |= {role: declared_as(below, shown[role], self.fixed) for role, below in self.below.items()}
        shapes = {name: ", ".join(output_size(size, known) for size in one.shape) or "1" for name, one in every}
        kinds = {name: "int" if one.is_place else "float" for name, one in every}
        outputs = {name: f"{kinds[name]}[{shape}]" for name, shape in shapes.items()}
        forms = tuple(map(", ".join, product(*sorted(self.to.forms.values(), key=MOMENTS.__ne__))))
        forms = forms if self.to.forms else ()  # the algorithm of a variance begins a form's name
        head = [f'"""{title}: written by kfuzz from what torch traced."""', ""]
        head += ["from pathlib import Path", ""] if self.constants else []
        head += ["import numpy as np", ""] if self.constants or "np" in wanted else []
        imports = [(module, [one for one in helpers if one in wanted]) for module, helpers in HELPERS.items()]
        head += [*(f"from {module} import {', '.join(some)}" for module, some in imports if some), ""]
        head += [f"INPUTS = {inputs!r}", f"OUTPUTS = {outputs!r}"]
        head += [f"WEIGHTS = {{{self.weights.role!r}: {self.weights.digests!r}}}"] if self.weights else []
        head += [f"FORMS = {forms!r}"] if forms else []
        used = {part for name, text in self.to.lines if name in wanted for part in names_in(text) if part != name}
        steps = tuple(name for name, _ in self.to.lines if name in self.to.steps and name in used)
        head += [f"STEPS = {steps!r}"] if steps else []
        head += [f"SPECIAL = {json.dumps(special)}"] if (special := self.to.special(wanted)) else []
        if self.constants:
            head.append('CONSTANTS = dict(np.load(Path(__file__).with_suffix(".npz")))')
        results = ", ".join(f'"{name}": {one.text}' for name, one in every)
        body = [f"def formula(N, {', '.join(self.inputs)}):", *taken, *reversed(lines), f"    return {{{results}}}"]
        return "\n".join([*head, "", "", *body, ""])

    def declared_size(self, dimension: str) -> str:
        """A dimension as the formula declares it: a number if it is fixed."""
        return str(self.fixed.get(dimension, dimension))


def output_size(size: str, known: Mapping[str, str]) -> str:
    """A size of an output, over the dimensions of the inputs."""
    if size in known:
        return known[size]
    text = re.sub(r"\bn_\w+", lambda name: known[name[0]], size)
    return text if re.search(r"[^\W\d]", text) else str(sympy.sympify(text))


def names_in(text: str) -> set[str]:
    """Every name in an expression."""
    return {node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)}
