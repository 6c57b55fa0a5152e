"""Runs jobs of Python callables, inside a worker process: the only process that imports their files.

It has neither a reference nor a verdict, so a callable cannot find one. devices/memory/repeats.py decides on the
runs and on what their differences mean, as for a kernel on a GPU.
Long, since one process prepares, makes and checks a call.
"""

import importlib
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.common.text.cuda_in_python import builds_cuda
from kfuzz.common.text.python_strings import device_code_in
from kfuzz.devices import (
    Decoy,
    Finding,
    Job,
    OtherLibraryError,
    Outcome,
    OutOfMemory,
    Probe,
    PythonCall,
    Refusal,
    Run,
    Untried,
    called_first,
)
from kfuzz.devices.capture import CaptureOptions
from kfuzz.devices.counted_calls import CountOptions
from kfuzz.devices.cpu.ptx.products import operand_in_cuda
from kfuzz.devices.gpu import far
from kfuzz.devices.memory import machine_memory
from kfuzz.devices.memory.comparing import bits
from kfuzz.devices.memory.far import FarOptions
from kfuzz.devices.memory.layout import POISONS, Arrangement, Bytes, Place, plans
from kfuzz.devices.memory.repeats import Fault, PaintedRun, PlannedRun, RunResult, examine
from kfuzz.devices.only_launches import LaunchOptions
from kfuzz.devices.python.arena import HostArena
from kfuzz.devices.python.calling import Caller, GpuSeen, NamedArrays, NamedViews, RefusedError
from kfuzz.devices.python.capturing import examine_captured
from kfuzz.devices.python.extensions import CALLS
from kfuzz.devices.python.gpu_memory import GpuArena, GpuView
from kfuzz.devices.python.imitated_gpu import B200, BY_TARGET, GPU, AsksForB200Error
from kfuzz.devices.python.late_input import LateInput
from kfuzz.devices.python.lending import ORDINARY, FieldLender
from kfuzz.devices.python.lent_memory import Memory, Stretch
from kfuzz.devices.python.libraries import libraries
from kfuzz.devices.python.loading import (
    Modules,
    OtherSizesError,
    OtherWeightsError,
    forget_modules_beside,
    modules_apart,
)
from kfuzz.devices.python.opening import open_compiler, open_lender
from kfuzz.devices.python.options import CallableOptions
from kfuzz.devices.python.other_sizes import call_other_sizes, sizes_of
from kfuzz.devices.python.probes import (
    Strided,
    begins_at_once,
    decoy_of,
    form_of_decoy,
    has_late_input,
    has_ordinary_memory,
    has_prelude,
    is_other_answer,
    prelude_of,
    same_bits,
)
from kfuzz.kinds import Severity, kinds_with
from kfuzz.oracle.numbers.elements import TF32, values

IMITATED_BY_STATE = kinds_with("imitated-by-state")
REPEATS = 0.1
"""The part of a run's time in which its call is repeated: hundreds of calls, of which each may be the wrong one."""
PRELUDE_SECONDS = 5.0
"""So long the calls before the one that counts go on, by the processor's time: a slow one is called less often."""
FICKLE = 0.5
"""Seconds for repeats where two calls with another input have given different answers."""
NEAR = 2.0**-7
"""Relative: about a thousand times the distance of the inputs."""


@dataclass(frozen=True)
class EarlierInput:
    """The call before one that counts: in which way its input was another, that, and what it left in the outputs."""

    form: Decoy
    inputs: NamedArrays
    outputs: NamedArrays


@dataclass
class ImportedFiles:
    """The files that a process has imported: what was found meanwhile, and whether a call of one has ended."""

    modules: Modules
    at_import: dict[tuple[Path, str], tuple[Finding, ...]] = field(default_factory=dict)
    have_answered: bool = False
    beside: dict[str, ModuleType] = field(default_factory=dict)
    """What they have imported, while it is not in use."""


