"""The CUDA in the strings of a Python file, as a separate text in which each line keeps its number.

torch's load_inline takes such strings, as do CuPy's RawKernel and RawModule and PyCUDA's SourceModule. Knows Python's
syntax tree; it does not run the file, and reports the line of a string that only a run would make.
"""

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kfuzz.common.errors import ClaimError
from kfuzz.common.text.python_strings import Fragment, lay_out, pieces, pieces_by_line, tree_of

TAKES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "load_inline": (("cpp_sources", "cuda_sources"), ("name", "cpp_sources", "cuda_sources", "functions")),
    "RawKernel": (("code",), ("code", "name", "options")),
    "RawModule": (("code",), ("code",)),
    "SourceModule": (("source",), ("source",)),
}
"""The functions that take CUDA: their parameters for it, and all their positional parameters."""
FUNCTIONS = ("functions", "name_expressions")
OPTIONS = ("extra_cuda_cflags", "options")
END = "// all else of this file is Python"
"""The last line of such a text, which marks it."""
TORCH = "#include <torch/extension.h>\n"
"""The line that load_inline puts before each text."""
DEFINED = re.compile(r"-D\s*(\w+)(?:=(.*))?")
SAME_TEXT = ("strip", "lstrip", "rstrip", "dedent")
"""Methods that change only the blanks of a text."""
Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class UnreadableError(Exception):
    """A text that does not exist before the file runs: its line, and how the file makes it."""

    def __init__(self, line: int, how: str) -> None:
        super().__init__(how)
        self.line, self.how = line, how


@dataclass(frozen=True)
class HandedCuda:
    """One call that takes CUDA: its texts, the functions that it asks for, and compiler options."""

    line: int
    texts: tuple[tuple[Fragment, ...], ...]
    functions: tuple[str, ...]
    options: tuple[Fragment, ...] = ()
    is_torch: bool = False

    def has(self, function: str) -> bool:
        """Whether its texts have the function."""
        every = "".join(piece for text in self.texts for _, piece in text)
        return function in self.functions or re.search(rf"\b{re.escape(function)}\s*\(", every) is not None


def has_cuda(source: str) -> bool:
    """Whether a Python file passes CUDA to a library that compiles it."""
    return any(word in source for word in TAKES) and bool(calls_in(source))


def builds_cuda(source: str) -> bool:
    """Whether a Python file has torch build CUDA while it runs."""
    return "cpp_extension" in source


def functions_in(source: str, where: str) -> tuple[str, ...]:
    """The functions that the calls of load_inline ask for by name."""
    return tuple(dict.fromkeys(name for one in list_cuda_calls(source, where) for name in one.functions))


def cuda_of(source: str, where: str, entry: str, claim: tuple[int, int] | None = None) -> str:
    """The CUDA with the function `entry`, on the lines of the Python file, with the claim's lines.

    A text that this function made stays as it is.
    """
    if source.rstrip().endswith(END):
        return source
    every = list_cuda_calls(source, where)
    name = re.sub(r"<.*", "", entry).rpartition("::")[2].strip()
    chosen = [one for one in every if name and one.has(name)] or every
    if not chosen:
        why = "[host] and [[launch]] are about CUDA that it hands to load_inline, RawKernel or RawModule"
        raise ClaimError(f"{where}: no CUDA in its strings: {why}; which Python function is called says [call]")
    texts = [text for one in chosen for text in one.texts]
    if claim:
        lines = source.split("\n")[claim[0] - 1 : claim[1]]
        texts.append(tuple((number, f"//{line[1:]}\n") for number, line in enumerate(lines, claim[0])))
    options = [option for one in chosen for option in one.options]
    texts += [((line, f"// nvcc {option}\n"),) for line, option in options if not DEFINED.match(option)]
    begin = "".join(
        f"#define {found[1]} {found[2] or 1}\n" for _, option in options if (found := DEFINED.match(option))
    )
    begin = (TORCH if any(one.is_torch for one in chosen) else "") + begin
    return f"{begin}{lay_out(dict.fromkeys(texts), begin.count(chr(10)) + 1)}\n{END}\n"


