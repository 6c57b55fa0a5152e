"""The answer of a reference itself to a case that a kernel is accused of.

The formula that was made of a reference is checked at a few sizes. At other numbers torch may compute in another way:
its attention gives 0 where a score is NaN. If the reference itself is outside its formula there, nothing is known.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from kfuzz.campaign.properties.property import RunJob
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.callables import values_of
from kfuzz.claims.references.running import ReferenceEndsError, reused_at
from kfuzz.devices import (
    CALLER,
    ClaimError,
    DeviceError,
    Finding,
    Job,
    Outcome,
    Probe,
    PythonCall,
    Refusal,
    Run,
    has_maker,
)
from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.op.answer_sets import AnswerSet, Asked
from kfuzz.oracle.op.shapes import evaluate


def as_refused(kernel: Kernel, given: Mapping[str, Reals], outcome: Outcome) -> Outcome:
    """The outcome in which an exception or another shape is a refusal if the reference raises at the same numbers, too,
    or its answer has another shape than elsewhere: integers may say how many rows there are.
    """
    outcome = without_reused(kernel, given, outcome)
    doubtful = [one for one in outcome.findings if one.kind in ("exception", "wrong-shape")]
    unwritten = [one for one in outcome.findings if one.kind == "unwritten"]
    op = find(kernel.op)
    if op.sets is None or not (kernel.reference and (doubtful or unwritten)):
        return outcome
    try:
        made = op.sets(Asked(given, {}, {}, Accuracy(), kernel.special))
    except ReferenceEndsError:
        pass
    else:
        outcome = without_unset(kernel, made, outcome)
        sizes = op.sizes_of(given)
        wanted = {name: [evaluate(d, sizes) for d in one.dimensions] for name, one in op.outputs.items()}
        if all(sized(made[name].enclosure.want.shape) == sized(shape) for name, shape in wanted.items()):
            return outcome
        doubtful = [one for one in doubtful if one.kind == "wrong-shape"]
    if not doubtful:
        return outcome
    left = tuple(one for one in outcome.findings if one not in doubtful)
    return replace(outcome, findings=left, refusal=Refusal(doubtful[0].message, doubtful[0].line))


def without_unset(kernel: Kernel, made: Mapping[str, AnswerSet], outcome: Outcome) -> Outcome:
    """The outcome without the findings of elements that the reference leaves unset, too."""

    def is_unset(one: Finding) -> bool:
        role = kernel.arrays[one.array].writes if one.kind == "unwritten" and one.array in kernel.arrays else None
        if role is None or one.index is None:
            return False
        unset = ~made[role].enclosure.judged.reshape(-1)
        return one.index < len(unset) and bool(unset[one.index]) and one.count <= int(unset.sum())

    left = [one for one in outcome.findings if not is_unset(one)]
    return outcome if len(left) == len(outcome.findings) else replace(outcome, findings=tuple(left))


def without_reused(kernel: Kernel, given: Mapping[str, Reals], outcome: Outcome) -> Outcome:
    """The outcome without the findings of inputs that are changed, or returned, if the reference does the same: always,
    or for the numbers of this case.
    """
    if (reference := kernel.reference) is None:
        return outcome
    left = not_usual(kernel, reference.overwrites, reference.shares, outcome.findings)
    if find(kernel.op).sets is not None and any(one.kind in ("input-changed", "aliased") for one in left):
        left = not_usual(kernel, *reused_at(kernel.op, given), left)
    return replace(outcome, findings=left)


def not_usual(
    kernel: Kernel, changed: Collection[str], shared: Collection[str], findings: Sequence[Finding]
) -> tuple[Finding, ...]:
    """The findings without those of these inputs that are changed, and of these outputs that are shared."""
    inputs = {name for name, one in kernel.arrays.items() if one.reads in changed}
    outputs = {name for name, one in kernel.arrays.items() if one.writes in shared}
    usual = {"input-changed": inputs, "aliased": outputs}
    return tuple(one for one in findings if one.array not in usual.get(one.kind, ()))


def sized(shape: Sequence[int]) -> list[int]:
    """A shape without its axes of one element."""
    return [size for size in shape if size != 1]


def runs_of_reference(kernel: Kernel, job: Job, probe: Probe, run_job: RunJob) -> tuple[Run, ...]:
    """One run of the reference in the place of the kernel; none if it does not run here."""
    if any(array.reads and array.writes for array in kernel.arrays.values()):
        return ()  # it makes an array of its own and changes none in place
    reference = kernel.reference
    if reference is None:
        return ()
    call = kernel.launches[0].called
    library = call.library if call else "torch"
    places = {array.reads: name for name, array in kernel.arrays.items() if array.reads}
    arguments = tuple(places[role] for role in kernel.roles.inputs if role not in find(kernel.op).weights)
    handed = kernel.written.call.args or ()  # with the numbers that the reference takes among its tensors
    named = [name for text in handed for name in values_of(text)]
    is_whole = any(map(has_maker, handed))  # kfuzz has written it
    outputs = {array.writes: name for name, array in kernel.arrays.items() if array.writes}
    entry = PythonCall(
        function=reference.name,
        arguments=handed if is_whole or tuple(filter(kernel.arrays.__contains__, named)) == arguments else arguments,
        declared=(),
        returns=tuple(outputs[role] for role in kernel.roles.outputs),
        library=library,
        language=library,
        as_made=True,
        maker=call.maker if call else None,
        weights=call.weights if call else None,
    )
    step = replace(job.steps[0], entry=entry, args=())
    if call and call.beside:  # a task hands its data to both
        step = replace(job.steps[0], entry=replace(call, function=reference.name))
    asked = replace(
        job,
        path=reference.path,
        source=reference.source,
        steps=(step,),
        entries=(step.entry,),
        earlier=(),
        flags=(),
        runner=CALLER,
    )
    try:
        return run_job(asked, replace(probe, check=False, runs=1, options=())).runs
    except (ClaimError, DeviceError):
        return ()