class PythonBackend:
    """The modules and the memory of this process. `imitates`: a file of torch sees a GPU, although there is none."""

    def __init__(self, memory: Memory, guard_all: bool = False, imitates: bool = False) -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        self._most_bytes = machine_memory.limit_memory()
        warnings.simplefilter("ignore")  # kfuzz tries infinities on purpose, and a library warns of each
        self._memory, self._guard_all, self._imitates = memory, guard_all, imitates
        self._host = HostArena() if memory.on_gpu else memory
        self._files = ImportedFiles(Modules(memory.on_gpu))
        self._apart_files: dict[str, ImportedFiles] = {}
        """Those of jobs for a target of their own, by its name."""

    @property
    def is_spent(self) -> bool:
        """Whether a kernel has ended the GPU's context."""
        return self._memory.is_spent

    def close(self) -> None:
        """Nothing outlives the process."""

    def run(self, job: Job, probe: Probe, begin: Callable[[str], None]) -> Outcome:
        """Call as often as the probe asks; work before the first call does not count as the job's time."""
        try:
            if job.through:
                with self._apart(job.through):
                    return self._run(job, probe, begin)
            return self._run_on_asked_gpu(job, probe, begin)
        except AsksForB200Error:  # it does not run on the GPU of this target
            return Outcome()
        except (MemoryError, OutOfMemory):
            message = "too large for this machine as it is now"
            if self._most_bytes is not None and not self._memory.on_gpu:
                message = (
                    f"it needs more than {self._most_bytes / (1 << 30):.1f} GiB, its share of this machine's memory"
                )
            return Outcome(findings=(Finding("out-of-memory", message, severity="warning"),))

    @contextmanager
    def _apart(self, target: str) -> Iterator[None]:
        """Imitate a target's GPU meanwhile, with files that are imported by themselves: what they ask of it then, and
        what they remember, is not that of other calls.
        """
        usual = self._files
        self._files = self._apart_files.setdefault(target, ImportedFiles(Modules(self._memory.on_gpu)))
        capability = GPU.capability
        GPU.become(BY_TARGET[target])
        try:
            with modules_apart(self._files.beside):
                yield
        finally:
            GPU.become(capability)
            self._files = usual

    def _run_on_asked_gpu(self, job: Job, probe: Probe, begin: Callable[[str], None]) -> Outcome:
        """Do it all again if the file asks for another GPU than the one that is imitated."""
        try:
            return self._run(job, probe, begin)
        except AsksForB200Error:
            GPU.become(B200)
            forget_modules_beside()  # they may have asked which GPU there is
            self._files.modules = Modules(self._memory.on_gpu)
            return self._run(job, probe, begin)

    def _run(self, job: Job, probe: Probe, begin: Callable[[str], None]) -> Outcome:
        call = called_first([step.entry for step in job.steps])
        memory = self._host if libraries()[call.library].in_host else self._memory
        lender = open_lender(call.library, memory.on_gpu, self._guard_all)
        has_programs = runs_programs(call) and open_compiler(call.language, memory.on_gpu)
        imitates = self._imitates or has_programs or builds_cuda(job.source)
        extensions = (
            torch_without_gpu() if imitates and not memory.on_gpu and libraries()[call.library].imitates_gpu else None
        )
        as_on_gpu = extensions.as_on_gpu(job.path) if extensions else nullcontext()
        with as_on_gpu, self._watch_import(job, probe, has_programs):
            try:
                given = self._files.modules.given(job, call)
                function = self._files.modules.function(job, call)
            except (OtherSizesError, OtherWeightsError) as error:
                return Outcome(refusal=Refusal(str(error), is_of_weights=isinstance(error, OtherWeightsError)))
        if extensions:
            function = extensions.call_as_on_gpu(function, job.path)
        elif has_programs:
            function = raise_trouble(function)
        # kfuzz puts a returned array where a passed one would be, so that the same checks apply.
        job = replace(job, buffers=tuple(replace(buffer, is_returned=False) for buffer in job.buffers))
        gpu: GpuSeen = "real" if self._memory.on_gpu else "imitated" if extensions else "missing"
        caller = Caller(job, call, function, lender, memory, gpu, given)
        caller.findings += self._files.at_import.get((job.path, job.source), ())
        caller.has_answered = self._files.have_answered
        if probe.option(FarOptions).is_far:
            return examine_far(caller, probe)
        if probe.option(LaunchOptions).only_launches:
            return examine_launches(caller, probe) if extensions and caller.has_answered else Outcome()
        if probe.option(CountOptions).is_counted:
            return count_launches(caller, probe)
        if probe.option(CaptureOptions).is_captured:
            return examine_captured(caller, probe)
        bench, CALLS.has_seen = Bench(caller, memory, probe, begin, has_programs), False
        if not memory.on_gpu:  # there a kernel is only seen when it is loaded
            CALLS.operand, CALLS.targets = "", {}
        try:
            outcome = examine(job, probe, bench)
            self._files.have_answered = True
        except RefusedError as error:
            return Outcome(refusal=error.refusal)
        except Fault as fault:
            return Outcome(findings=(fault.finding, *caller.findings), ended=self.is_spent)
        runs = bench.mark_echoes(outcome.runs)
        findings = (*caller.findings, *outcome.findings)
        if CALLS.has_seen or any(run.stale for run in runs):
            findings = tuple(one for one in findings if one.line or one.kind not in IMITATED_BY_STATE)  # by an access
        outcome = replace(outcome, runs=runs, findings=findings, operand=CALLS.operand or self._operand_on_gpu(job))
        if len(CALLS.targets) == 1:
            ((target, others),) = CALLS.targets.items()
            outcome = replace(outcome, through=target, other_ways=others)
        return outcome

    def _operand_on_gpu(self, job: Job) -> str:
        """The format to which torch rounds operands of float32 products, or CUDA in the file's strings; empty without a
        GPU, where the cpu device says it of each launch.
        """
        if not self._memory.on_gpu:
            return ""
        return operand_of_torch() or operand_in_cuda(device_code_in(job.source))

    @contextmanager
    def _watch_import(self, job: Job, probe: Probe, has_programs: bool) -> Iterator[None]:
        """Watch the kernels that a file launches while it is imported: a test of its own, say.

        They run on other arrays than the claim's, so what they do is a warning, in each trial of the file.
        """
        if not has_programs:
            yield
            return
        CALLS.file = job.path
        with CALLS.watch(probe, POISONS[0], 0) as findings:
            yield
        if findings:
            self._files.at_import[job.path, job.source] = tuple(
                replace(one, severity="warning", message=f"while the file is imported, {one.message}")
                for one in findings
            )


