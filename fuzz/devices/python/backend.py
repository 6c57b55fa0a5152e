"""Runs jobs of Python callables, inside a worker process: the only process that imports their files.

It has neither a reference nor a verdict, so there is none for a callable to find. Which runs there are, and what their
differences mean, is as for a kernel on a gpu (gpu/experiments.py).
"""

import importlib
import os
import resource
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import DTYPES, ClaimError, Finding, Job, Outcome, Probe, PythonCall, Run
from kfuzz.devices.comparing import bits
from kfuzz.devices.gpu.experiments import NOTHING, Fault, Returned, examined
from kfuzz.devices.kinds import Kind
from kfuzz.devices.layout import Arrangement, Bytes, Place, plans
from kfuzz.devices.python.arena import HostArena
from kfuzz.devices.python.calling import Caller, RefusedError
from kfuzz.devices.python.lending import lender_of
from kfuzz.devices.python.loading import Modules
from kfuzz.devices.python.probes import DECOYS, PRELUDE, WORDS, DecoyForm, Strided, decoy_of, has_prelude, same_bits

BY_DECOYS: frozenset[Kind] = frozenset({"nondeterministic", "uninitialised"})
"""What runs that remember another call seem to show."""
NEAR = 2.0**-7
"""Relative: a thousand times as far as the inputs are apart."""
NamedArrays = dict[str, NDArray[np.generic]]


@dataclass(frozen=True)
class Before:
    """The call before one that counts: in which way its input was another, and what it left in the outputs."""

    form: DecoyForm
    outputs: NamedArrays


class PythonBackend:
    """The modules and the memory of this process."""

    def __init__(self) -> None:
        self.is_spent = False
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.environ["TRITON_INTERPRET"] = "1"  # before torch imports Triton, which asks for it then
        warnings.simplefilter("ignore")  # infinities are tried on purpose, and a library warns of each
        self._arena = HostArena()
        self._modules = Modules()

    def close(self) -> None:
        """Nothing outlives the process."""

    def run(self, job: Job, probe: Probe, begin: Callable[[str], None]) -> Outcome:
        """Call as often as the probe says; what comes before the first call is not of the job's time."""
        call = job.steps[0].entry
        assert isinstance(call, PythonCall), "other jobs go to other devices"
        lender = lender_of(call.library)
        if call.is_triton:
            checked_triton()  # before the file makes its kernels
        function = self._modules.function(job, call.function)
        # What it returns is put where it would lie if it were handed over: the same is looked at then.
        job = replace(job, buffers=tuple(replace(buffer, is_returned=False) for buffer in job.buffers))
        caller = Caller(job, call, function, lender, self._arena.holds)
        bench = Bench(caller, self._arena, probe, begin)
        try:
            outcome = examined(job, probe, bench)
        except RefusedError as error:
            return Outcome(refusal=str(error))
        except MemoryError:
            message = "too large for this machine as it is now"
            return Outcome(findings=(Finding("out-of-memory", message, severity="warning"),))
        except Fault as fault:
            return Outcome(findings=(fault.finding, *caller.findings))
        runs = bench.with_echoes(outcome.runs)
        findings = (*caller.findings, *outcome.findings)
        if any(run.stale for run in runs):
            findings = tuple(one for one in findings if one.kind not in BY_DECOYS)
        return replace(outcome, runs=runs, findings=findings)


