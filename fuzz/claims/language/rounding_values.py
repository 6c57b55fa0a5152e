"""The parsers of the values of [accuracy] and [values] that are not words or expressions.

Knows which models, compiler flags and numbers there are; never what a bound is.
"""

import math
import re

from kfuzz.claims.language.place import ClaimPlace, OneOf, number_in, parse_expression
from kfuzz.oracle.accuracy.measured import function_models
from kfuzz.oracle.accuracy.rounding import (
    ACCUMULATORS,
    EXP2_SCALED,
    EXPF,
    FAR,
    FAST_EXP2_SCALED,
    FAST_EXPF,
    OWN_ACCUMULATORS,
    ExpModel,
    FunctionModel,
)
from kfuzz.oracle.numbers.enclosure import FLT_MAX
from kfuzz.oracle.numbers.tensor_cores import ADDERS

EXP_MODELS = {"expf": EXPF, "__expf": FAST_EXPF, "exp2 scaled": EXP2_SCALED, "__exp2f scaled": FAST_EXP2_SCALED}
MODELS: dict[str, dict[str, FunctionModel]] = {
    "log": {"logf": FunctionModel(3.0), "__logf": FunctionModel(7.0, 2.0**-21)},
    "rsqrt": {"rsqrtf": FunctionModel(5.0), "1 / sqrtf": FunctionModel(3.0)},
    "sqrt": {"sqrtf": FunctionModel(1.0), "sqrt.approx": FunctionModel(3.0)},
    "tanh": {"tanhf": FunctionModel(5.0), "tanh.approx": FunctionModel(8192.0)},
    "erf": {"erff": FunctionModel(5.0)},
    "erfc": {"erfcf": FunctionModel(9.0)},
    "exp2": {"exp2f": FunctionModel(5.0), "ex2.approx": FunctionModel(4.0)},
    "expm1": {"expm1f": FunctionModel(3.0)},
    "log2": {"log2f": FunctionModel(3.0), "__log2f": FunctionModel(5.0, 2.0**-22)},
    "log1p": {"log1pf": FunctionModel(3.0)},
    "log10": {"log10f": FunctionModel(5.0)},
    "sin": {"sinf": FunctionModel(5.0), "__sinf": FunctionModel(1.0, 2.0**-21.41, within=math.pi)},
    "cos": {"cosf": FunctionModel(5.0), "__cosf": FunctionModel(1.0, 2.0**-21.19, within=math.pi)},
    "pow": {"powf": FunctionModel(19.0)},
    "atan2": {"atan2f": FunctionModel(7.0)},
}
"""Documented errors: k ulp of the CUDA C Programming Guide is 2 k + 1 units of u; __logf's 2^-21.41 near 1 is absolute,
as are the errors of __log2f near 1 and of __sinf and __cosf, which are documented from -pi to pi; PTX gives tanh.approx
2^-11, ex2.approx 2^-22, and sqrt.approx 1 ulp."""
FAST_FUNCTIONS: dict[str, FunctionModel] = {
    **{name: MODELS[name][word] for name, word in (
        ("log", "__logf"), ("log2", "__log2f"), ("exp2", "ex2.approx"), ("tanh", "tanh.approx"), ("sin", "__sinf"),
        ("cos", "__cosf"),
    )},
    "log10": FunctionModel(7.0, 2.0**-23.7),
}  # fmt: skip
"""What nvcc 13.0 makes of a function under -use_fast_math; of log10f it makes __log2f times log10(2)."""
FLAGS = (
    "-use_fast_math", "-ftz=true|false", "-prec-div=true|false", "-prec-sqrt=true|false", "-fmad=true|false",
    "-std=c++14|17|20", "-DNAME[=VALUE]", "-UNAME", "-IFOLDER",
)  # fmt: skip
FLAG = re.compile(
    r"""--?use_fast_math | --?(ftz|prec-div|prec-sqrt|fmad)=(true|false) | --?std=c\+\+(14|17|20)
    | -D[A-Za-z_]\w*(=[\w.+-]+)? | -U[A-Za-z_]\w* | -I\S+""",
    re.VERBOSE,
)
WrittenCounts = str | dict[str, str]
"""One expression for every sum, or one for each sum by name."""


