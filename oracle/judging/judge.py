"""The verdict: compares an answer with its enclosure, and certifies every accusation by balls before it is made.

Long, since comparing, certifying and describing share an enclosure.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.bounds.rearranged import Loosened, loosest_ends, names_a_way
from kfuzz.oracle.diagnosis.formulas import diagnose
from kfuzz.oracle.diagnosis.pattern import extent, pattern
from kfuzz.oracle.judging.figures import count_unjudged_rows, error_in_ulps, most_ulps
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.judging.inaccurate import claims_of_stable_forms, describe_loss, find_far_elements
from kfuzz.oracle.judging.slices import GRAVEST, MOST_SHOWN, Part, join_tiers, join_verdicts, split_rows
from kfuzz.oracle.numbers.elements import BY_DTYPE, store, values
from kfuzz.oracle.numbers.enclosure import (
    Comparison,
    Doubles,
    Enclosure,
    Floats,
    Index,
    Mask,
    compare,
    is_beyond_others,
    is_outside,
)
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.masks import all_of, any_of
from kfuzz.oracle.numbers.verdict import AnswerKind, Picture, Reason, Special, Status, Tier, Verdict, Why, Worst
from kfuzz.oracle.op.arrays import answer_sizes, check_inputs, check_outputs
from kfuzz.oracle.op.independence import row_axes
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.spelling import in_other_arrays, in_own_arrays


@np.errstate(all="ignore")  # signalling NaNs, infinities and underflow are what is judged here
def judge(
    op: str,
    inputs: Mapping[str, NDArray[Any]],
    got: Mapping[str, NDArray[Any]],
    accuracy: Accuracy | None = None,
    special: Special | None = None,
    scalars: Mapping[str, float | str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Verdict:
    """Judge whether a correct kernel with this accuracy may give this answer: `judge(...).check()` asserts it.

    `inputs` and `got` map the op's roles to arrays: float32, for most ops also float16, float64 and uint16 (the bits of
    bfloat16), and integers where the op has them. `scalars` are the formula's. Ball arithmetic certifies a broken
    verdict. `progress` is called with the share of the answer that has been judged.
    """
    return _judge(op, inputs, got, accuracy or Accuracy(), special or Special(), scalars, progress)


@np.errstate(all="ignore")
def is_kept(
    op: str,
    inputs: Mapping[str, NDArray[Any]],
    got: Mapping[str, NDArray[Any]],
    accuracy: Accuracy,
    special: Special,
    scalars: Mapping[str, float | str] | None = None,
) -> bool:
    """Whether `judge` keeps this answer. It is not diagnosed, which takes most of the time if it is broken."""
    return _judge(op, inputs, got, accuracy, special, scalars, None, is_explained=False).status == "kept"


def _judge(
    op: str, inputs: Mapping[str, NDArray[Any]], got: Mapping[str, NDArray[Any]], accuracy: Accuracy, special: Special,
    scalars: Mapping[str, float | str] | None, progress: Callable[[float], None] | None, is_explained: bool = True,
) -> Verdict:  # fmt: skip
    for value, kind in ((accuracy, Accuracy), (special, Special)):
        if not isinstance(value, kind):
            raise OracleError(f"{kind.__name__.lower()}={value!r}: expected an oracle.{kind.__name__}")
    module = find(op)
    given = check_inputs(op, module, inputs, scalars)
    answers = check_outputs(op, module, given, got, scalars)
    if module.own and module.views:
        own, asked, answered = in_own_arrays(module, given, answers)
        verdict = judge_op(own, asked, answered, accuracy, special, scalars, progress, is_explained)
        return in_other_arrays(module.views[1], verdict, answers)
    return judge_op(module, given, answers, accuracy, special, scalars, progress, is_explained)


def judge_op(
    module: Op, given: Mapping[str, Floats], answers: Mapping[str, Floats], accuracy: Accuracy, special: Special,
    scalars: Mapping[str, float | str] | None, progress: Callable[[float], None] | None, is_explained: bool = True,
) -> Verdict:  # fmt: skip
    """Judge answers in the op's own arrays."""
    if not any(array.size for array in answers.values()):
        return Verdict("not judged", 0.0, 0, (Reason(Why.NO_ELEMENTS),))
    parts: dict[str, list[Part]] = {role: [] for role in module.outputs}
    done = 0
    for rows, asked, answered in split_rows(given, answers, row_axes(module), accuracy.ftz):
        for role, verdict in _judge_rows(module, asked, answered, accuracy, special, scalars, is_explained).items():
            parts[role].append((rows, verdict))
        done += len(rows)
        if progress is not None:
            progress(done / max(1, len(rows), *(array.shape[0] for array in answers.values())))
    return _combine([join_verdicts(of_role, answers[role]) for role, of_role in parts.items()])


