"""Reads from a kernel's text how it rounds, where that is plain: fast functions, base 2, atomics, directed sums.

Knows CUDA's words; never what a claim is, nor how a device treats them.
"""

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np

from kfuzz.common.printable import one_line
from kfuzz.common.text.cuda_text import blank_non_code, spaces, split_commas
from kfuzz.common.text.python_strings import device_code_in
from kfuzz.oracle.accuracy.rounding import FAST_EXPF, U
from kfuzz.oracle.numbers.elements import F16, F32

LOG2_E = r"(?:\w*log2_?e\w*|1\.44269\w*)"
LN_2 = r"(?:\w*ln_?2\w*|0?\.693147\w*)"
LOG10_E = r"(?:\w*log10_?e\w*|0?\.43429448\w*)"
DIFFERENCE = r"\(([^()]|\([^()]*\))*-([^()]|\([^()]*\))*\)"


def difference_times(constant: str) -> str:
    """A pattern for this constant times a difference, in either order."""
    return rf"{DIFFERENCE}\s*\*\s*{constant}|{constant}\s*\*\s*\(.*-.*\)"


NAMES = {"LOG2_E": r"1\.44269", "LN_2": r"0?\.693147", "LOG10_E": r"0?\.43429448"}
"""kfuzz's name for a constant that a text defines with these decimals under its own name."""
TIMES_LOG2_E = re.compile(rf"{difference_times(LOG2_E)}|{DIFFERENCE}\s*/\s*{LN_2}", re.IGNORECASE)
TIMES_LOG10_E = re.compile(difference_times(LOG10_E), re.IGNORECASE)
CALL_OF_EXP2 = re.compile(r"\bexp2f?\s*(?=\()")
CALL_OF_EXP10 = re.compile(r"\b(?P<fast>__)?exp10f?\s*(?=\()")
CALL_OF_POW = re.compile(r"\b(?:std::)?(?P<name>__powf|powf?)\s*(?=\()")
NUMBER = re.compile(r"(?P<digits>\d+\.\d*|\.\d+)(?P<float>[fF]?)")
E_TO_SIX_DIGITS = re.compile(r"2\.7182[78]")
"""The beginning of decimals that give e to the six digits that every float32 has."""
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
FAST_MATH = re.compile(r"\bnvcc\b[^\n]*\s--?use_fast_math\b")
FAST_MATH_ASKED = re.compile(r"""["']--?use_fast_math["']""")
ATOMIC_ADD = re.compile(r"\b(?:gpuA|a)tomicAdd(?:_block|_system|NoReturn)?\s*(?=\()")
PYTHON_ATOMIC = re.compile(r"\b(?:atomic_add|atomic\.add|(?:scatter|index)_add_?|index_put_?|atomicAdd)\b")
TENSOR_SUMS = re.compile(
    r"\baccumulator\b[^;<>]*\b(?P<of>float|half|__half)\s*>|\bmma\.sync\.aligned\.[.\w]*?\.(?P<as>f32|f16)\."
)
"""The type in which tensor cores add: a fragment's, or the first in the instruction's name."""
DIRECTED = re.compile(r"\b__(?:[fd](?:add|sub)|fadd2|fmaf|ffma2|fma)_r[zud]\b")
LONGEST = 80

Facts = Callable[[str], Iterator[tuple[int, str, str]]]
"""What a text implies, as `facts` finds it."""


@dataclass(frozen=True)
class Said:
    """A statement for the claim (`key` = `value`), the word in the text that implies it, and its line."""

    key: str
    value: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: `{one_line(self.text)}`"


def said_in(source: str, facts: Facts, seldom: Collection[str] = ()) -> dict[str, Said]:
    """The value that the text plainly implies for each key of [accuracy], if it does.

    `facts`: those of the text's language. `seldom`: functions that the op's usual forms do not call; a text that calls
    one may compute any form.
    """
    found: dict[str, Said] = {}
    every_fact = chain(facts(source), unusual_calls(source, seldom))
    lines = source.split("\n")
    for at, key, value in sorted(every_fact, key=lambda fact: fact[0]):
        number = source.count("\n", 0, at)
        text = " ".join(lines[number].split())
        text = text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
        if key not in found or looser(key, value, found[key].value):
            found[key] = Said(key, value, number + 1, text)
    return found


