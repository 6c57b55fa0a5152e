"""An op that is an expression of others: `gelu_tanh(x + bias)`, `softmax(2 * x) - y`.

An array without brackets has the dimensions that the op asks for that it is given to, else those of what it is combined
with, else [rows, cols]; of one called `bias` or `weight` only the last. Operators pair dimensions by their names. The
formula is that of the ops, one after the other, so bounds, forms and names of roundings follow. Knows names and
dimensions; its caller says how to find an op. It never knows what an op computes. Long, since each part that an
expression may have has its rule.
"""

import ast
import itertools
import re
from collections.abc import Callable, Mapping, Sequence

from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.op.combined import ABSOLUTE, OPERATORS, Called, Combined
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.role import Role
from kfuzz.oracle.op.shapes import is_derived
from kfuzz.oracle.op.spelling import AxisNames, is_array, leave_out
from kfuzz.oracle.systems.value import WordsForFunctions

FUNCTIONS = frozenset(name for name in vars(WordsForFunctions) if not name.startswith("_")) - {"function"} | {ABSOLUTE}
OF_TWO = ("maximum", "minimum")
LAST_ALONE = ("bias", "weight")
"""Arrays that have the last dimension alone, unless their brackets say more."""
USUAL = ("rows", "cols")
MOST_NODES, MOST_FORMS = 200, 64
FindOp = Callable[[str], Op]


def op_of_expression(text: str, find: FindOp) -> Op:
    """The op of an expression, under the name that says the dimensions of each array; OracleError if it has a fault."""
    root = ast.parse(text.strip(), mode="eval").body
    if sum(1 for _ in ast.walk(root)) > MOST_NODES:
        raise OracleError(f"op={text[:60]!r}...: too long; write it as a formula in a file")
    return _PartsRead(text, find).op(root)