def _judge_rows(
    module: Op, asked: Mapping[str, Floats], answered: Mapping[str, Floats], accuracy: Accuracy, special: Special,
    scalars: Mapping[str, float | str] | None, is_explained: bool,
) -> dict[str, Verdict]:  # fmt: skip
    """Judge by the first form that a claim may mean and, if that breaks, by the union of all forms."""
    forms = module.forms_of(accuracy.form)
    for claim in (*([replace(accuracy, form=forms[0])] if len(forms) > 1 else []), accuracy):
        enclosures = enclose_answers(module, asked, answered, claim, special, scalars)
        looks = {role: _look(answered[role], enclosures[role]) for role in module.outputs}
        if all(look.worst is None for look in looks.values()):
            if claim is not accuracy or len(forms) == 1 or not is_explained:
                return {role: look.base for role, look in looks.items()}
            return {
                role: replace(
                    look.base, inaccurate=_judge_stable(module, asked, answered, role, accuracy, special, scalars)
                )
                for role, look in looks.items()
            }
    stored = {role: BY_DTYPE[answered[role].dtype] for role, of in module.outputs.items() if of.is_float}
    given = {
        role: replace(Loosened(*one.loosest), anything=one.anything)
        for role, one in enclosures.items()
        if one.loosest is not None
    }
    is_held = names_a_way(module, accuracy) and not given
    loosest = given or loosest_ends(module, asked, accuracy, scalars or {}, stored) or {}
    for role in [role for role in loosest if looks[role].worst is not None]:
        looks[role] = _look(answered[role], enclosures[role], loosest[role], is_held)
    if not is_explained:
        return {
            role: look.base if look.worst is None else replace(look.base, status=look.status)
            for role, look in looks.items()
        }
    return {role: _explain(module, asked, role, answered[role], enclosures[role], looks[role]) for role in looks}


def _judge_stable(
    module: Op, asked: Mapping[str, Floats], answered: Mapping[str, Floats], role: str, accuracy: Accuracy,
    special: Special, scalars: Mapping[str, float | str] | None,
) -> Verdict | None:  # fmt: skip
    """The verdict on a kept answer as if the stable forms alone were right; None unless it errs far more than these."""
    answer, got = answered[role], values(answered[role])
    stable = (
        (claim.form or "", enclose_answers(module, asked, answered, claim, special, scalars)[role])
        for claim in claims_of_stable_forms(module, accuracy)
    )
    far = find_far_elements(got, stable, BY_DTYPE.get(answer.dtype))
    if far is None:
        return None
    return Verdict(
        "broken", far.times, int(np.count_nonzero(far.enclosure.judged)), far.enclosure.reasons,
        kind="numeric" if np.isfinite(far.times) else "special",
        diagnosis="cancellation", detail=describe_loss(got, far),
        region=pattern(far.mask[far.worst[:-1]]).region if far.mask.size > 1 else "row",
        worst=_describe(role, [far.worst], answer, far.enclosure)[0], extent=extent(far.mask, far.worst),
        picture=_picture(role, answer, far.enclosure, far.mask), tier="arb",
    )  # fmt: skip


def enclose_answers(
    module: Op, given: Mapping[str, Floats], answers: Mapping[str, Floats], accuracy: Accuracy, special: Special,
    scalars: Mapping[str, float | str] | None,
) -> dict[str, Enclosure]:  # fmt: skip
    """Enclose the op's outputs in the formats, and with the dimensions, that the answers have."""
    formats = {role: BY_DTYPE[answers[role].dtype] for role, declared in module.outputs.items() if declared.is_float}
    written = {role: values(answers[role]) for role in module.outputs} if module.has_grid or module.sets else None
    return enclose(module, given, accuracy, special, scalars, formats, answer_sizes(module, answers), written)