def looser(key: str, value: str, than: str) -> bool:
    """Whether one value allows everything that the other does, and more; for two words for a division, say."""
    if key == "exp" and (model := numbers_of(value)) and (known := numbers_of(than)):
        return model[::-1] > known[::-1]
    order = ("reciprocal", "fast reciprocal")
    return key == "divide" and value in order and than in order and order.index(value) > order.index(than)


def numbers_of(value: str) -> tuple[float, float] | None:
    """The two numbers of a model of exp that is written as numbers, or as "__expf"."""
    if value == "__expf":
        return FAST_EXPF.a0, FAST_EXPF.kappa
    a0, _, kappa = value.strip("[]").partition(", ")
    return (float(a0), float(kappa)) if value.startswith("[") else None


def facts(source: str) -> Iterator[tuple[int, str, str]]:
    """Each place that implies a value: its offset, the key and the value."""
    code = blank_non_code(source)
    for word in re.finditer(r"\b__expf\b", code):
        yield word.start(), "exp", "__expf"
    for word in re.finditer(r"\b__fdividef\b|\b__(?:frcp|fdiv)_r[zud]\b", code):
        yield word.start(), "divide", "fast reciprocal"
    for word in re.finditer(r"\b__frcp_rn\b", code):
        yield word.start(), "divide", "reciprocal"
    yield from base_two(code)
    yield from base_ten(code)
    yield from base_e(code)
    with_strings = COMMENT.sub(spaces, source)
    of_base_two = list(re.finditer(r"\bex2\.approx\b", with_strings))
    if of_base_two and re.search(LOG2_E, code, re.IGNORECASE):
        yield from ((word.start(), "exp", "__exp2f scaled") for word in of_base_two)
    for sums in TENSOR_SUMS.finditer(with_strings):
        yield sums.start(), "accumulate", "mma" if sums["of"] == F32.c_type or sums["as"] == F32.name else F16.name
    for call in ATOMIC_ADD.finditer(code):
        if may_be_global_float(code, argument(code, call.end())):
            yield call.start(), "atomics", "global"
    for word in DIRECTED.finditer(code):
        yield word.start(), "additions", "directed"
    for word in FAST_MATH.finditer(source):
        yield word.start(), "flags", "-use_fast_math"


def facts_of_python(source: str) -> Iterator[tuple[int, str, str]]:
    """The facts of a Python text or of CUDA in its strings: atomic additions of floats in global memory of a GPU."""
    for word in PYTHON_ATOMIC.finditer(source):
        yield word.start(), "atomics", "global"
    for word in FAST_MATH_ASKED.finditer(source):
        yield word.start(), "flags", "-use_fast_math"
    cuda = device_code_in(source)
    begins = [0, *accumulate(len(line) + 1 for line in source.split("\n"))]
    for at, key, value in facts(cuda):
        if key != "atomics":  # as above, from the word alone
            yield begins[min(cuda.count("\n", 0, at), len(begins) - 2)], key, value


def unusual_calls(source: str, functions: Collection[str]) -> Iterator[tuple[int, str, str]]:
    """Calls of these functions by any of their names: __logf, tl.log2, hlog, lg2.approx in a string, log_softmax."""
    without_comments = COMMENT.sub(spaces, source)
    for name in functions:
        approximation = {"log": "lg2"}.get(name, name)
        for call in re.finditer(rf"\w*{name}\w*\s*\(|\b{approximation}\.approx\b", without_comments):
            yield call.start(), "form", "any"


def base_two(code: str) -> Iterator[tuple[int, str, str]]:
    """Calls of exp2f whose argument is log2(e) times a difference, or a difference of multiples of log2(e)."""
    calls = list(CALL_OF_EXP2.finditer(code))
    called = named_constants(code) if calls else {}
    for call in calls:
        inner = in_known_names(argument(code, call.end()), called)
        if TIMES_LOG2_E.fullmatch(inner):
            yield call.start(), "exp", "[5, 1.225]"
        elif re.search(LOG2_E, inner, re.IGNORECASE):
            yield call.start(), "exp", "exp2 scaled"


