"""The answer of a reference itself to a case that its callable is accused of.

The formula that was made of a reference is checked at a few sizes. At other numbers torch may compute in another way:
its attention gives 0 where a score is NaN. If the reference itself is outside its formula there, nothing is known.
"""

from dataclasses import replace

from kfuzz.claims.kernel import Kernel
from kfuzz.claims.references import reference_of
from kfuzz.devices import ClaimError, DeviceError, Job, Probe, PythonCall, Run
from kfuzz.oracle.find import find
from kfuzz.properties.property import RunJob


def runs_of_reference(kernel: Kernel, job: Job, probe: Probe, run_job: RunJob) -> tuple[Run, ...]:
    """One run of the reference in the place of the callable; none if it does not run here."""
    call = job.steps[0].entry
    if not isinstance(call, PythonCall):
        return ()  # the device of a CUDA file runs no Python
    if any(array.reads and array.writes for array in kernel.arrays.values()):
        return ()  # it makes an array of its own and changes none in place
    reference = reference_of(kernel.front, kernel.written.call.reference)
    places = {array.reads: name for name, array in kernel.arrays.items() if array.reads}
    outputs = {array.writes: name for name, array in kernel.arrays.items() if array.writes}
    entry = PythonCall(
        function=reference.name,
        arguments=tuple(places[role] for role in kernel.roles.inputs if role not in find(kernel.op).weights),
        declared=(),
        returns=tuple(outputs[role] for role in kernel.roles.outputs),
        library=call.library,
        language=call.library,
        weights=call.weights,
    )
    step = replace(job.steps[0], entry=entry, args=())
    if call.beside:  # a task hands its data to both
        step = replace(job.steps[0], entry=replace(call, function=reference.name))
    asked = replace(job, path=reference.path, source=reference.source, steps=(step,), earlier=())
    try:
        return run_job(asked, replace(probe, check=False, runs=1, options=())).runs
    except (ClaimError, DeviceError):
        return ()