def list_cuda_calls(source: str, where: str) -> tuple[HandedCuda, ...]:
    """Every call that takes CUDA; ClaimError with the line of an unreadable text."""
    try:
        return read_calls(source)
    except UnreadableError as error:
        why = f"the CUDA text is {error.how}: it is there when the file runs, and cannot be read before"
        raise ClaimError(f"{where}:{error.line}: {why}") from None


@lru_cache(maxsize=64)
def read_calls(source: str) -> tuple[HandedCuda, ...]:
    """Every call that takes CUDA; UnreadableError if only a run makes a text."""
    return tuple(TextReader(source, scopes, call).read_call(name) for call, name, scopes in calls_in(source))


@lru_cache(maxsize=64)
def calls_in(source: str) -> tuple[tuple[ast.Call, str, tuple[Scope, ...]], ...]:
    """The calls, under any imported name, and the scopes around each, the outermost first."""
    tree = tree_of(source)
    if tree is None:
        return ()
    known = {name: name for name in TAKES}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            known |= {one.asname: one.name for one in node.names if one.asname and one.name in TAKES}
    return tuple((call, known[last_name(call.func)], scopes) for call, scopes in calls_of(tree, known))


def calls_of(tree: ast.Module, names: Collection[str]) -> Iterator[tuple[ast.Call, tuple[Scope, ...]]]:
    """Every call by one of these names, and the scopes around it."""

    def below(node: ast.AST, scopes: tuple[Scope, ...]) -> Iterator[tuple[ast.Call, tuple[Scope, ...]]]:
        for one in ast.iter_child_nodes(node):
            if isinstance(one, ast.Call) and last_name(one.func) in names:
                yield one, scopes
            yield from below(one, (*scopes, one) if isinstance(one, Scope) else scopes)

    return below(tree, (tree,))