def parse_counts(place: ClaimPlace) -> WrittenCounts:
    if isinstance(place.value, dict):
        return {name: parse_expression(inner) for name, inner in place.items()}
    return parse_expression(place)


def parse_accumulate(place: ClaimPlace) -> str | dict[str, str]:
    """One word for every sum, or one for each sum by name; "*" means all others."""
    if isinstance(place.value, dict):
        known = {name: OneOf(OWN_ACCUMULATORS if name != "*" else ACCUMULATORS) for name in place.value}
        return {name: known[name](inner) for name, inner in place.items()}
    return OneOf(ACCUMULATORS)(place)


def parse_exp(place: ClaimPlace) -> str | ExpModel:
    """A word for an exp, or the two numbers of a measured model."""
    value = place.value
    if isinstance(value, str) and value in EXP_MODELS:
        return value
    numbers = value if isinstance(value, list) else []
    try:
        a0, kappa = (float(number) for number in numbers if type(number) in (int, float))
        return ExpModel(a0, kappa)
    except (ValueError, OverflowError):
        words = ", ".join(f'"{word}"' for word in EXP_MODELS)
        usage = f"{words} or [a0, kappa] is expected: an error of (a0 + kappa |t|) 2^-24, a0 at least 1"
        raise place.error(usage) from None


def models_by_word(function: str) -> dict[str, FunctionModel]:
    """The models of a function by the words that a claim may write."""
    known = MODELS.get(function, {})
    return known | {
        f"{cuda} measured": one for cuda, one in function_models().get(function, {}).items() if cuda in known
    }


def function_usage(function: str) -> str:
    """The values that a claim may give for a function."""
    words = ", ".join(f'"{word}"' for word in models_by_word(function))
    choice = f"{words} or [units, absolute]" if words else "[units, absolute]"
    return f"{choice} is expected: an error of units 2^-24, at least 1, and an absolute one"


def parse_function_model(place: ClaimPlace) -> FunctionModel | str:
    """`log = "__logf"` or `tanh = [187, 0]`: a measured error in u and an absolute one, or a word.

    A word that the function does not have is returned unchanged, since the op may not have the function at all.
    """
    function = str(place.key[-1])
    if isinstance(place.value, str):
        return models_by_word(function).get(place.value, place.value)
    numbers = place.value if isinstance(place.value, list) else []
    try:
        return FunctionModel(*(float(number) for number in numbers if type(number) in (int, float)))
    except (TypeError, ValueError):
        raise place.error(function_usage(function)) from None


def parse_flags(place: ClaimPlace) -> tuple[str, ...]:
    """Compiler flags whose effect on rounding both devices and the oracle know."""
    if not isinstance(place.value, list) or not all(isinstance(flag, str) for flag in place.value):
        raise place.error('a list of strings is expected, such as ["-use_fast_math"]')
    for flag in place.value:
        if not FLAG.fullmatch(flag):
            raise place.error(f"'{flag}' is not known to every device; known are {', '.join(FLAGS)}")
    return tuple(place.value)


def parse_shift_slack(place: ClaimPlace) -> float:
    wanted = f"a number from 0 to {FAR:g} is expected: how far the shift may be from the true maximum"
    return number_in(place, wanted, 0, FAR)


def parse_promote(place: ClaimPlace) -> int:
    together = max(adder.together for adder in ADDERS.values())
    value = place.value
    if type(value) is not int or value < 1 or value % together:
        raise place.error(f"a multiple of {together} is expected: how many products are added before a sum is promoted")
    return value


def parse_range(place: ClaimPlace) -> tuple[float, float]:
    numbers = place.value if isinstance(place.value, list) else []
    if len(numbers) != 2 or not all(type(item) in (int, float) and abs(item) <= FLT_MAX for item in numbers):
        raise place.error("two finite float32 numbers are wanted, such as [-80, 80]")
    lo, hi = (float(number) for number in numbers)
    if not lo < hi or math.isnan(lo + hi):
        raise place.error(f"the least value {lo:g} is not below the greatest, {hi:g}")
    return lo, hi
