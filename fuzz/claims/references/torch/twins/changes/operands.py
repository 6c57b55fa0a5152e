"""Operands of an expression that are left out, or stand under another operator."""

from collections.abc import Iterator
from functools import partial

import torch

from kfuzz.claims.references.torch.twins.calls import CallChange, TorchCall

USUAL_EPS = (1e-3, 1e-5, 1e-6, 1e-8, 1e-12)
"""Numbers that are added so that a divisor is not 0."""
MOST_EPS = 1e-2


def spread(call: TorchCall, place: int) -> torch.Tensor:
    """One operand alone, in the shape and the type of the result."""
    one = torch.as_tensor(call.args[place])
    kind = torch.result_type(*call.args[:2])
    return one.to(kind).expand(call.shape).clone()


def left_out(call: TorchCall) -> Iterator[CallChange]:
    """Either operand by itself."""
    left, operator, right = call.operands()
    yield f"without `{operator} {right}`" if right else "without its second operand", lambda: spread(call, 0)
    if call.name in ("add", "mul"):
        yield f"without `{left} {operator}`" if left else "without its first operand", lambda: spread(call, 1)


def other_operator(call: TorchCall) -> Iterator[CallChange]:
    """Another sign, a product for a quotient, or a factor that comes twice."""
    _, operator, right = call.operands()
    a, b = call.args[:2]
    if call.name in ("add", "sub"):
        other = torch.sub if call.name == "add" else torch.add
        sign = "-" if call.name == "add" else "+"
        words = f"with `{sign} {right}` for `{operator} {right}`" if right else "with the other sign"
        yield words, lambda: other(torch.as_tensor(a), torch.as_tensor(b))
    if call.name == "sub":
        yield "with its operands exchanged", lambda: torch.sub(torch.as_tensor(b), torch.as_tensor(a))
    if call.name == "div":
        words = f"with `* {right}` for `/ {right}`" if right else "multiplied, and not divided"
        yield words, lambda: torch.mul(torch.as_tensor(a), torch.as_tensor(b))
    if call.name == "mul":
        words = f"with `* {right}` twice" if right else "with its second factor twice"
        yield words, lambda: torch.as_tensor(a) * b * b


def other_eps(call: TorchCall) -> Iterator[CallChange]:
    """Another small number that is added."""
    if type(call.args[1]) is float and 0 < call.args[1] < MOST_EPS:
        for eps in USUAL_EPS:
            if eps != call.args[1]:
                yield f"with {eps:g} for {call.args[1]:g}", partial(torch.add, call.args[0], eps)


def other_product(call: TorchCall) -> Iterator[CallChange]:
    """An operand of a product of matrices that is transposed, where it fits."""
    a, b = call.args[:2]
    for words, one in (("first", a), ("second", b)):
        if one.ndim > 1 and one.shape[-1] == one.shape[-2]:
            other = one.transpose(-1, -2)
            yield f"with its {words} operand transposed", partial(call.func, *((other, b) if one is a else (a, other)))


def other_comparison(call: TorchCall) -> Iterator[CallChange]:
    """`<` for `<=`, and the other way round."""
    near = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt"}[call.name]
    signs = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
    yield f"with `{signs[near]}` for `{signs[call.name]}`", lambda: call.by(near)
    opposite = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}[call.name]
    yield f"with `{signs[opposite]}` for `{signs[call.name]}`", lambda: call.by(opposite)


WAYS = {
    **dict.fromkeys(("lt", "le", "gt", "ge"), other_comparison),
    "add": lambda call: (*left_out(call), *other_operator(call), *other_eps(call)),
    **dict.fromkeys(("sub", "mul", "div"), lambda call: (*left_out(call), *other_operator(call))),
    "pow": left_out,
    **dict.fromkeys(("matmul", "mm", "bmm"), other_product),
}
