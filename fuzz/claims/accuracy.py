"""What a claim says of rounding and of special values: the tables [accuracy] and [values].

Knows which statements exclude one another; never what a bound is.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, cast

from kfuzz.callables.libraries import libraries
from kfuzz.callables.library import Arithmetic
from kfuzz.claims.expression import Expression
from kfuzz.claims.formula_claims import ClaimedCounts, read_counts, read_models, read_names, read_narrowed
from kfuzz.claims.front_matter import FrontMatter, KeyPath, lookup, shown_path
from kfuzz.claims.keys import ACCURACY, VALUES
from kfuzz.claims.python_text import read_text
from kfuzz.claims.reading import ClaimNames, check_keys, read_choice, read_word
from kfuzz.claims.text import Said, numbers_of, said_in
from kfuzz.oracle.elements import F16, F32, F64
from kfuzz.oracle.enclosure import FLT_MAX
from kfuzz.oracle.find import find
from kfuzz.oracle.names import names_of
from kfuzz.oracle.op import Op
from kfuzz.oracle.rounding import (
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
    FunctionModel,
    RoundedSums,
    Shift,
)
from kfuzz.oracle.verdict import Special, SpecialRow, Ties
from kfuzz.printable import one_line
from kfuzz.sources.flags import settings_of

PRECISE_SUMS = (F32.name, F64.name, "compensated")
"""What sums of tensor cores are not."""
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


@dataclass(frozen=True)
class WrittenAccuracy:
    """The table [accuracy] as it is written; None, or nothing, where a key is left out."""

    adds: ClaimedCounts
    rescales: ClaimedCounts
    exp: str | ExpModel | None
    divide: str | None
    accumulate: str | None
    atomics: str | None
    additions: str | None
    denominator: str | None
    shift: str | None
    shift_slack: float
    flags: tuple[str, ...] | None
    form: str | None
    operand: str | None
    keep: Mapping[str, str]
    functions: Mapping[str, FunctionModel]
    shared: tuple[str, ...] | None

    def statement(self, key: str) -> object:
        """What is written under a key that the text may speak of as well."""
        return vars(self)[key]


def read_accuracy(front: FrontMatter, op: Op, names: ClaimNames) -> WrittenAccuracy:
    """The table [accuracy]."""
    check_keys(front, ("accuracy",), ACCURACY)

    def key(name: str) -> KeyPath:
        return ("accuracy", name)

    known = names_of(op)
    return WrittenAccuracy(
        adds=read_counts(front, op, "adds", names),
        rescales=read_counts(front, op, "rescales", names),
        exp=read_exp(front),
        divide=read_word(front, key("divide")),
        accumulate=read_word(front, key("accumulate")),
        atomics=read_word(front, key("atomics")),
        additions=read_word(front, key("additions")),
        denominator=read_word(front, key("denominator")),
        shift=read_word(front, key("shift")),
        shift_slack=read_slack(front),
        flags=read_flags(front),
        form=read_choice(front, key("form"), (*op.forms, *op.seldom, "any")),
        operand=read_word(front, key("operand")),
        keep=read_narrowed(front, key("keep"), known.narrow_values),
        functions=read_models(front, known.functions),
        shared=read_names(front, key("shared"), tuple(known.sums)),
    )


def read_rounding(front: FrontMatter, op: Op, names: ClaimNames) -> Rounding:
    """The [accuracy] table; what it leaves out is what the text says plainly, or else the loosest sound model."""
    written = read_accuracy(front, op, names)
    text = said_in(front.source, front.is_python, set(op.seldom.values()))
    from_text = ("-use_fast_math",) if "flags" in text else ()
    flags = from_text if written.flags is None else written.flags
    settings = settings_of(flags)
    usual = libraries()[read_text(front.source).language].arithmetic if front.is_python else Arithmetic()
    ftz = settings.get("ftz", "false") == "true" or (usual.ftz and "ftz" not in settings)
    has_fast_divide = settings.get("prec-div", "true") == "false"
    models = Accuracy(
        exp=exp_of(front, written.exp, "use_fast_math" in settings, text, usual_exp(usual)),
        divide=divide_of(front, written.divide, has_fast_divide, text, cast(Divide, usual.divide)),
        accumulate=written.accumulate or value_of(text, "accumulate", F32.name),
        atomics=cast(Atomics, written.atomics or value_of(text, "atomics", "none")),
        additions=cast(RoundedSums, written.additions or value_of(text, "additions", "nearest")),
        denominator=cast(Denominator, written.denominator or usual.denominator),
        shift=shift_of(front, op, written),
        shift_slack=written.shift_slack,
        ftz=ftz,
        form=written.form or (text["form"].value if "form" in text else None),
        operand=written.operand,
        keep=written.keep,
        functions=written.functions,
        shared=written.shared,
    )
    silent = tuple(said for said in text.values() if written.statement(said.key) is None)
    doubts = tuple(one for said in text.values() if (one := contradiction(front, written.statement(said.key), said)))
    return Rounding(written.adds, written.rescales, models, flags, silent, doubts)


def value_of(text: Mapping[str, Said], key: str, otherwise: str) -> str:
    """What the text says of a key that is a word."""
    return text[key].value if key in text else otherwise


def contradiction(front: FrontMatter, claimed: object, said: Said) -> str:
    """In a line, how the claim says less than the text; empty where it does not."""
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
    wanted = f"the claim says {front.statement(('accuracy', said.key))}; for this line it is {said.key} = {value}"
    return f"{shown_path(front.path)}:{said.line}: `{one_line(said.text)}`: {wanted}"


def is_scaled(claimed: object) -> bool:
    return claimed in ("exp2 scaled", "__exp2f scaled")


def read_flags(front: FrontMatter) -> tuple[str, ...] | None:
    """Compiler flags whose effect on rounding both devices and the oracle know."""
    key = ("accuracy", "flags")
    value = lookup(front.values, key)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(flag, str) for flag in value):
        raise front.error(key, 'a list of strings is wanted, such as ["-use_fast_math"]')
    for flag in value:
        if not FLAG.fullmatch(flag):
            raise front.error(key, f"'{flag}' is not known to every device; known are {', '.join(FLAGS)}")
    return tuple(value)


def read_exp(front: FrontMatter) -> str | ExpModel | None:
    """A word for an exp, or the two numbers of a measured model."""
    key = ("accuracy", "exp")
    value = lookup(front.values, key)
    if value is None or (isinstance(value, str) and value in EXP_MODELS):
        return None if value is None else str(value)
    numbers = value if isinstance(value, list) else []
    try:
        a0, kappa = (float(number) for number in numbers if type(number) in (int, float))
        return ExpModel(a0, kappa)
    except (ValueError, OverflowError):
        words = ", ".join(f'"{word}"' for word in EXP_MODELS)
        usage = f"{words} or [a0, kappa] is wanted: an error of (a0 + kappa |t|) 2^-24, a0 at least 1"
        raise front.error(key, usage) from None


def exp_of(
    front: FrontMatter, written: str | ExpModel | None, is_fast: bool, text: Mapping[str, Said], usual: ExpModel
) -> ExpModel:
    """The model of an exp: as written, else as the text says, else the usual one."""
    if isinstance(written, ExpModel):
        return written
    if written is None and "exp" in text:
        return read_off(text["exp"].value, is_fast)
    if written is None:
        return FAST_EXPF if is_fast else usual
    if written == "expf" and is_fast:
        found = "under -use_fast_math every expf is compiled as __expf; say so or leave it out"
        raise front.error(("accuracy", "exp"), found)
    return EXP_MODELS[written]


def read_off(said: str, has_fast_exp: bool) -> ExpModel:
    """The model that the text says; -use_fast_math makes of powf and exp10f what errs by up to 5 u more of t."""
    if said in EXP_MODELS:
        return EXP_MODELS[said]
    a0, kappa = numbers_of(said) or (EXPF.a0, EXPF.kappa)
    return ExpModel(a0, kappa + 5) if has_fast_exp and said != "[5, 1.225]" else ExpModel(a0, kappa)


def usual_exp(usual: Arithmetic) -> ExpModel:
    """The model of a library's exp."""
    return EXP_MODELS[usual.exp] if isinstance(usual.exp, str) else ExpModel(*usual.exp)


