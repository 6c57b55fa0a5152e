"""The answer of a reference itself to a case that a kernel is accused of.

The formula that was made of a reference is checked at a few sizes. At other numbers torch may compute in another way:
its attention gives 0 where a score is NaN. If the reference itself is outside its formula there, nothing is known.
"""

from collections.abc import Mapping
from dataclasses import replace

from kfuzz.campaign.properties.property import RunJob
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.callables import values_of
from kfuzz.claims.references.running import ReferenceEndsError
from kfuzz.devices import CALLER, ClaimError, DeviceError, Job, Outcome, Probe, PythonCall, Refusal, Run
from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.op.answer_sets import Asked


def as_refused(kernel: Kernel, given: Mapping[str, Reals], outcome: Outcome) -> Outcome:
    """The outcome in which an exception is a refusal, if the reference raises at the same numbers, too."""
    raised = [one for one in outcome.findings if one.kind == "exception"]
    sets = find(kernel.op).sets if kernel.reference and raised else None
    if sets is None:
        return outcome
    try:
        sets(Asked(given, {}, {}, Accuracy(), kernel.special))
    except ReferenceEndsError:
        left = tuple(one for one in outcome.findings if one not in raised)
        return replace(outcome, findings=left, refusal=Refusal(raised[0].message, raised[0].line))
    return outcome


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
    outputs = {array.writes: name for name, array in kernel.arrays.items() if array.writes}
    entry = PythonCall(
        function=reference.name,
        arguments=handed if tuple(filter(kernel.arrays.__contains__, named)) == arguments else arguments,
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