def runs_programs(call: PythonCall) -> bool:
    """Whether the cpu device may run what a callable launches: its language compiles, whosever arrays it takes."""
    return call.language != call.library or libraries()[call.language].run_without_gpu is not None


def raise_trouble(function: Callable[..., Any]) -> Callable[..., Any]:
    """A callable that raises what its launches could not do, even if the callable has caught it."""

    def called(*args: object, **named: object) -> object:
        try:
            return function(*args, **named)
        finally:
            if CALLS.trouble is not None:
                raise CALLS.trouble

    return called


class Bench:
    """Makes the calls of a job: with memory laid out as for a launch, and other calls before the one that counts."""

    def __init__(
        self,
        caller: Caller,
        memory: Memory,
        probe: Probe,
        begin: Callable[[str], None],
        has_programs: bool = False,
    ) -> None:
        self._has_programs = has_programs
        """Its kernels are compiled for each size, and the cpu device runs them: few calls must do."""
        self.caller, self._memory, self._begin = caller, memory, begin
        self._probe, self._seed = probe, probe.seed
        is_second = probe.option(CallableOptions).is_second
        self._planned = 0 if is_second else len(plans(caller.job, max(probe.runs, 2), probe.seed))
        self._sent = np.empty(0, np.uint8)
        self._echoes: list[Decoy | None] = []
        self._began = time.perf_counter()
        self._is_fickle = False
        """Two calls with one input have given different answers."""
        self._near: NamedArrays = {}

    def images(self, runs: Sequence[PlannedRun]) -> list[Bytes]:
        """Memory for the first image: calls come one by one."""
        size = runs[0].size
        if len(self._sent) < size:
            self._sent = np.empty(size, np.uint8)
        return [self._sent[:size]]

    def launch(self, laid: Sequence[PaintedRun]) -> list[RunResult]:
        """Copy an image to memory with nothing beside it, call, and return the memory's content after the call."""
        return [RunResult(self._call(one.run.job, one.run.plan, one.run.where, one.image)) for one in laid]

    def _call(self, job: Job, plan: Arrangement, where: Sequence[Place], image: Bytes) -> Bytes:
        self._begin("running")
        memory = self._memory.room(len(image), plan.at_end)
        named = {job.buffers[place.buffer].name: place for place in where}
        views = {name: memory.view(array_of(job, place, image), place.start) for name, place in named.items()}
        number = len(self._echoes)
        if plan.after_calls and self._planned and not self._has_programs:
            call_other_sizes(self.caller, job, plan.word, lambda quiet: self._extensions(quiet, 0))
        has_decoy = number < self._planned and (number > 0 or not begins_at_once(self._seed))
        before = self._call_with_decoy(job, image, memory, views, number) if has_decoy else None
        memory.write(image)
        returned = self._answers(job, views, plan)
        outputs = outputs_of(job, views, returned)
        back = memory.read()
        if number == 1 and not self._has_programs and not CALLS.has_seen and has_ordinary_memory(self._seed):
            memory.write(image)
            again = self._answers(job, views, replace(plan, word=ORDINARY))
            made = outputs_of(job, views, again)
            if is_other_answer(outputs, made, plan.word):
                returned, outputs, back = again, made, memory.read()
        if number == self._planned - 1 and returned and same_bits(back[: len(image)], image):
            again = self._repeat(views, returned)
            made = outputs_of(job, views, again or returned)
            if is_other_answer(outputs, made, plan.word):
                returned, outputs, back = again, made, memory.read()
        if before is not None and number == 0 and isinstance(self._memory, GpuArena) and has_late_input(self._seed):
            late = [(views[name], image[one.start : one.stop]) for name, one in named.items() if name in before.inputs]
            seconds = self.caller.settled_after
            self._call_too_early(self._memory.delay_input(late, seconds), views, before, outputs)
        self._echoes.append(echo_of(outputs, before))
        if before is not None and before.form is Decoy.NEAR:
            self._near = before.outputs
        for place in where:
            buffer = job.buffers[place.buffer]
            if buffer.name in returned:
                held = back[place.start : place.stop].view(buffer.element.dtype)
                held[: prod(buffer.answer)] = returned[buffer.name].reshape(-1)
        return back

    def _answers(self, job: Job, views: NamedViews, plan: Arrangement) -> NamedArrays:
        """Make a call that counts: its allocations are watched, and its inputs may be strided."""
        call = self.caller.call
        strided: dict[str, Strided] = {}
        if call.any_strides and self._seed % 3:
            strided = {
                buffer.name: Strided(views[buffer.name].read(), plan.word, self._seed, self._memory)
                for buffer in job.buffers
                if buffer.content is not None and not buffer.is_output
            }
        handed = {name: view for name, view in views.items() if name not in call.returns}
        handed |= {name: one.view for name, one in strided.items()}
        with (
            self.caller.lender.watch(plan.word) as allocations,
            self._extensions(self.caller, plan.word, handed),
        ):
            answers = self.caller.answers(handed, sizes_of(self.caller))
        self.caller.findings += [one for one in allocations.findings() if one.array not in self._known_arrays()]
        for name, one in strided.items():
            views[name].write(one.read())
            if (finding := one.find_write(name)) is not None and name not in self._known_arrays():
                self.caller.findings.append(finding)
        return answers

    def _repeat(self, views: NamedViews, first: NamedArrays) -> NamedArrays:
        """The first answer with other bits, if one of as many calls as there is time for has one; else nothing."""
        call = self.caller.call
        if self._has_programs or CALLS.has_seen or self._memory.on_gpu or call.any_strides:
            return {}
        quiet, sizes = replace(self.caller, findings=[], earlier=[]), sizes_of(self.caller)
        handed = {name: view for name, view in views.items() if name not in call.returns}
        now = time.perf_counter()
        until = now + (REPEATS * (now - self._began) if not self._is_fickle else FICKLE)
        return quiet.other_answers(handed, sizes, first, until)

    @contextmanager
    def _extensions(self, caller: Caller, word: int, handed: NamedViews = MappingProxyType({})) -> Iterator[None]:
        """Check the accesses of the kernels that the callable builds and the cpu device runs."""
        names = {array.address: name for name, array in handed.items()}
        with CALLS.watch(self._probe, word, len(self._echoes), self._begin, names) as findings:
            try:
                yield
            finally:
                seen = {(one.kind, one.line, one.array) for one in caller.findings}
                caller.findings += [one for one in findings if (one.kind, one.line, one.array) not in seen]

    def _call_with_decoy(
        self, job: Job, image: Bytes, memory: Stretch, views: NamedViews, number: int
    ) -> EarlierInput | None:
        """Call with another input at the same addresses, in some trials many times; None if there is no other input."""
        form = form_of_decoy(self._seed, number)
        decoys = {one.name: decoy_of(one, form) for one in job.buffers if one.content is not None}
        memory.write(image)
        if all(same_bits(views[name].read(), decoy) for name, decoy in decoys.items()):
            return None
        for name, decoy in decoys.items():
            views[name].write(decoy)
        handed = {name: view for name, view in views.items() if name not in self.caller.call.returns}
        elements = sum(prod(buffer.shape) for buffer in job.buffers)
        again = (
            prelude_of(self._seed)
            if number == 0 and not self._has_programs and has_prelude(self._seed, elements)
            else 0
        )
        quiet = replace(self.caller, findings=[])  # its answers are looked at again, too: buffers may take turns
        returned: NamedArrays = {}
        began = time.process_time()
        try:
            for _ in range(1 + again):
                if time.process_time() - began > PRELUDE_SECONDS:
                    break
                with self._extensions(quiet, 0):
                    made = quiet.answers(handed, sizes_of(self.caller))
                self._is_fickle |= any(not same_bits(one, made[name]) for name, one in returned.items())
                returned = made
        except (Fault, RefusedError, OtherLibraryError):
            if self._memory.is_spent:
                raise  # nothing more runs in this process; the next one runs the input that counts
            return None  # the claim does not cover this input; the one that counts comes next
        self.caller.check_earlier(self.caller.earlier)
        return EarlierInput(form, decoys, outputs_of(job, views, returned))

    def _call_too_early(self, late: LateInput, views: NamedViews, before: EarlierInput, outputs: NamedArrays) -> None:
        """Call in a new stream whose input comes after the call has returned; until then the other input is there.

        A callable that computes in that stream has the right answer at any time. If it gives the other input's answer,
        or one that changes after it should be there, it works in a stream that does not wait.
        """
        for name, decoy in before.inputs.items():
            views[name].write(decoy)
        handed = {name: view for name, view in views.items() if name not in self.caller.call.returns}
        quiet = replace(self.caller, findings=[], earlier=[])
        try:
            at_once, at_last = quiet.call_in_stream(handed, sizes_of(quiet), late)
        except (Fault, RefusedError):
            if self._memory.is_spent:
                raise
            return  # it has accepted the same input before
        for name, held in at_last.items():
            changes = name in at_once and not same_bits(at_once[name], held)
            is_others = same_bits(held.reshape(-1), before.outputs[name].reshape(-1))
            if changes or (is_others and not same_bits(held.reshape(-1), outputs[name].reshape(-1))):
                how = "it is not there when the stream's turn has come" if changes else "it is that to what lay there"
                message = f"{name} is not computed in the current stream: where the input of that is late, {how}"
                severity: Severity = "error" if self.caller.call.in_stream else "warning"
                self.caller.findings.append(Finding("ignores-stream", message, severity, array=name, step=0))
                return

    def mark_echoes(self, runs: tuple[Run, ...]) -> tuple[Run, ...]:
        """The runs; those that only repeat the answer of the call before are marked as stale.

        A sum of elements in reverse is rightly the same. So a repetition counts where another input before has led to
        another answer, all inputs have the same one, or nearly the same input has a distant one. It only names the
        cause of a wrong answer: it is not an error by itself.
        """
        first = runs[0].outputs if runs else {}
        differ = any(not same_bits(run.outputs[name], first[name]) for run in runs[1:] for name in first)
        echoes = self._echoes[: len(runs)]
        is_fixed = len(echoes) > 1 and all(echoes) and not all(map(is_uniform, first.values()))
        if not (differ or is_fixed or is_far(first, self._near)):
            return runs
        return tuple(replace(run, stale=echo) for run, echo in zip(runs, echoes, strict=False))

    def _known_arrays(self) -> set[str | None]:
        return {one.array for one in self.caller.findings if one.kind == "out-of-bounds"}


