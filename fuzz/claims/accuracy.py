"""What a claim says of rounding and of special values: the tables [accuracy] and [values].

Knows which statements exclude one another; never what a bound is.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, cast, get_args

from kfuzz.callables.libraries import libraries
from kfuzz.callables.library import Arithmetic
from kfuzz.claims.expression import Expression
from kfuzz.claims.formula_claims import FORMULA_KEYS, ClaimedCounts, op_of, read_counts, read_formula
from kfuzz.claims.front_matter import FrontMatter, lookup, shown, shown_path
from kfuzz.claims.python_text import read_text
from kfuzz.claims.reading import Names, check_keys, read_word
from kfuzz.claims.sizes import read_op
from kfuzz.claims.text import Said, numbers_of, said_in
from kfuzz.oracle.elements import F16, F32, F64
from kfuzz.oracle.enclosure import FLT_MAX
from kfuzz.oracle.find import find
from kfuzz.oracle.rounding import (
    ACCUMULATORS,
    EXP2_SCALED,
    EXPF,
    FAR,
    FAST_EXP2_SCALED,
    FAST_EXPF,
    Accuracy,
    Atomics,
    Denominator,
    Divide,
    ExpModel,
    RoundedSums,
    Shift,
)
from kfuzz.oracle.verdict import Special, SpecialRow, Ties
from kfuzz.printable import one_line
from kfuzz.sources.flags import settings_of

ACCURACY_KEYS = (
    "adds", "rescales", "exp", "divide", "accumulate", "atomics", "additions", "denominator", "shift", "shift_slack",
    "flags", *FORMULA_KEYS,
)  # fmt: skip
PRECISE_SUMS = (F32.name, F64.name, "compensated")
"""What sums of tensor cores are not."""
VALUES_KEYS = ("finite", "range", "all_neg_inf", "nan", "pos_inf", "ties")
EXP_MODELS = {"expf": EXPF, "__expf": FAST_EXPF, "exp2 scaled": EXP2_SCALED, "__exp2f scaled": FAST_EXP2_SCALED}
FLAGS = (
    "-use_fast_math", "-ftz=true|false", "-prec-div=true|false", "-prec-sqrt=true|false", "-fmad=true|false",
    "-std=c++14|17|20", "-DNAME[=VALUE]", "-UNAME", "-IFOLDER",
)  # fmt: skip
FLAG = re.compile(
    r"""--?use_fast_math | --?(ftz|prec-div|prec-sqrt|fmad)=(true|false) | --?std=c\+\+(14|17|20)
    | -D[A-Za-z_]\w*(=[\w.+-]+)? | -U[A-Za-z_]\w* | -I\S+""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Rounding:
    """The [accuracy] table: two counts that depend on the sizes, and models that do not.

    `read_off`: what the claim leaves out and the text says; `doubts`: where the claim says less than the text does.
    """

    adds: ClaimedCounts
    rescales: ClaimedCounts
    models: Accuracy
    flags: tuple[str, ...]
    read_off: tuple[Said, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Domain:
    """The [values] table: `range` bounds every finite value; -inf stays claimed unless `finite`."""

    special: Special
    finite: bool = False
    range: tuple[float, float] | None = None


def read_rounding(front: FrontMatter, names: Names) -> Rounding:
    """The [accuracy] table; what it leaves out is what the text says plainly, or else the loosest sound model."""
    check_keys(front, ("accuracy",), ACCURACY_KEYS)
    op = op_of(front)
    text = said_in(front.source, front.is_python, set(op.seldom.values()))
    flags = read_flags(front)
    if not flags and lookup(front.values, ("accuracy", "flags")) is None and "flags" in text:
        flags = ("-use_fast_math",)
    settings = settings_of(flags)
    usual = libraries()[read_text(front.source).language].arithmetic if front.is_python else Arithmetic()
    ftz = settings.get("ftz", "false") == "true" or (usual.ftz and "ftz" not in settings)
    has_fast_exp = "use_fast_math" in settings
    has_fast_divide = settings.get("prec-div", "true") == "false"
    models = Accuracy(
        exp=read_exp(front, has_fast_exp, text, exp_of(usual)),
        divide=read_divide(front, has_fast_divide, text, cast(Divide, usual.divide)),
        accumulate=read_word(front, ("accuracy", "accumulate"), ACCUMULATORS, value_of(text, "accumulate", F32.name)),
        atomics=cast(
            Atomics, read_word(front, ("accuracy", "atomics"), get_args(Atomics), value_of(text, "atomics", "none"))
        ),
        additions=cast(
            RoundedSums,
            read_word(front, ("accuracy", "additions"), get_args(RoundedSums), value_of(text, "additions", "nearest")),
        ),
        denominator=cast(
            Denominator, read_word(front, ("accuracy", "denominator"), get_args(Denominator), usual.denominator)
        ),
        shift=read_shift(front),
        shift_slack=read_slack(front),
        ftz=ftz,
        **read_formula(front, text["form"].value if "form" in text else None),
    )
    silent = [said for said in text.values() if lookup(front.values, ("accuracy", said.key)) is None]
    doubts = [one for said in text.values() if (one := contradiction(front, said))]
    return Rounding(
        read_counts(front, "adds", names), read_counts(front, "rescales", names), models, flags, tuple(silent),
        tuple(doubts),
    )  # fmt: skip


def value_of(text: Mapping[str, Said], key: str, otherwise: str) -> str:
    """What the text says of a key that is a word."""
    return text[key].value if key in text else otherwise


def contradiction(front: FrontMatter, said: Said) -> str:
    """In a line, how the claim says less than the text; empty where it does not."""
    claimed = lookup(front.values, ("accuracy", said.key))
    less = {
        "__expf": ("expf", "exp2 scaled", "__exp2f scaled"),
        "fast reciprocal": ("ieee", "reciprocal"),
        "reciprocal": ("ieee",),
        "global": ("none",),
        "directed": ("nearest",),
        "mma": PRECISE_SUMS,
        F16.name: PRECISE_SUMS,
    }
    is_base_two = said.value in ("exp2 scaled", "__exp2f scaled")
    known = ("expf",) if said.value.startswith("[") else less.get(said.value, ())
    if claimed is None or not (claimed in known or (is_base_two and not is_scaled(claimed))):
        return ""
    value = said.value if said.value.startswith("[") else f'"{said.value}"'
    wanted = f"the claim says {said.key} = {shown(claimed)}; for this line it is {said.key} = {value}"
    return f"{shown_path(front.path)}:{said.line}: `{one_line(said.text)}`: {wanted}"


def is_scaled(claimed: object) -> bool:
    return claimed in ("exp2 scaled", "__exp2f scaled")


def read_flags(front: FrontMatter) -> tuple[str, ...]:
    """Compiler flags whose effect on rounding both devices and the oracle know."""
    key = ("accuracy", "flags")
    value = lookup(front.values, key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(flag, str) for flag in value):
        raise front.error(key, 'a list of strings is wanted, such as ["-use_fast_math"]')
    for flag in value:
        if not FLAG.fullmatch(flag):
            raise front.error(key, f"'{flag}' is not known to every device; known are {', '.join(FLAGS)}")
    return tuple(value)


def read_exp(front: FrontMatter, has_fast_exp: bool, text: Mapping[str, Said], usual: ExpModel) -> ExpModel:
    """A word for an exp, or the two numbers of a measured model."""
    key = ("accuracy", "exp")
    value = lookup(front.values, key)
    if value is None and "exp" in text:
        return read_off(text["exp"].value, has_fast_exp)
    if value is None:
        return FAST_EXPF if has_fast_exp else usual
    if value == "expf" and has_fast_exp:
        raise front.error(key, "under -use_fast_math every expf is compiled as __expf; say so or leave it out")
    if isinstance(value, str) and value in EXP_MODELS:
        return EXP_MODELS[value]
    numbers = value if isinstance(value, list) else []
    try:
        a0, kappa = (float(number) for number in numbers if type(number) in (int, float))
        return ExpModel(a0, kappa)
    except (ValueError, OverflowError):
        words = ", ".join(f'"{word}"' for word in EXP_MODELS)
        usage = f"{words} or [a0, kappa] is wanted: an error of (a0 + kappa |t|) 2^-24, a0 at least 1"
        raise front.error(key, usage) from None


def read_off(said: str, has_fast_exp: bool) -> ExpModel:
    """The model that the text says; -use_fast_math makes of powf and exp10f what errs by up to 5 u more of t."""
    if said in EXP_MODELS:
        return EXP_MODELS[said]
    a0, kappa = numbers_of(said) or (EXPF.a0, EXPF.kappa)
    return ExpModel(a0, kappa + 5) if has_fast_exp and said != "[5, 1.225]" else ExpModel(a0, kappa)


def exp_of(usual: Arithmetic) -> ExpModel:
    """The model of a library's exp."""
    return EXP_MODELS[usual.exp] if isinstance(usual.exp, str) else ExpModel(*usual.exp)


def read_divide(front: FrontMatter, has_fast_divide: bool, text: Mapping[str, Said], usual: Divide) -> Divide:
    key = ("accuracy", "divide")
    is_fast = "divide" in text and text["divide"].value == "fast reciprocal"
    loosest = "fast reciprocal" if has_fast_divide or is_fast else usual
    found = cast(Divide, read_word(front, key, get_args(Divide), loosest))
    if has_fast_divide and "fast" not in found:
        wanted = 'write "fast" for e / s, "fast reciprocal" for e * (1 / s), or leave it out'
        raise front.error(key, f"the flags make every division a fast one; {wanted}")
    return found


def read_shift(front: FrontMatter) -> Shift:
    """What is subtracted below exp, and what does not go with it."""
    key = ("accuracy", "shift")
    shift = cast(Shift, read_word(front, key, get_args(Shift), "any"))
    if shift != "any" and lookup(front.values, ("accuracy", "shift_slack")):
        raise front.error(key, f'with "{shift}" there is no shift_slack; leave one of the two out')
    if shift == "zero" and lookup(front.values, ("op",)) != "softmax":
        raise front.error(key, '"zero" is for softmax alone; a (max, sum) state is relative to its maximum')
    if shift == "zero" and lookup(front.values, ("accuracy", "rescales")) not in (None, 0, "0"):
        raise front.error(key, '"zero" is never rescaled; rescales is 0, or left out')
    return shift


def read_slack(front: FrontMatter) -> float:
    key = ("accuracy", "shift_slack")
    value = lookup(front.values, key)
    if value is None:
        return 0.0
    if type(value) not in (int, float) or not 0 <= cast(float, value) <= FAR:
        found = f"a number from 0 to {FAR:g} is wanted: how far the shift may be from the true maximum"
        raise front.error(key, found)
    return float(cast(float, value))


def read_values(front: FrontMatter) -> Domain:
    """The [values] table; silence is the op's own default."""
    check_keys(front, ("values",), VALUES_KEYS)
    finite = lookup(front.values, ("values", "finite"))
    if finite is not None and type(finite) is not bool:
        raise front.error(("values", "finite"), "true or false is wanted")
    special = Special(
        all_neg_inf=cast(Literal["nan", "zero"], read_word(front, ("values", "all_neg_inf"), ("nan", "zero"), "nan")),
        nan=read_row(front, "nan"),
        pos_inf=read_row(front, "pos_inf"),
        ties=read_ties(front),
    )
    if finite and lookup(front.values, ("values", "all_neg_inf")) is not None:
        raise front.error(("values", "all_neg_inf"), "finite = true leaves -inf out, so such a row is not claimed")
    return Domain(special, bool(finite), read_range(front))


def read_ties(front: FrontMatter) -> Ties:
    """Which of equal elements is meant, of an op that answers with places."""
    key = ("values", "ties")
    word = cast(Ties, read_word(front, key, get_args(Ties), "any"))
    if lookup(front.values, key) is not None:
        op = find(read_op(front))
        if all(role.is_float for role in op.outputs.values()):
            raise front.error(key, "this op does not answer with places")
    return word


def read_row(front: FrontMatter, name: str) -> SpecialRow | None:
    word = read_word(front, ("values", name), get_args(SpecialRow), "")
    return cast(SpecialRow, word) if word else None


def read_range(front: FrontMatter) -> tuple[float, float] | None:
    key = ("values", "range")
    value = lookup(front.values, key)
    if value is None:
        return None
    numbers = cast(list[float], value) if isinstance(value, list) else []
    if len(numbers) != 2 or not all(type(item) in (int, float) and abs(item) <= FLT_MAX for item in numbers):
        raise front.error(key, "two finite float32 numbers are wanted, such as [-80, 80]")
    lo, hi = (float(number) for number in numbers)
    if not lo < hi or math.isnan(lo + hi):
        raise front.error(key, f"the least value {lo:g} is not below the greatest, {hi:g}")
    return lo, hi


def accuracy_for(rounding: Rounding, sizes: Mapping[str, int]) -> Accuracy:
    """The claim's accuracy with its counts worked out for these sizes."""
    return replace(
        rounding.models,
        adds=worked_out(rounding.adds, sizes),
        rescales=worked_out(rounding.rescales, sizes),
    )


def worked_out(counts: ClaimedCounts, sizes: Mapping[str, int]) -> int | dict[str, int | None] | None:
    """Counts at these sizes."""
    if counts is None:
        return None
    if isinstance(counts, Expression):
        return counts(sizes)
    return {name: count(sizes) for name, count in counts.items()}