def _combine(verdicts: list[Verdict]) -> Verdict:
    """Return the first broken verdict, else a kept one if anything was judged, with the sums over all outputs."""
    first = min(verdicts, key=lambda verdict: GRAVEST.index(verdict.status))
    reasons = tuple(dict.fromkeys(reason for verdict in verdicts for reason in verdict.reasons))
    if len(verdicts) == 1 and reasons == first.reasons:
        return first
    ratio, judged = max(v.ratio for v in verdicts), sum(v.judged for v in verdicts)
    rows = verdicts[0].rows
    return replace(
        first, ratio=ratio, judged=judged, reasons=reasons, tier=join_tiers(first, verdicts), rows=rows,
        unjudged_rows=max(v.unjudged_rows for v in verdicts if v.rows == rows), ulps=most_ulps(verdicts),
        inaccurate=max(
            (v.inaccurate for v in verdicts if v.inaccurate is not None), key=lambda one: one.ratio, default=None
        ),
    )  # fmt: skip


@dataclass(frozen=True)
class ComparedOutput:
    """What is outside its enclosure in one output, before it is diagnosed.

    `base`: the verdict if nothing is. `worst`: the element furthest outside, or that of a clash, with its message in
    `together`; None if nothing is outside. `wrong`: every element outside. `is_beyond_all`: no rearrangement of the
    formula gives it.
    """

    base: Verdict
    status: Status
    got: Doubles
    wrong: Mask
    worst: Index | None
    together: str
    is_beyond_all: bool


def _look(
    answer: Floats, enclosure: Enclosure, loosest: Loosened | None = None, is_held: bool = True
) -> ComparedOutput:
    """Compare one output with its enclosure.

    `loosest`: what any rearrangement may give, if it is known. `is_held`: whether the claim
    names a form, so that other ways are not what it claims.
    """
    got = _numbers(answer, enclosure)
    comparison = compare(got, enclosure)
    status: Status = "broken"
    beyond = np.zeros_like(comparison.broken)
    if loosest is not None and not enclosure.bits:
        is_inside = loosest.allows(got) & (np.isfinite(enclosure.want) | loosest.is_open)
        beyond = comparison.broken & ~is_inside
        if any_of(beyond) and not is_held:  # the other elements are not what it is accused of
            comparison = replace(comparison, broken=beyond, doubtful=np.zeros_like(beyond))
        elif not is_held:
            status = "suspect"
    judged = int(np.count_nonzero(enclosure.judged))
    counts = np.isfinite(comparison.ratio)
    counts = counts if judged == counts.size else counts & enclosure.judged
    ratio = float(
        np.max(comparison.ratio, initial=0.0)
        if all_of(counts)
        else np.max(comparison.ratio, where=counts, initial=0.0)  # ten times as slow
    )
    tier: Tier = "arb" if any_of(comparison.doubtful) else "float64"
    base = Verdict(
        "kept" if judged or not got.size else "not judged", ratio, judged, enclosure.reasons, tier=tier,
        rows=len(got) if got.ndim else 1, unjudged_rows=count_unjudged_rows(enclosure.judged),
        ulps=error_in_ulps(got, enclosure, BY_DTYPE.get(answer.dtype)),
    )  # fmt: skip
    worst = worst_element(got, enclosure, comparison)
    wrong, together = comparison.broken, ""
    if worst is None and enclosure.joint is not None:
        for clash in enclosure.joint(got):
            if enclosure.judged[clash.index] and clash.is_certain():
                worst, together = clash.index, clash.message
                wrong = np.zeros_like(wrong)
                wrong[clash.index[0]] = clash.wrong
                break
    if worst is not None:
        wrong = wrong.copy()
        wrong[worst] = True
    return ComparedOutput(base, status, got, wrong, worst, together, any_of(beyond))