def last_name(node: ast.expr) -> str:
    """`load_inline` of `torch.utils.cpp_extension.load_inline`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


class TextReader:
    """Reads expressions at one call: a name has the value that the scopes around the call assign to it."""

    def __init__(self, source: str, scopes: tuple[Scope, ...], call: ast.Call) -> None:
        self._source, self._scopes, self._call = source, scopes, call

    def read_call(self, name: str) -> HandedCuda:
        """The arguments of the call."""
        call = self._call
        texts, by_position = TAKES[name]
        given = dict(zip(by_position, call.args, strict=False))
        given |= {one.arg: one.value for one in call.keywords if one.arg}
        asked = [text for key in FUNCTIONS if key in given for text in self._words(given[key])]
        asked += self._words(given["name"]) if name == "RawKernel" and "name" in given else []
        return HandedCuda(
            line=call.lineno,
            texts=tuple(text for key in texts if key in given for text in self._texts(given[key])),
            functions=tuple(word for _, word in asked),
            options=tuple(word for key in OPTIONS if key in given for word in self._words(given[key])),
            is_torch=name == "load_inline",
        )

    def _words(self, node: ast.expr) -> list[Fragment]:
        """Strings that are not code; empty if only a run makes them."""
        try:
            found = self._value(node)
            keys = found.keys if isinstance(found, ast.Dict) else getattr(found, "elts", [found])
            return [(one.lineno, "".join(text for _, text in self._text(one))) for one in keys if one is not None]
        except UnreadableError:
            return []

    def _texts(self, node: ast.expr) -> Iterator[tuple[Fragment, ...]]:
        """One text, or each of a list of them."""
        found = self._value(node)
        if isinstance(found, ast.List | ast.Tuple):
            for one in found.elts:
                yield from self._texts(one)
        elif not (isinstance(found, ast.Constant) and found.value is None):
            yield tuple(self._text(found))

    def _text(self, node: ast.expr) -> Iterator[Fragment]:
        """The pieces of a text."""
        node = self._value(node)
        match node:
            case ast.Constant(value=str(value)):
                yield from pieces(self._source, node, value)
            case ast.JoinedStr(values=values) if all(isinstance(one, ast.Constant) for one in values):
                value = "".join(str(one.value) for one in values if isinstance(one, ast.Constant))
                yield from pieces_by_line(node.lineno, value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                yield from self._text(left)
                yield from self._text(right)
            case ast.Call(func=ast.Attribute(value=text, attr=method), args=args) if method in SAME_TEXT:
                yield from self._text(args[0] if method == "dedent" and args else text)
            case ast.JoinedStr():
                raise UnreadableError(node.lineno, "an f-string")
            case _:
                said = " ".join(ast.unparse(node).split())
                raise UnreadableError(node.lineno, f"`{said[:60]}{'...' * (len(said) > 60)}`")

    def _value(self, node: ast.expr) -> ast.expr:
        """The value of a name."""
        seen = 0
        while isinstance(node, ast.Name | ast.Attribute) and seen < 16:
            node, seen = self._assigned_value(node), seen + 1
        return node

    def _assigned_value(self, node: ast.Name | ast.Attribute) -> ast.expr:
        """The only value of a name in the nearest scope that assigns it."""
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        for scope in reversed(self._scopes):
            if not isinstance(scope, ast.ClassDef | ast.Module) and node.id in parameters(scope):
                return self._argument(node, scope)
            before = None if isinstance(scope, ast.Module) else self._call.lineno
            if (found := value_in(scope, node.id, before)) is not None:
                return found
        raise UnreadableError(node.lineno, f"`{node.id}`")

    def _attribute(self, node: ast.Attribute) -> ast.expr:
        """The value of a class's attribute: of a class by its name, or by self of the class around the call."""
        owner = last_name(node.value)
        around = [scope for scope in self._scopes if isinstance(scope, ast.ClassDef)]
        named = [one for one in ast.walk(self._scopes[0]) if isinstance(one, ast.ClassDef) and one.name == owner]
        for of in named or around[-1:]:
            places: list[tuple[Scope, str]] = [(of, node.attr)]
            places += [(one, ast.unparse(node)) for one in of.body if isinstance(one, ast.FunctionDef)]
            for scope, name in places:
                if (found := value_in(scope, name)) is not None:
                    return found
        raise UnreadableError(node.lineno, f"`{ast.unparse(node)}`")

    def _argument(self, node: ast.Name, function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.expr:
        """The argument of the enclosing function, if there is exactly one call of it."""
        tree = self._scopes[0]
        assert isinstance(tree, ast.Module), "the outermost"
        every = list(calls_of(tree, {function.name}))
        if len(every) != 1:
            raise UnreadableError(node.lineno, f"`{node.id}`, an argument of {function.name}()")
        call, scopes = every[0]
        given = {
            **dict(zip(parameters(function), call.args, strict=False)),
            **{str(one.arg): one.value for one in call.keywords},
        }
        if node.id not in given:
            raise UnreadableError(node.lineno, f"`{node.id}`, an argument of {function.name}()")
        return TextReader(self._source, scopes, call)._value(given[node.id])


def parameters(scope: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    given = scope.args
    return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def value_in(scope: Scope, name: str, before: int | None = None) -> ast.expr | None:
    """The value that a scope assigns to a name before a line; None if there is none.

    UnreadableError if it may have several values.
    """
    found: ast.expr | None = None
    for target, statement, is_sure in assignments(scope):
        if target != name or (before is not None and statement.lineno >= before):
            continue
        if not is_sure:
            raise UnreadableError(statement.lineno, f"`{name}`, which may have several values")
        if isinstance(statement, ast.AugAssign) and found is not None:
            found = ast.copy_location(ast.BinOp(found, ast.Add(), statement.value), statement)
        else:
            found = statement.value
    return found


def assignments(scope: Scope) -> Iterator[tuple[str, ast.Assign | ast.AnnAssign | ast.AugAssign, bool]]:
    """The assignments of a scope itself, in order, and whether each is unconditional."""

    def below(statements: Sequence[ast.stmt], is_sure: bool) -> Iterator[tuple[str, ast.stmt, bool]]:
        for one in statements:
            if isinstance(one, ast.Assign):
                yield from ((ast.unparse(target), one, is_sure) for target in one.targets)
            elif isinstance(one, ast.AugAssign | ast.AnnAssign):
                yield ast.unparse(one.target), one, is_sure
            elif not isinstance(one, Scope):
                for block in ("body", "orelse", "finalbody"):
                    yield from below(getattr(one, block, []), is_sure=isinstance(one, ast.With | ast.Try) and is_sure)

    for name, statement, is_sure in below(scope.body, is_sure=True):
        assert isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign)
        if statement.value is not None:
            yield name, statement, is_sure