def named_constants(code: str) -> dict[str, str]:
    """The author's names for log2(e), ln(2) and log10(e), and kfuzz's."""
    return {
        one["name"]: ours
        for ours, decimals in NAMES.items()
        for one in re.finditer(rf"\b(?P<name>[A-Za-z_]\w*)\s*(?:[={{(]\s*|\s){decimals}", code)
    }


def in_known_names(expression: str, called: Mapping[str, str]) -> str:
    """An expression on one line, with kfuzz's names for these constants."""
    one = " ".join(expression.split())
    return re.sub(r"[A-Za-z_]\w*", lambda name: called.get(name[0], name[0]), one)


def base_ten(code: str) -> Iterator[tuple[int, str, str]]:
    """Calls of exp10f of a difference times log10(e): 2 ulp, and the factor is 0.3903 u off its exact value.

    Calls of __exp10f err by 2 + 2.95 |t log10(e)| ulp.
    """
    calls = list(CALL_OF_EXP10.finditer(code))
    called = named_constants(code) if calls else {}
    for call in calls:
        if TIMES_LOG10_E.fullmatch(in_known_names(argument(code, call.end()), called)):
            yield call.start(), "exp", "[5, 3.954]" if call["fast"] else "[5, 1.391]"


def base_e(code: str) -> Iterator[tuple[int, str, str]]:
    """Calls of powf whose base is the constant e: its documented 4 ulp, and the distance of ln(constant) from 1.

    __powf is ex2.approx(t lg2.approx(e)): 2^-22 relative from each of the two, and the product is rounded.
    docs/numerics.md#power-of-e
    """
    for call in CALL_OF_POW.finditer(code):
        base = split_commas(argument(code, call.end()))[:1]
        if base and (number := constant(code, base[0])) and E_TO_SIX_DIGITS.match(number["digits"]):
            is_double = call["name"] == "pow" and not number["float"]
            held = float(number["digits"]) if is_double else float(np.float32(number["digits"]))
            off = math.ceil(abs(math.log(held) - 1) / U * 1000) / 1000
            a0, kappa = (5.0, off + 5) if call["name"] == "__powf" else (5.0 if is_double else 9.0, off)
            if kappa:  # else every claim allows it: pow(M_E, t) of doubles
                yield call.start(), "exp", f"[{a0:g}, {kappa:.6g}]"


def constant(code: str, text: str) -> re.Match[str] | None:
    """The decimal of an expression, or of the only definition of its name."""
    if re.fullmatch(r"M_Ef?", text):
        return NUMBER.fullmatch("2.7182818284590452354")
    if not re.fullmatch(r"\w+", text) or text[0].isdigit():
        return NUMBER.fullmatch(text)
    defined = re.findall(rf"#\s*define\s+{text}\s+(\S+)|\b{text}\s*[={{]\s*([\w.]+)\s*[;,}}]", code)
    return NUMBER.fullmatch("".join(defined[0])) if len(defined) == 1 else None


def argument(code: str, at: int) -> str:
    """The text between the parenthesis that opens at an offset and the one that closes it."""
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] == "(") - (code[place] == ")")
        if depth == 0:
            return code[at + 1 : place]
    return code[at + 1 :]


def may_be_global_float(code: str, arguments: str) -> bool:
    """Whether an atomic addition may be of floats in global memory: not if its cell is declared otherwise."""
    cell = re.match(r"\s*[&*(\s]*(?:\w+\s*(?:->|\.)\s*)*(\w+)", arguments)
    if cell is None:
        return True
    name = re.escape(cell[1])
    shared = rf"__shared__[^;=(){{}}]*\b{name}\s*[\[;,=]"
    other = (
        rf"\b(?:int|unsigned|long|double|half2?|__half2?|__nv_bfloat162?|u?int\d+_t|size_t)\b[\s*&\w]*[\s*&]{name}\b"
    )
    return not re.search(shared, code) and not re.search(other, code)