def examine_far(caller: Caller, probe: Probe) -> Outcome:
    """Call once with arrays that lie in a field: only writes outside all arrays count."""
    if not caller.memory.on_gpu:
        return Outcome(untried=Untried.NO_FIELD)
    job, word, lender = caller.job, POISONS[probe.seed % len(POISONS)], caller.lender
    handed = tuple(one for one in job.buffers if one.name not in caller.call.returns)
    with far.open_field(far.CurrentGpu(), replace(job, buffers=handed), probe.seed, word, far.OWN) as field:
        if isinstance(field, Untried):
            return Outcome(untried=field)
        views = {one.name: GpuView(field.addresses[one.name], one.shape, one.element.dtype, None) for one in handed}
        watch = lender.watch_in_field(word, field.allocate) if isinstance(lender, FieldLender) else lender.watch(word)
        try:
            with watch:
                caller.answers(views, sizes_of(caller))
        except RefusedError as error:
            return Outcome(refusal=error.refusal)
        except Fault as fault:
            return Outcome(findings=(fault.finding,), ended=caller.memory.is_spent)
        return Outcome(findings=tuple(field.find_writes()))


def examine_launches(caller: Caller, probe: Probe) -> Outcome:
    """The launches of a call by torch at sizes of a whole GPU."""
    found: Outcome = importlib.import_module("kfuzz.devices.python.torch.only_launches").examine_launches(caller, probe)
    return found