class _PartsRead:
    """An expression that is being read."""

    def __init__(self, text: str, find: FindOp) -> None:
        self.text, self.find = text, find
        self.arrays: dict[str, AxisNames] = {}
        self.roles: dict[str, Role] = {}
        self.order: list[str] = []
        self.called: dict[int, Called] = {}
        self.takes_own = False
        """The next op whose dimensions nothing says takes those of its own file."""

    def error(self, found: str) -> OracleError:
        return OracleError(f"op={self.text!r}: {found}")

    # -- dimensions

    def op(self, root: ast.expr) -> Op:
        """The op of the whole."""
        for node in ast.walk(root):
            self.check(node)
        size = self.sizes_of(root, None)
        while size is None and not self.takes_own:  # it is taken while there is an op left
            self.takes_own = True
            size = self.sizes_of(root, None)
        size = self.sizes_of(root, size or USUAL)
        assert size is not None, "every array has dimensions now"
        if not self.order:
            raise self.error("there is no array in it")
        output = "y" if "y" not in self.arrays else "out"
        inputs = {name: self.roles.get(name) or Role(True, self.arrays[name]) for name in self.order}
        whole = Combined(root, size, self.arrays, self.called)
        forms, seldom = self.forms(whole.forms(), [self.called[key].op for key in whole.having_forms])
        called = list(self.called.values())
        return Op(
            name=self.spelled(root),
            about=f"{self.text}: an expression of {', '.join(one.op.name for one in called) or 'arrays'}.",
            formula=whole.formula,
            answers=None, inputs=inputs, outputs={output: Role(True, size or ("1",))}, scalars=self.scalars(),
            forms=forms, seldom=seldom, where=(), special={},
            diagnose=None, axes={},
        )  # fmt: skip

    def check(self, node: ast.AST) -> None:
        """Raise an error for what no expression has."""
        known = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Call, ast.Subscript, ast.Attribute, ast.Tuple)
        others = (ast.expr_context, ast.operator, ast.unaryop, ast.keyword)
        if isinstance(node, ast.BinOp) and type(node.op) not in OPERATORS:
            raise self.error(f"'{ast.unparse(node)}': there are + - * / and functions")
        if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.USub):
            raise self.error(f"'{ast.unparse(node)}': there are + - * / and functions")
        if isinstance(node, ast.Constant) and type(node.value) not in (int, float):
            raise self.error(f"{ast.unparse(node)}: a number is expected")
        if isinstance(node, ast.Subscript | ast.Attribute) and not (
            is_array(node) and (isinstance(node, ast.Subscript) or node.attr == "T")
        ):
            raise self.error(f"'{ast.unparse(node)}': only an array has .T or [dimensions]")
        if not isinstance(node, known + others):
            raise self.error(f"'{ast.unparse(node)}': there are arrays, numbers, + - * / and ops")

    def sizes_of(self, node: ast.expr, wanted: AxisNames | None) -> AxisNames | None:
        """The dimensions of a part; None if they are not known yet. `wanted`: those of arrays without brackets."""
        if isinstance(node, ast.Constant):
            return ()
        if isinstance(node, ast.UnaryOp):
            return self.sizes_of(node.operand, wanted)
        if isinstance(node, ast.BinOp):
            return self.together([node.left, node.right], wanted)
        if isinstance(node, ast.Call):
            return self.sizes_of_call(node, wanted)
        if isinstance(node, ast.Attribute):
            inner = self.sizes_of(node.value, wanted and (*wanted[:-2], *wanted[:-3:-1]))
            if inner is not None and len(inner) < 2:
                raise self.error(f"'{ast.unparse(node)}': it has one dimension, so it has no transpose")
            return inner and (*inner[:-2], *inner[:-3:-1])
        if isinstance(node, ast.Subscript):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            said = tuple(ast.unparse(one) for one in parts)
            if len(set(said)) < len(said) or not all(one.isidentifier() for one in said):
                raise self.error(f"'{ast.unparse(node)}': a dimension is a name, each another one")
            return self.place(ast.unparse(node.value), said)
        assert isinstance(node, ast.Name), "check says so"
        if node.id not in self.order:
            self.order.append(node.id)
        if node.id in self.arrays:
            return self.arrays[node.id]
        return self.place(node.id, wanted[-1:] if node.id in LAST_ALONE else wanted) if wanted else None

    def place(self, name: str, sizes: AxisNames) -> AxisNames:
        """Note the dimensions of an array."""
        if name not in self.order:
            self.order.append(name)
        if self.arrays.setdefault(name, sizes) != sizes:
            raise self.error(f"{name} is [{', '.join(sizes)}] and [{', '.join(self.arrays[name])}]")
        return sizes

    def together(self, parts: Sequence[ast.expr], wanted: AxisNames | None) -> AxisNames | None:
        """The dimensions of what is combined element by element."""
        found = [self.sizes_of(part, None) for part in parts]
        known = [one for one in found if one is not None]
        full = max([*known, wanted or ()], key=len)
        if None in found and not wanted and len(full) < 2:
            full = USUAL if full and is_within(full, USUAL) else full
            if not full:
                return None
        whole = [self.sizes_of(part, full) for part in parts]
        full = max((one for one in whole if one is not None), key=len)
        for one in whole:
            if one is not None and not is_within(one, full):
                raise self.error(f"[{', '.join(one)}] does not go with [{', '.join(full)}]")
        return full

    def sizes_of_call(self, node: ast.Call, wanted: AxisNames | None) -> AxisNames | None:
        name = ast.unparse(node.func)
        if name in (*FUNCTIONS, *OF_TWO) and not self.is_op(name):
            if len(node.args) != 1 + (name in OF_TWO) or node.keywords:
                raise self.error(f"{name} takes {1 + (name in OF_TWO)}")
            return self.together(node.args, wanted)
        called = self.called.get(id(node)) or self.called.setdefault(id(node), self.call(node, name))
        for role, part in called.given.items():
            if (sizes := self.sizes_of(part, None)) is not None:
                self.bind(called, role, sizes)
        (output,) = called.op.outputs.values()
        if wanted is None and not called.names.keys() >= {*output.dimensions}:
            if not self.takes_own:
                return None
            self.takes_own = False
        if wanted and len(wanted) == len(output.dimensions):
            for own, here in zip(output.dimensions, wanted, strict=True):
                called.names.setdefault(own, here)
        for role, part in called.given.items():
            roles = called.op.inputs[role]
            sizes = self.sizes_of(part, tuple(self.named(called, own) for own in roles.dimensions))
            self.bind(called, role, sizes or ())
            if not roles.is_float or roles.is_only_float32:
                self.keep_role(called, roles, part)
        return tuple(self.named(called, own) for own in output.dimensions)

    def is_op(self, name: str) -> bool:
        """Whether an op has this name, too, as tanh has: it knows the forms of the function."""
        try:
            return bool(self.find(name))
        except OracleError:
            return False

    def named(self, called: Called, own: str) -> str:
        """What a dimension of an op is called here."""
        if own not in called.names:
            taken = {one for sizes in self.arrays.values() for one in sizes}
            taken |= {one for other in self.called.values() for one in other.names.values()}
            free = (own if not count else f"{own}{count + 1}" for count in itertools.count())
            called.names[own] = next(one for one in free if one not in taken)
        return called.names[own]

    def bind(self, called: Called, role: str, sizes: AxisNames) -> None:
        """Note that an op's input has these dimensions."""
        own = called.op.inputs[role].dimensions
        if len(own) != len(sizes):
            taken = f"{called.op.name} takes {role}[{', '.join(own)}]"
            raise self.error(f"{taken}, and here it is {f'[{chr(44).join(sizes)}]' if sizes else 'a number'}")
        for mine, here in zip(own, sizes, strict=True):
            if called.names.setdefault(mine, here) != here:
                raise self.error(f"{mine} of {called.op.name} is {here} in {role} and {called.names[mine]} elsewhere")

    def keep_role(self, called: Called, role: Role, part: ast.expr) -> None:
        """Note that an array holds what an op's input does: integers, or float32 alone."""
        if not is_array(part) or isinstance(part, ast.Attribute):
            if role.is_float:
                return
            raise self.error(f"'{ast.unparse(part)}': {called.op.name} takes integers there, so it is an array")
        name = ast.unparse(part).partition("[")[0]
        below = called.names.get(role.below or "", role.below)
        self.roles[name] = Role(
            role.is_float, self.arrays[name], below, role.is_only_float32, role.is_grid, role.is_uniform, None,
            role.is_truth, role.is_share,
        )  # fmt: skip

    def call(self, node: ast.Call, name: str) -> Called:
        """The op that is called, and what it is given."""
        try:
            op = self.find(name)
        except OracleError as error:
            raise self.error(f"{name}: {str(error).partition(': ')[2]}") from None
        is_plain = not any(
            role.structure or any(is_derived(one) or one.isdigit() for one in role.dimensions) for _, role in op.roles
        )
        has_one_output = len(op.outputs) == 1 and all(role.is_float for role in op.outputs.values())
        differs = op.gives_sets or op.has_grid or op.needs_form or op.draws or op.axes or op.where
        if differs or not is_plain or not has_one_output:
            raise self.error(f"{op.name} is no part of an expression: write a formula in a file (docs/formulas.md)")
        given = dict(zip(op.inputs, node.args, strict=False))
        numbers = {}
        for keyword in node.keywords:
            word = keyword.arg or "**"
            if word in op.scalars:
                numbers[word] = self.number(keyword.value)
            elif word in op.inputs and word not in given:
                given[word] = keyword.value
            else:
                known = ", ".join((*op.inputs, *op.scalars))
                raise self.error(f"{word}: {op.name} has {known}")
        missing = [role for role in op.inputs if role not in given]
        if len(node.args) > len(op.inputs) or any(role not in op.optional for role in missing):
            raise self.error(f"{op.name} takes {', '.join(op.inputs)}")
        return Called(leave_out(op, missing), {role: given[role] for role in op.inputs if role in given}, numbers)

    def number(self, node: ast.expr) -> float:
        sign, inner = (-1, node.operand) if isinstance(node, ast.UnaryOp) else (1, node)
        if not isinstance(inner, ast.Constant) or not isinstance(inner.value, int | float):
            raise self.error(f"'{ast.unparse(node)}': a number is expected")
        return float(sign * inner.value)

    # -- names

    def spelled(self, root: ast.expr) -> str:
        """The expression with the dimensions of each array where it comes first."""
        return ast.unparse(_Spelled(self.arrays).visit(ast.parse(ast.unparse(root), mode="eval").body))

    def forms(self, every: Mapping[str, Sequence[str]], having: Sequence[Op]) -> tuple[tuple[str, ...], dict[str, str]]:
        """The usual ways to compute the whole, and the rarer ones with the function that reveals them."""
        if len(every) > MOST_FORMS:
            raise self.error("its ops have too many forms together: write a formula in a file (docs/formulas.md)")
        seldom: dict[str, str] = {}
        for name, chosen in every.items():
            rare = [op.seldom[form] for op, form in zip(having, chosen, strict=True) if form in op.seldom]
            if rare:
                seldom[name] = rare[0]
        usual = tuple(name for name in every if name not in seldom)
        return () if usual == ("",) else usual, seldom

    def scalars(self) -> dict[str, float | str]:
        """The numbers that the ops take and the expression does not give."""
        made: dict[str, float | str] = {}
        for one in self.called.values():
            for name, default in one.op.scalars.items():
                if name in one.numbers:
                    continue
                value = renamed(default, one.names) if isinstance(default, str) else default
                if name in self.order or made.setdefault(name, value) != value:
                    raise self.error(f"{name} has two meanings: give {one.op.name} its own, {name}=...")
        return made


class _Spelled(ast.NodeTransformer):
    """Writes the dimensions of each array where it comes first, and leaves out those that stand there."""

    def __init__(self, arrays: Mapping[str, AxisNames]) -> None:
        self.arrays, self.said = arrays, set[str]()

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        made: ast.expr = self.visit(node.value)
        return made

    def visit_Call(self, node: ast.Call) -> ast.expr:
        words = [ast.keyword(one.arg, self.visit(one.value)) for one in node.keywords]
        return ast.Call(node.func, [self.visit(one) for one in node.args], words)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Attribute(self.visit(node.value), node.attr)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.said:
            return node
        self.said.add(node.id)
        return ast.Name(f"{node.id}[{', '.join(self.arrays[node.id])}]")


def renamed(text: str, names: Mapping[str, str]) -> str:
    """A text of sizes, such as a default `1 / cols`, with other names."""
    return re.sub(r"[A-Za-z_]\w*", lambda found: names.get(found[0], found[0]), text)


def is_within(part: AxisNames, full: AxisNames) -> bool:
    """Whether dimensions are some of others, in the same order."""
    left = iter(full)
    return all(one in left for one in part)
