"""The claims about rounding and special values: the tables [accuracy] and [values].

Knows which statements exclude each other; never what a bound is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

from kfuzz.claims.language import formula_claims
from kfuzz.claims.language.expression import Expression
from kfuzz.claims.language.front_matter import FrontMatter
from kfuzz.claims.language.keys import WrittenAccuracy, WrittenQuantize, WrittenValues
from kfuzz.claims.language.reading import ClaimNames
from kfuzz.claims.language.rounding_values import EXP_MODELS, FAST_FUNCTIONS
from kfuzz.claims.language.text import Said, numbers_of, said_in
from kfuzz.common.printable import one_line, shown_path
from kfuzz.common.text.flags import settings_of
from kfuzz.devices.python.library import Arithmetic
from kfuzz.oracle.accuracy.quantizing import Quantizing
from kfuzz.oracle.accuracy.rounding import (
    EXPF,
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
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import F16, F32, F64, NARROW, Element
from kfuzz.oracle.numbers.tensor_cores import ADDERS
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.names import forms_that_keep, names_of
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.sets.special import NOT_IGNORED, words_for_nan
from kfuzz.oracle.systems.value import QUOTIENT

PRECISE_SUMS = (F32.name, F64.name, "compensated")
"""Modes of accumulation that tensor cores do not have."""


CUDA = Arithmetic()
"""The rounding of a kernel that uses no library."""
MOST_WORKED_OUT = 256
"""Counts of a claim that are kept: adds that follow from a size have as many values as that."""


@dataclass(frozen=True)
class Rounding:
    """The [accuracy] table: two counts that depend on the sizes, and models that do not.

    `read_off`: values taken from the text because the claim leaves them out; `doubts`: where the claim allows less
    than the text.
    """

    adds: formula_claims.ClaimedCounts
    rescales: formula_claims.ClaimedCounts
    models: Accuracy
    flags: tuple[str, ...]
    read_off: tuple[Said, ...] = ()
    doubts: tuple[str, ...] = ()

    @cached_property
    def worked_out(self) -> dict[tuple[int | None, int | None], Accuracy]:
        """The accuracy by its counts, since every trial asks for it, and most with the same counts."""
        return {}


@dataclass(frozen=True)
class Domain:
    """The [values] table: `range` bounds every finite value; -inf stays claimed unless `finite`."""

    special: Special
    finite: bool = False
    range: tuple[float, float] | None = None


def read_accumulators(
    front: FrontMatter, written: str | Mapping[str, str] | None, op: Op
) -> tuple[str | None, dict[str, str]]:
    """The accumulator of all sums but some, if the claim says it, and those of the others by name."""
    if written is None or isinstance(written, str):
        return written, {}
    formula_claims.check_names_known(front, ("accuracy", "accumulate"), written, (*names_of(op).sums, "*"), "sum")
    return written.get("*"), {name: word for name, word in written.items() if name != "*"}


def read_rounding(
    front: FrontMatter, written: WrittenAccuracy, op: Op, names: ClaimNames, elements: Iterable[Element],
    quantizing: Quantizing, rounds: tuple[str, ...] = (), usual: Arithmetic = CUDA,
) -> Rounding:  # fmt: skip
    """The [accuracy] table; a missing value comes from the text if it is plain there, else is the loosest sound one.

    `usual`: the rounding of the library that a Python file uses.
    """
    known = names_of(op)
    accumulate, accumulators = read_accumulators(front, written.accumulate, op)
    if written.promote is not None and accumulate not in ADDERS:
        wanted = " or ".join(f'accumulate = "{word}"' for word in ADDERS)
        raise front.error(("accuracy", "promote"), f"only sums by {wanted} are promoted")
    text = said_in(front.source, front.language.facts, set(filter(None, op.seldom.values())))
    from_text = ("-use_fast_math",) if "flags" in text else ()
    flags = from_text if written.flags is None else written.flags
    settings = settings_of(flags)
    has_fast_divide = settings.get("prec-div", "true") == "false"
    kept = formula_claims.read_kept(front, written.keep, known.narrow_values)
    form = formula_claims.read_form(front, written.form, op)
    check_rounds(front, rounds, written.keep, op, form)
    narrow = max(
        (one for one in elements if one.name in NARROW and not one.is_narrow), key=lambda one: one.u, default=None
    )
    if narrow is not None and not kept:
        kept = {name: narrow.name for name in op.steps if name in known.narrow_values}
    usual_models = {name: FunctionModel(*usual.functions[name]) for name in known.functions if name in usual.functions}
    if "use_fast_math" in settings:
        usual_models |= {name: FAST_FUNCTIONS[name] for name in known.functions if name in FAST_FUNCTIONS}
    is_flushed = usual.ftz or (narrow is not None and narrow.name in usual.flushed)
    models = Accuracy(
        exp=exp_of(front, written.exp, "use_fast_math" in settings, text, usual_exp(usual)),
        divide=divide_of(front, written.divide, has_fast_divide, text, cast(Divide, usual.divide)),
        accumulate=accumulate or value_of(text, "accumulate", F32.name),
        accumulators=accumulators,
        atomics=written.atomics or cast(Atomics, value_of(text, "atomics", "none")),
        additions=written.additions or cast(RoundedSums, value_of(text, "additions", "nearest")),
        denominator=written.denominator or cast(Denominator, usual.denominator),
        shift=shift_of(front, op, written),
        shift_slack=written.shift_slack,
        ftz=settings.get("ftz", "false") == "true" or (is_flushed and "ftz" not in settings),
        form=form or (text["form"].value if "form" in text else None),
        operand=written.operand,
        promote=written.promote,
        keep=kept,
        functions=usual_models | formula_claims.read_models(front, written.functions, known.functions),
        shared=formula_claims.read_shared(front, written.shared, tuple(known.sums)),
        quantize=quantizing,
        rounds=rounds,
    )
    adds = formula_claims.read_counts(front, "adds", written.adds, op, names)
    rescales = formula_claims.read_counts(front, "rescales", written.rescales, op, names)
    silent = tuple(said for said in text.values() if written.statement(said.key) is None)
    doubts = tuple(one for said in text.values() if (one := contradiction(front, written.statement(said.key), said)))
    return Rounding(adds, rescales, models, flags, silent, doubts)


def check_rounds(
    front: FrontMatter, rounds: tuple[str, ...], keep: Mapping[str, str], op: Op, form: str | None
) -> None:
    """Check that each value that must be rounded has its format in `keep`, and that a form has all of them."""
    for name in rounds:
        if name not in keep or NARROW[keep[name]].is_narrow:
            raise front.error(("claims", "rounds"), f'write its format, too: [accuracy] keep = {{ {name} = "bf16" }}')
    if not forms_that_keep(op, rounds, op.forms_of(form)):
        raise front.error(("claims", "rounds"), f"no kernel of the form {form} has {' and '.join(rounds)}")


def value_of(text: Mapping[str, Said], key: str, otherwise: str) -> str:
    """The word that the text implies for a key."""
    return text[key].value if key in text else otherwise


def contradiction(front: FrontMatter, claimed: object, said: Said) -> str:
    """One line that says how the claim allows less than the text; empty if it does not."""
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


def exp_of(
    front: FrontMatter, written: str | ExpModel | None, is_fast: bool, text: Mapping[str, Said], usual: ExpModel
) -> ExpModel:
    """The model of an exp: from the claim, else from the text, else the usual one."""
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
    """The model that the text implies; with -use_fast_math, powf and exp10f err by up to 5 u more of t."""
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
    """How a row is divided by its sum: from the claim, else the loosest way that flags, text and language allow."""
    is_fast = "divide" in text and text["divide"].value == "fast reciprocal"
    found = written or ("fast reciprocal" if has_fast_divide or is_fast else usual)
    if has_fast_divide and "fast" not in found:
        wanted = 'write "fast" for e / s, "fast reciprocal" for e * (1 / s), or leave it out'
        raise front.error(("accuracy", "divide"), f"the flags make every division a fast one; {wanted}")
    return cast(Divide, found)


def shift_of(front: FrontMatter, op: Op, written: WrittenAccuracy) -> Shift:
    """The number subtracted before an exp; refuses keys that contradict it."""
    key = ("accuracy", "shift")
    shift = written.shift or "any"
    if shift != "any" and written.shift_slack:
        raise front.error(key, f'with "{shift}" there is no shift_slack; leave one of the two out')
    if shift == "zero" and (op.own or op) is not find("softmax"):
        raise front.error(key, '"zero" is for softmax alone; a (max, sum) state is relative to its maximum')
    if shift == "zero" and written.rescales not in (None, "0"):
        raise front.error(key, '"zero" is never rescaled; rescales is 0, or left out')
    return shift


def read_quantizing(front: FrontMatter, written: WrittenQuantize, op: Op) -> Quantizing:
    """The [quantize] table; a missing key has the loosest sound value."""
    if written != WrittenQuantize() and QUOTIENT not in names_of(op).narrow_values:
        raise front.error(("quantize",), f"{op.name} rounds to no grid, so that nothing is quantized")
    return Quantizing(**{**vars(written), "round": written.round or "even"})


def read_values(front: FrontMatter, written: WrittenValues, op: Op) -> Domain:
    """The [values] table; a missing key has the op's own default."""
    if written.ties is not None and all(role.is_float for role in op.outputs.values()):
        raise front.error(("values", "ties"), "this op does not answer with places")
    if written.finite and written.all_neg_inf is not None:
        raise front.error(("values", "all_neg_inf"), "finite = true leaves -inf out, so such a row is not claimed")
    if written.nan is not None and written.nan not in words_for_nan(op):
        raise front.error(("values", "nan"), f"{' or '.join(words_for_nan(op))} is expected; {NOT_IGNORED}")
    special = Special(
        all_neg_inf=written.all_neg_inf,
        nan=written.nan,
        pos_inf=written.pos_inf,
        ties=written.ties or ("first" if op.special.get("ties") == "first" else "any"),
    )
    return Domain(special, written.finite, written.range)


def accuracy_for(rounding: Rounding, sizes: Mapping[str, int]) -> Accuracy:
    """The claim's accuracy with its counts evaluated at these sizes."""
    adds, rescales = worked_out(rounding.adds, sizes), worked_out(rounding.rescales, sizes)
    if isinstance(adds, dict) or isinstance(rescales, dict):
        return replace(rounding.models, adds=adds, rescales=rescales)
    known = rounding.worked_out.get((adds, rescales))
    if known is None:
        if len(rounding.worked_out) >= MOST_WORKED_OUT:
            rounding.worked_out.clear()
        known = rounding.worked_out[adds, rescales] = replace(rounding.models, adds=adds, rescales=rescales)
    return known


def worked_out(counts: formula_claims.ClaimedCounts, sizes: Mapping[str, int]) -> int | dict[str, int | None] | None:
    """Counts at these sizes."""
    if counts is None:
        return None
    if isinstance(counts, Expression):
        return counts(sizes)
    return {name: count(sizes) for name, count in counts.items()}