class Bench:
    """Where a job is called: memory is laid out as for a launch, with other calls before the one that counts."""

    def __init__(self, caller: Caller, arena: HostArena, probe: Probe, begin: Callable[[str], None]) -> None:
        self.caller, self._arena, self._begin = caller, arena, begin
        self._seed = probe.seed
        self._planned = len(plans(caller.job, max(probe.runs, 2), probe.seed))
        self._sent = np.empty(0, np.uint8)
        self._echoes: list[str] = []
        self._near: NamedArrays = {}

    def image(self, nbytes: int) -> Bytes:
        """Memory for an image of so many bytes."""
        if len(self._sent) < nbytes:
            self._sent = np.empty(nbytes, np.uint8)
        return self._sent[:nbytes]

    def returned(self) -> Returned:
        """Nothing: what a callable returns is written into its outputs."""
        return NOTHING

    def launch(self, job: Job, plan: Arrangement, where: Sequence[Place], image: Bytes, steps: int) -> Bytes:
        """Copy an image to where nothing lies beside it, call, and give back what memory holds then."""
        self._begin("running")
        memory = self._arena.room(len(image), plan.at_end)
        memory[:] = image
        views = {
            job.buffers[place.buffer].name: memory[place.start : place.stop]
            .view(DTYPES[job.buffers[place.buffer].element])
            .reshape(job.buffers[place.buffer].shape)
            for place in where
        }
        number = len(self._echoes)
        before = self._before(job, image, memory, views, number) if number < self._planned else None
        memory[:] = image
        returned = self._answers(job, views, plan)
        outputs = outputs_of(job, views, returned)
        self._echoes.append(echo_of(outputs, before))
        if before is not None and before.form == "near":
            self._near = before.outputs
        back = memory.copy()
        for place in where:
            buffer = job.buffers[place.buffer]
            if buffer.name in returned:
                held = back[place.start : place.stop].view(DTYPES[buffer.element])
                held[: prod(buffer.answer)] = returned[buffer.name].reshape(-1)
        return back

    def _answers(self, job: Job, views: NamedArrays, plan: Arrangement) -> NamedArrays:
        """One call that counts: what it allocates is watched, its inputs may be strided."""
        call = self.caller.call
        strided: dict[str, Strided] = {}
        if call.any_strides and self._seed % 3:
            strided = {
                buffer.name: Strided(views[buffer.name], plan.word, self._seed)
                for buffer in job.buffers
                if buffer.content is not None and not buffer.is_output
            }
        handed = {name: view for name, view in views.items() if name not in call.returns}
        handed |= {name: one.array for name, one in strided.items()}
        with self.caller.lender.watched(plan.word) as allocations, self._programs(self.caller, handed, plan.word):
            answers = self.caller.answers(handed, self._sizes(job))
        self.caller.findings += [one for one in allocations.findings() if one.array not in self._known()]
        for name, one in strided.items():
            views[name][...] = one.array
            if (found := one.found(name)) is not None and name not in self._known():
                self.caller.findings.append(found)
        return answers

    @contextmanager
    def _programs(self, caller: Caller, handed: NamedArrays, word: int) -> Iterator[None]:
        """Have the programs of Triton kernels looked at, where the callable has any: none then leaves its arrays."""
        if not caller.call.is_triton:
            yield
            return
        triton = checked_triton()
        names = {array.ctypes.data: name for name, array in handed.items()}
        programs = triton.Programs(names, word, str(caller.job.path.resolve()))
        with triton.WATCH.looking(programs):
            yield
        seen = {(one.kind, one.line, one.array) for one in caller.findings}
        caller.findings += [one for one in programs.findings if (one.kind, one.line, one.array) not in seen]

    def _before(self, job: Job, image: Bytes, memory: Bytes, views: NamedArrays, number: int) -> Before | None:
        """Another input at the same addresses first, and of some trials many times; None where there is no other."""
        form = DECOYS[number % len(DECOYS)]
        decoys = {one.name: decoy_of(one, form) for one in job.buffers if one.content is not None}
        if all(same_bits(views[name], decoy) for name, decoy in decoys.items()):
            return None
        memory[:] = image
        for name, decoy in decoys.items():
            views[name][...] = decoy
        handed = {name: view for name, view in views.items() if name not in self.caller.call.returns}
        elements = sum(prod(buffer.shape) for buffer in job.buffers)
        is_slow = self.caller.call.is_triton  # under an interpreter
        again = PRELUDE if number == 0 and not is_slow and has_prelude(self._seed, elements) else 0
        quiet = replace(self.caller, findings=[], earlier=[])
        returned: NamedArrays = {}
        try:
            for _ in range(1 + again):
                with self._programs(quiet, handed, 0):
                    returned = quiet.answers(handed, self._sizes(job))
        except (Fault, RefusedError):
            return None  # nobody claims this input; the one that counts comes next
        self.caller.look_at_earlier(self.caller.earlier)
        return Before(form, outputs_of(job, views, returned))

    def with_echoes(self, runs: tuple[Run, ...]) -> tuple[Run, ...]:
        """The runs, of which those that only repeat the call before say so.

        A sum of elements in reverse is rightly the same. So a repetition counts where another input before has led to
        another answer, where all inputs have the same one, or where nearly the same input has one that is not near. It
        only gives a wrong answer its name: nothing is wrong for it.
        """
        first = runs[0].outputs if runs else {}
        differ = any(not same_bits(run.outputs[name], first[name]) for run in runs[1:] for name in first)
        echoes = self._echoes[: len(runs)]
        is_fixed = len(echoes) > 1 and all(echoes) and not all(map(is_uniform, first.values()))
        if not (differ or is_fixed or is_far(first, self._near)):
            return runs
        return tuple(replace(run, stale=echo) for run, echo in zip(runs, echoes, strict=False))

    def _known(self) -> set[str | None]:
        return {one.array for one in self.caller.findings if one.kind == "out-of-bounds"}

    def _sizes(self, job: Job) -> dict[str, int]:
        step = job.steps[0]
        names = self.caller.call.declared
        return {name: value for name, value in zip(names, step.args, strict=True) if isinstance(value, int)}


def checked_triton() -> ModuleType:
    """Triton's interpreter, looked at; a ClaimError where Triton is not installed."""
    try:
        return importlib.import_module("kfuzz.devices.python.libraries.triton_programs")
    except ModuleNotFoundError as error:
        raise ClaimError(f"{error.name} is not installed: pip install 'kfuzz[triton]'") from None


def outputs_of(job: Job, views: NamedArrays, returned: NamedArrays) -> NamedArrays:
    """What a call left in the outputs that it was handed, and what it returned."""
    return {
        one.name: returned[one.name] if one.name in returned else views[one.name].copy()
        for one in job.buffers
        if one.is_output
    }


def echo_of(outputs: NamedArrays, before: Before | None) -> str:
    """In words, that an answer is the one of the call before; which by itself is no more than odd."""
    if before is None:
        return ""
    is_same = all(same_bits(one.reshape(-1), before.outputs[name].reshape(-1)) for name, one in outputs.items())
    return f"the answer to an input {WORDS[before.form]}, which was asked for just before" if is_same else ""


def is_far(outputs: NamedArrays, near: NamedArrays) -> bool:
    """Whether an answer is another than that to nearly the same input, by more than the inputs differ."""
    for name, other in near.items():
        if not np.issubdtype(other.dtype, np.floating):
            continue
        one, two = outputs[name].reshape(-1).astype(np.float64), other.reshape(-1).astype(np.float64)
        with np.errstate(all="ignore"):
            if (np.abs(one - two) > NEAR * np.maximum(np.abs(one), np.abs(two))).any():
                return True
    return False


def is_uniform(array: NDArray[np.generic]) -> bool:
    """Whether all elements are one value, which says nothing of where it comes from."""
    every = bits(array)
    return not every.size or bool((every == every[0]).all())


def backend() -> PythonBackend:
    """What `python -m kfuzz.devices.worker kfuzz.devices.python.backend` serves."""
    return PythonBackend()