def count_launches(caller: Caller, probe: Probe) -> Outcome:
    """What the outputs of a call went through in its launches."""
    found: Outcome = importlib.import_module("kfuzz.devices.python.counting").examine_counted(caller, probe)
    return found


def torch_without_gpu() -> ModuleType:
    """The module that replaces load_inline without a GPU."""
    return importlib.import_module("kfuzz.devices.python.torch.without_gpu")


def operand_of_torch() -> str:
    """The format to which torch rounds operands of products of float32 matrices on a GPU; empty if it does not."""
    torch = sys.modules.get("torch")
    if torch is None:
        return ""
    with suppress(Exception):  # it raises where a file has set this in both of the ways that torch has
        return TF32.name if torch.backends.cuda.matmul.allow_tf32 else ""
    return TF32.name if torch.backends.cuda.matmul.fp32_precision == TF32.name else ""


def array_of(job: Job, place: Place, image: Bytes) -> NDArray[np.generic]:
    """An array of an image."""
    buffer = job.buffers[place.buffer]
    return image[place.start : place.stop].view(buffer.element.dtype).reshape(buffer.shape)


def outputs_of(job: Job, views: NamedViews, returned: NamedArrays) -> NamedArrays:
    """The outputs of a call: those passed to it and those returned."""
    return {
        one.name: returned[one.name] if one.name in returned else views[one.name].read()
        for one in job.buffers
        if one.is_output
    }