def _explain(
    module: Op, inputs: Mapping[str, Floats], role: str, answer: Floats, enclosure: Enclosure, look: ComparedOutput
) -> Verdict:
    """The verdict on one output: diagnose and describe what is outside."""
    worst, wrong = look.worst, look.wrong
    if worst is None:
        return look.base
    diagnosis = diagnose(module, inputs, role, look.got, enclosure, wrong, worst)
    want, value = float(enclosure.want[worst]), float(look.got[worst])
    kind: AnswerKind = "numeric" if enclosure.bits or (np.isfinite(want) and np.isfinite(value)) else "special"
    return replace(
        look.base,
        status=look.status,
        kind=kind,
        diagnosis=diagnosis.label,
        family=diagnosis.family or diagnosis.label,
        detail="; ".join(part for part in (diagnosis.detail, look.together) if part),
        region=pattern(wrong[worst[:-1]]).region if wrong.size > 1 else "row",
        worst=_describe(role, [worst], answer, enclosure)[0],
        extent=extent(wrong, worst),
        picture=_picture(role, answer, enclosure, wrong),
        tier=enclosure.within_by if is_beyond_others(value, worst, enclosure) else "arb",
        is_beyond_all=look.is_beyond_all,
        is_joint=bool(look.together),
    )


def _numbers(answer: Floats, enclosure: Enclosure) -> Doubles:
    """The numbers to compare: an answer's values, its bit patterns as numbers, or its integers."""
    if enclosure.bits:
        return np.ascontiguousarray(answer).view(np.uint32).astype(np.float64)
    return values(answer)


def worst_element(got: Doubles, enclosure: Enclosure, comparison: Comparison) -> Index | None:
    """The element furthest outside, as certified by balls; doubtful elements come after the clear ones."""
    for mask in (comparison.broken, comparison.doubtful):
        places = np.flatnonzero(mask)
        for place in places[np.argsort(-comparison.ratio.reshape(-1)[places], kind="stable")]:
            index = tuple(int(i) for i in np.unravel_index(place, got.shape))
            if is_outside(float(got[index]), index, enclosure):
                return index
    return None


def _describe(role: str, places: Sequence[Index], answer: Floats, enclosure: Enclosure) -> tuple[Worst, ...]:
    """The elements at these places."""
    at = tuple(np.array(places, dtype=np.intp).reshape(len(places), answer.ndim).T)
    numbers = [np.asarray(array[at], dtype=np.float64) for array in (enclosure.want, enclosure.lo, enclosure.hi)]
    given = np.ascontiguousarray(answer[at])
    element = BY_DTYPE.get(answer.dtype)
    if enclosure.bits:
        want_bits = [f"{int(number):08x}" for number in numbers[0].tolist()]
        numbers = [array.astype(np.uint32).view(np.float32).astype(np.float64) for array in numbers]
    wants, los, his = (array.tolist() for array in numbers)
    if element is None or (element.is_native and not element.is_float):
        got = [int(one) for one in given]
        got_bits = [f"{one & 0xFFFFFFFF:08x}" for one in got]
        want_bits = [f"{int(one) & 0xFFFFFFFF:08x}" if np.isfinite(one) else "" for one in wants]  # no integer is NaN
    else:
        got, got_bits = values(given).tolist(), _bits(given)
        if not enclosure.bits:
            with np.errstate(over="ignore", under="ignore"):
                want_bits = _bits(store(numbers[0], element))
    every = zip(places, got, wants, los, his, got_bits, want_bits, strict=True)
    return tuple(Worst(role, *one) for one in every)


def _picture(role: str, answer: Floats, enclosure: Enclosure, wrong: Mask) -> Picture | None:
    """The whole answer, if it is small enough to read."""
    if answer.size > MOST_SHOWN:
        return None
    places = list(map(tuple, np.argwhere(wrong).tolist()))
    numbers = values(answer)
    return Picture(role, answer.shape, tuple(numbers.ravel().tolist()), _describe(role, places, answer, enclosure))


def _bits(numbers: NDArray[Any]) -> list[str]:
    """The bits of each number in hexadecimal."""
    size = numbers.dtype.itemsize
    raw = numbers.tobytes()
    return [f"{int.from_bytes(raw[i : i + size], 'little'):0{2 * size}x}" for i in range(0, len(raw), size)]
