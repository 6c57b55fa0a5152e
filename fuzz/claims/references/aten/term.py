"""The input and output of a rule: the tensors and numbers of a trace as text, and the lines of the formula.

Knows no operation.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

Text = str
SizeTexts = tuple[Text, ...]
"""The sizes of a tensor, each an expression over the sizes of the inputs."""


@dataclass(frozen=True)
class Term:
    """A tensor of the trace as a formula holds it.

    `text`: its name. `whole`: the same elements before their leading dimensions were merged. `weights`: of a softmax
    along the last axis the exponentials, before they are divided. `square`: of a product of one tensor with itself,
    that tensor. `is_mask`: it holds integers or truths, as numpy does. `is_place`: it holds a place of an extreme, of
    which several may be right; it has one more axis, of one place, and no word but `places` knows the set of these.
    `is_input`: its numbers are those of an input, known exactly.
    """

    text: Text
    shape: SizeTexts
    whole: "Term | None" = None
    weights: Text = ""
    square: Text = ""
    is_mask: bool = False
    is_place: bool = False
    is_input: bool = False

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers, and neither integers nor places."""
        return not (self.is_mask or self.is_place)


Arg = Term | float | int | bool | str | None
"""A tensor, a number, or the text of a number that follows from sizes."""


class UnknownError(Exception):
    """The table has no rule for these operands."""


class Writer:
    """The lines of a formula. `dims`: the dimension's name for the text of its size."""

    def __init__(self, dims: dict[Text, str]) -> None:
        self.dims = dims
        self.lines: list[tuple[str, Text]] = []
        self.forms: dict[str, tuple[str, ...]] = {}
        self.all_masked = ""
        """What a row of nothing but -inf gives, if not NaN: "zero", or "zero or nan"."""
        self.ties: dict[Text, str] = {}
        """For each place of an extreme which of equal elements it names: "first", or "any"."""
        self.steps: dict[str, None] = {}
        """The values that the reference itself stores in tensors of its inputs' type."""
        self.is_single = False
        """Whether an operation follows its rule in float32 but not in float64."""
        self.helpers: set[str] = set()

    def set(self, name: str, text: Text) -> Text:
        """A line that gives a value a name."""
        self.lines.append((name, text))
        return name

    def special(self, wanted: Collection[Text]) -> dict[str, str]:
        """SPECIAL of the formula of these names; ties are the first where each place in it is."""
        ties = {how for name, how in self.ties.items() if name in wanted}
        found = {"all_neg_inf": self.all_masked} if self.all_masked else {}
        return found | ({"ties": "first"} if ties == {"first"} else {})

    def keep(self, name: str, text: Text) -> Text:
        """A value that the reference stores in a tensor, and that a kernel with 16-bit arrays may store as narrow."""
        return self.set(name, f'N.keep({text}, "{name}")')

    def use(self, helper: str) -> Text:
        """The name of a function that a formula imports: one of HELPERS."""
        self.helpers.add(helper)
        return helper

    def step(self, name: str, text: Text) -> Text:
        """A value that torch stores in a tensor within one operation, as narrow as the operation's result."""
        self.steps[name] = None
        return self.keep(name, text)


WritingOne = Callable[[Writer, str, Sequence[Arg], dict[str, Arg], SizeTexts], Term]
Writing = Callable[[Writer, str, Sequence[Arg], dict[str, Arg], SizeTexts], Term | list[Term]]
"""A rule: the result, or the first of several results."""
HELPERS = {
    "kfuzz.oracle.words.normalizing": ("affine_channels", "in_groups", "over_batch", "over_places", "per_channel"),
    "kfuzz.oracle.words.ordering": ("in_order",),
    "kfuzz.oracle.words.recurrent": ("network",),
    "kfuzz.oracle.words.scaling": ("matmul_of_blocks",),
    "kfuzz.oracle.systems.value": ("exact_numbers",),
    "kfuzz.oracle.words.sliding": (
        "adaptive_parts",
        "adaptive_places",
        "conv",
        "conv_transposed",
        "pool",
        "pool_names",
    ),
}
"""The functions that a formula may import, by module."""


def text_of(operand: Arg) -> Text:
    """An operand in a formula's text."""
    if isinstance(operand, Term) and operand.is_place:
        raise UnknownError
    if isinstance(operand, Term):
        return operand.text
    if isinstance(operand, str):
        return operand
    if operand is None or isinstance(operand, bool):
        raise UnknownError
    return "N.inf" if operand == math.inf else "-N.inf" if operand == -math.inf else repr(operand)


def number_of(operand: Arg) -> Text:
    """An operand of arithmetic in a formula's text: integers and truths as numbers, which are known exactly."""
    text = text_of(operand)
    return f'N.input(({text}).astype("f8"))' if isinstance(operand, Term) and operand.is_mask else text


def places_along(to: Writer, size: Text, axis: int = -1) -> Text:
    """0, 1, ... along an axis, counted from the end, of this size: a dimension's, or a number that is known."""
    if size in to.dims:
        return f'N.index("{to.dims[size]}"{"" if axis == -1 else f", axis={axis}"})'
    if not size.isdigit():
        raise UnknownError
    after = "" if axis == -1 else f".reshape(-1{', 1' * (-axis - 1)})"
    return f"np.arange({size}){after}"


def whole_number(operand: Arg) -> int:
    """An axis, or another number that does not follow from sizes."""
    if isinstance(operand, bool) or not isinstance(operand, int):
        raise UnknownError
    return operand


def movable(operand: Arg) -> Term:
    """A tensor of numbers, or of integers or truths that are known."""
    if not isinstance(operand, Term) or operand.is_place:
        raise UnknownError
    return operand


def tensor(operand: Arg) -> Term:
    """A tensor of numbers."""
    if not isinstance(operand, Term) or operand.is_mask or operand.is_place:
        raise UnknownError
    return operand
