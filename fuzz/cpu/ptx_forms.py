"""Recognises PTX of several lines that stands for one instruction.

The other lines turn its predicate into an int, wait for it, or drop its result. Knows how people write such text;
ptx_table.py knows the instructions.
"""

import re
from dataclasses import dataclass

_LABEL = r"[\w$%=]+"
_ONE = r"(?P<one>[^;{}:]*(?:::[^;{}:]*)*;)"
_DROPPED = re.compile(rf"\{{ ?\.reg \.[bu]64 (?P<to>\w+); {_ONE} ?\}}")
_AS_INT = re.compile(rf"\{{ ?\.reg \.pred (?P<to>\w+); {_ONE} selp\.[bsu]32 (?P<int>%\d+), 1, 0, (?P=to); ?\}}")
_LOOP = re.compile(
    rf"(?:\{{ ?)?\.reg \.pred (?P<to>\w+); (?P<again>{_LABEL}): ?{_ONE} "
    rf"(?:@!(?P=to) bra(?:\.uni)? (?P=again);"
    rf"|@(?P=to) bra(?:\.uni)? (?P<out>{_LABEL}); bra(?:\.uni)? (?P=again); (?P=out):)(?: ?\}})?"
)
DONE = "cuda_on_cpu_done"
"""The name of a loop's predicate in C++."""


@dataclass(frozen=True)
class Form:
    """The one instruction and its operands, and whether it is repeated until its predicate holds."""

    instruction: str
    operands: tuple[str, ...]
    is_loop: bool = False


def parse_form(text: str, operands: list[str]) -> Form:
    """The instruction for which the text of an asm statement stands; the text itself if it has none of these forms."""
    if match := _DROPPED.fullmatch(text):
        return Form(_with(match, "_"), tuple(operands))
    if match := _AS_INT.fullmatch(text):
        return Form(_with(match, match["int"]), tuple(operands))
    if match := _LOOP.fullmatch(text):
        return Form(_with(match, f"%{len(operands)}"), (*operands, DONE), is_loop=True)
    return Form(text, tuple(operands))


def _with(match: re.Match[str], to: str) -> str:
    """The instruction with another destination."""
    return re.sub(rf"(?<![\w.])(?:_\|)?{match['to']}(?![\w.])", to, match["one"])