def echo_of(outputs: NamedArrays, before: EarlierInput | None) -> Decoy | None:
    """The input of the call before, if this answer is the same; by itself, that is merely odd."""
    if before is None:
        return None
    is_same = all(same_bits(one.reshape(-1), before.outputs[name].reshape(-1)) for name, one in outputs.items())
    return before.form if is_same else None


def is_far(outputs: NamedArrays, near: NamedArrays) -> bool:
    """Whether an answer differs from that to nearly the same input by far more than the inputs differ."""
    for name, other in near.items():
        if not np.issubdtype(other.dtype, np.floating):
            continue
        one, two = values(outputs[name].reshape(-1)), values(other.reshape(-1))
        with np.errstate(all="ignore"):
            if (np.abs(one - two) > NEAR * np.maximum(np.abs(one), np.abs(two))).any():
                return True
    return False


def is_uniform(array: NDArray[np.generic]) -> bool:
    """Whether all elements are one value, which does not show where it comes from."""
    every = bits(array)
    return not every.size or bool((every == every[0]).all())


def prepare() -> None:
    """Learn what a process in a sandbox has to know and cannot ask for: Triton asks ptxas for its version."""
    if "triton" in sys.modules:
        importlib.import_module("kfuzz.devices.python.triton.driver").learn_versions()


def backend() -> PythonBackend:
    """What `python -m kfuzz.devices.worker.worker kfuzz.devices.python.backend` serves."""
    return PythonBackend(HostArena())
