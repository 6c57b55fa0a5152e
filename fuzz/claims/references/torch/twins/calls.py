"""One call of torch in a reference's text, as the ways to get it wrong see it. Knows no such way."""

import ast
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from kfuzz.claims.references.torch.twins import changes

ChangedCall = Callable[[], Any]
CallChange = tuple[str, ChangedCall]
"""What is wrong, in words that follow the text of the call, and the wrong step."""
OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "matmul": "@", "pow": "**"}
BY_OPERATOR = {"truediv": "div", "multiply": "mul", "divide": "div", "subtract": "sub", "true_divide": "div"}


@dataclass(frozen=True)
class TorchCall:
    """A function of torch with its arguments. `text`: where it stands, its expression in the reference's file."""

    func: Callable[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    text: str = ""

    @property
    def raw(self) -> str:
        return str(getattr(self.func, "__name__", ""))

    @property
    def writes(self) -> bool:
        """Whether it writes into its first argument."""
        return (self.raw.endswith("_") and not self.raw.endswith("__")) or self.raw.startswith("__i")

    @property
    def name(self) -> str:
        """The name that the function has in torch."""
        plain = self.raw.strip("_")
        plain = plain.removeprefix("i") if self.raw.startswith("__i") and plain[1:] in _KNOWN else plain
        return BY_OPERATOR.get(plain, plain)

    @property
    def first(self) -> Any:  # noqa: ANN401  an argument
        return self.args[0] if self.args else self.kwargs.get("input")

    @property
    def shape(self) -> torch.Size:
        """The shape of both operands together."""
        return torch.broadcast_shapes(*(one.shape for one in self.args[:2] if isinstance(one, torch.Tensor)))

    def given(self, place: int, *names: str) -> Any:  # noqa: ANN401  an argument
        """An argument by its place or by one of its names; None if it is not given."""
        if len(self.args) > place:
            return self.args[place]
        return next((self.kwargs[name] for name in names if name in self.kwargs), None)

    def with_other(self, place: int, other: Any, *names: str, of: Callable[..., Any] | None = None) -> Any:  # noqa: ANN401
        """The result with another argument, perhaps of another function."""
        named = next((name for name in names if name in self.kwargs), None)
        if len(self.args) > place:
            args, kwargs = [*self.args[:place], other, *self.args[place + 1 :]], dict(self.kwargs)
        else:
            args, kwargs = list(self.args), {**self.kwargs, named or names[0]: other}
        return (of or self.func)(*args, **kwargs)

    def by(self, name: str) -> Any:  # noqa: ANN401  what another function of torch returns
        """The result of another function of the same arguments."""
        return _function(name)(*self.args, **self.kwargs)

    def operands(self) -> tuple[str, str, str]:
        """Both operands of an expression and the operator between them, as text; empty if it is a call."""
        try:
            node = ast.parse(self.text.strip()).body[0]
        except (SyntaxError, IndexError):
            return "", "", ""
        if isinstance(node, ast.AugAssign):
            return ast.unparse(node.target), OPERATORS.get(self.name, ""), ast.unparse(node.value)
        value = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(value, ast.BinOp):
            return "", "", ""
        return ast.unparse(value.left), OPERATORS.get(self.name, ""), ast.unparse(value.right)


_KNOWN = frozenset((*OPERATORS, *BY_OPERATOR))


def _function(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(torch, name, None) or getattr(torch.nn.functional, name)
    return found


Ways = Callable[[TorchCall], Iterator[CallChange]]


@cache
def every_way() -> Mapping[str, Sequence[Ways]]:
    """The ways to get each function of torch wrong, of all families."""
    found: dict[str, list[Ways]] = {}
    for one in pkgutil.iter_modules(changes.__path__):
        for name, way in importlib.import_module(f"{changes.__name__}.{one.name}").WAYS.items():
            found.setdefault(name, []).append(way)
    return found


def changes_of(call: TorchCall) -> list[CallChange]:
    """Every way to get a call wrong; none of one whose arguments are others than usual."""
    found: list[CallChange] = []
    for way in every_way().get(call.name, ()):
        with suppress(AttributeError, IndexError, KeyError, TypeError, RuntimeError):
            found += way(call)
    return found
