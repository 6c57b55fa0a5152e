"""The op of a subscript, as einsum has it: `einsum(bik,bkj->bij)`. Each letter is a dimension of the op.

Two operands are a product of matrices in batches; more are contracted in pairs, in one of several orders, or at once.
Knows words and letters; it knows no number system.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod
from operator import mul

from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.role import Role
from kfuzz.oracle.systems.value import Quantity, System

SPELLED = re.compile(r"\s*einsum\s*\(\s*([a-zA-Z]+(?:\s*,\s*[a-zA-Z]+)*)\s*->\s*([a-zA-Z]*)\s*\)\s*")
USAGE = "write it as einsum(ik,kj->ij), with a letter for each dimension, and none twice in one array"
NAMES = "abcd"
"""The names of the operands, in their order."""
AT_ONCE, LONE_FIRST = "at once", "lone letters first"
ContractionOrder = int | tuple["ContractionOrder", "ContractionOrder"]
"""An operand's place, or two parts that are contracted into one."""
ORDERS: dict[int, dict[str, ContractionOrder]] = {
    1: {"": 0},
    2: {LONE_FIRST: (0, 1)},
    3: {"(a b) c": ((0, 1), 2), "(a c) b": ((0, 2), 1), "a (b c)": (0, (1, 2))},
    4: {"((a b) c) d": (((0, 1), 2), 3), "(a b) (c d)": ((0, 1), (2, 3)), "a (b (c d))": (0, (1, (2, 3)))},
}
"""How each number of operands is contracted in pairs; of four, in three of the fifteen orders."""


@dataclass(frozen=True)
class Lettered:
    """A value and its letters, one for each axis."""

    value: Quantity
    letters: str

    def along(self, letters: str) -> Quantity:
        """The value with an axis for each of these letters, of one element for those that it does not have."""
        own = self.value.permuted(tuple(self.letters.index(one) for one in letters if one in self.letters))
        sizes = iter(own.shape)
        return own.reshaped(*(next(sizes) if one in self.letters else 1 for one in letters))

    def summed(self, N: System, kept: set[str], name: str) -> "Lettered":
        """The sum over all letters but these."""
        left = "".join(one for one in self.letters if one in kept)
        if left == self.letters:
            return self
        value = self.along(left + "".join(one for one in self.letters if one not in kept))
        flat = value.reshaped(*value.shape[: len(left)], prod(value.shape[len(left) :]))
        return Lettered(N.sum(flat, name).reshaped(*value.shape[: len(left)]), left)


def op_of_subscript(op: Op, text: str) -> Op:
    """The op of a spelling such as `einsum(bik,bkj->bij)`."""
    found = SPELLED.fullmatch(text)
    operands = re.split(r"\s*,\s*", found[1]) if found else []
    answer = found[2] if found else ""
    is_once = all(len(set(letters)) == len(letters) for letters in (*operands, answer))
    if not found or not is_once or not set(answer) <= set("".join(operands)) or len(operands) not in ORDERS:
        raise OracleError(f"op={text!r}: {USAGE}; at most {len(NAMES)} operands")
    subscript = f"{','.join(operands)}->{answer}"

    def formula(N: System, **given: Quantity) -> Quantity:
        return einsum(N, subscript, *given.values())

    return replace(
        op,
        name=f"einsum({subscript})",
        formula=formula,
        inputs={name: Role(True, tuple(letters)) for name, letters in zip(NAMES, operands, strict=False)},
        outputs={"y": Role(True, tuple(answer) or ("1",))},
        forms=forms_of_subscript(operands, answer),
    )


def forms_of_subscript(operands: Sequence[str], answer: str) -> tuple[str, ...]:
    """The ways to compute a subscript that round differently; one way has no name."""
    if len(operands) == 1 or (len(operands) == 2 and set(operands[0]) ^ set(operands[1]) <= set(answer)):
        return ()
    return (*ORDERS[len(operands)], AT_ONCE)


def einsum(N: System, subscript: str, *given: Quantity) -> Quantity:
    """The einsum of a subscript, by the form that is asked for."""
    left, _, answer = subscript.partition("->")
    operands = [Lettered(one, letters) for one, letters in zip(given, left.split(","), strict=True)]
    if N.form == AT_ONCE:
        every = answer + "".join(sorted(set(left) - {*answer, ","}))
        made = Lettered(reduce(mul, (one.along(every) for one in operands)), every).summed(N, set(answer), "sum")
    else:
        orders = ORDERS[len(operands)]
        made = contract_operands(N, orders.get(N.form) or next(iter(orders.values())), operands, set(answer), "sum")
    return made.along(answer)


def contract_operands(
    N: System, order: ContractionOrder, operands: Sequence[Lettered], kept: set[str], name: str = ""
) -> Lettered:
    """Contract operands in pairs, over the letters that nothing else needs. A sum has the names of its operands."""
    name = name or "".join(NAMES[place] for place in places_in(order))
    if isinstance(order, int):
        return operands[order].summed(N, kept, name)
    left, right = (
        contract_operands(N, mine, operands, kept.union(*(operands[place].letters for place in places_in(other))))
        for mine, other in (order, order[::-1])
    )
    return contract_two(N, left, right, kept, name)


def places_in(order: ContractionOrder) -> tuple[int, ...]:
    return (order,) if isinstance(order, int) else (*places_in(order[0]), *places_in(order[1]))


def contract_two(N: System, left: Lettered, right: Lettered, kept: set[str], name: str) -> Lettered:
    """A product of matrices: both have the letters of the batch, and those of the sum."""
    both = [one for one in left.letters if one in right.letters]
    batch, inner = ("".join(one for one in both if (one in kept) is is_kept) for is_kept in (True, False))
    rows, cols = ("".join(one for one in side.letters if one not in both) for side in (left, right))
    if not inner:
        every = batch + rows + cols
        return Lettered(left.along(every) * right.along(every), every)
    size = _size_of(left, right)
    a = left.along(batch + rows + inner).reshaped(*map(size, batch), size(rows), size(inner))
    b = right.along(batch + inner + cols).reshaped(*map(size, batch), size(inner), size(cols))
    made = N.matmul(a, b, name)
    return Lettered(made.reshaped(*map(size, batch + rows + cols)), batch + rows + cols)


def _size_of(*operands: Lettered) -> Callable[[str], int]:
    """How many elements some letters have together."""
    sizes = {letter: n for one in operands for letter, n in zip(one.letters, one.value.shape, strict=True)}
    return lambda letters: prod(sizes[one] for one in letters)