def divide_of(
    front: FrontMatter, written: str | None, has_fast_divide: bool, text: Mapping[str, Said], usual: Divide
) -> Divide:
    """How a row is divided by its sum: as written, else the loosest that the flags, the text and the language allow."""
    is_fast = "divide" in text and text["divide"].value == "fast reciprocal"
    found = written or ("fast reciprocal" if has_fast_divide or is_fast else usual)
    if has_fast_divide and "fast" not in found:
        wanted = 'write "fast" for e / s, "fast reciprocal" for e * (1 / s), or leave it out'
        raise front.error(("accuracy", "divide"), f"the flags make every division a fast one; {wanted}")
    return cast(Divide, found)


def shift_of(front: FrontMatter, op: Op, written: WrittenAccuracy) -> Shift:
    """What is subtracted below exp, and what does not go with it."""
    key = ("accuracy", "shift")
    shift = cast(Shift, written.shift or "any")
    if shift != "any" and written.shift_slack:
        raise front.error(key, f'with "{shift}" there is no shift_slack; leave one of the two out')
    if shift == "zero" and op is not find("softmax"):
        raise front.error(key, '"zero" is for softmax alone; a (max, sum) state is relative to its maximum')
    rescales = written.rescales
    if shift == "zero" and not (rescales is None or (isinstance(rescales, Expression) and rescales.text == "0")):
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


def read_values(front: FrontMatter, op: Op) -> Domain:
    """The [values] table; silence is the op's own default."""
    check_keys(front, ("values",), VALUES)
    finite = lookup(front.values, ("values", "finite"))
    if finite is not None and type(finite) is not bool:
        raise front.error(("values", "finite"), "true or false is wanted")
    all_neg_inf = read_word(front, ("values", "all_neg_inf"))
    special = Special(
        all_neg_inf=cast(Literal["nan", "zero"], all_neg_inf or "nan"),
        nan=cast(SpecialRow | None, read_word(front, ("values", "nan"))),
        pos_inf=cast(SpecialRow | None, read_word(front, ("values", "pos_inf"))),
        ties=read_ties(front, op),
    )
    if finite and all_neg_inf is not None:
        raise front.error(("values", "all_neg_inf"), "finite = true leaves -inf out, so such a row is not claimed")
    return Domain(special, bool(finite), read_range(front))


def read_ties(front: FrontMatter, op: Op) -> Ties:
    """Which of equal elements is meant, of an op that answers with places."""
    key = ("values", "ties")
    word = read_word(front, key)
    if word is not None and all(role.is_float for role in op.outputs.values()):
        raise front.error(key, "this op does not answer with places")
    return cast(Ties, word or "any")


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
