"""Runs jobs on the cpu, inside a worker process: loads kernel libraries and passes jobs to the C++ runtime.

Knows ctypes and memory. experiments.py decides which runs there are and what they mean.
Long, because the calls of the runtime and the memory that they use live and end together.
Long, since all ways to run a job share one place in memory for its arrays.
"""

import ctypes
import math
import resource
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import Buffer, ClaimError, Finding, Job, Link, Outcome, Probe, Refusal, Run, Step, is_host
from kfuzz.devices.cpu import abi, compiler, toolchain
from kfuzz.devices.cpu.confine import StartedProcessError, confine
from kfuzz.devices.cpu.experiments import CpuRun, Manner, examine
from kfuzz.devices.cpu.findings import Lines, Sight, describe_sights
from kfuzz.devices.cpu.options import Flavour
from kfuzz.devices.cpu.outside import library_of
from kfuzz.devices.cpu.ptx.functions import ALONE
from kfuzz.devices.cpu.ptx.module import PtxLimits
from kfuzz.devices.cpu.ptx.storage import shown_register
from kfuzz.devices.cpu.questions import CpuQuestion
from kfuzz.devices.cpu.scene import locate_line
from kfuzz.devices.cpu.tiles import judge_program
from kfuzz.devices.cpu.vast import WrittenElements, examine_vast_blocks
from kfuzz.devices.memory.layout import POISONS, distances, nbytes
from kfuzz.devices.processes import adopt_orphans
from kfuzz.oracle.numbers.elements import BY_TORCH_NUMBER

MEMORY_LIMIT = 40 << 30
"""Bytes of addresses for the whole process: more than all stacks, arrays and their shadow need together."""

RESERVED = 10 << 30
"""Bytes of those that count as memory that the process may write; the runtime mostly never touches them."""

UNBACKED = "the host asks for the content of memory that has none"
NO_PARAMETER = "neither a pointer nor an integer of 32 or 64 bits"
NO_ANSWER = (abi.Status.timed_out, abi.Status.too_large, abi.Status.refused, abi.Status.crowded, abi.Status.unbacked)
"""A run that follows earlier calls and ends like this says nothing about the job, so the job then runs alone."""
MOST_LIBRARIES = 1024
"""More than twice as many as a campaign over our own kernels uses, 181 in two flavours. With room for fewer than all of
them, each would be gone when its next block of trials comes: the campaign goes round all kernels.
"""
SPENT_AFTER = 2000
"""Loads after which the process is replaced: unloading frees most of the memory that loading took, but not all."""


class LoadedFlavour:
    """A kernel file that is loaded in one flavour."""

    def __init__(self, job: Job, flavour: Flavour) -> None:
        self.flavour = flavour
        library = library_of(job, flavour)
        with confine():  # the file's own constructors run as it is loaded
            try:
                self.loaded = abi.LoadedLibrary(library)
            except OSError as error:
                words = str(error).removeprefix(f"{library.path}: ")
                raise ClaimError(f"{job.path}: its library cannot be loaded: {words}") from None
        self.lines = Lines(self.loaded.library)


def _raw_link(link: Link, numbers: Mapping[str, int]) -> abi.RawLink:
    """A link as the runtime takes it; the first axis of a map is the innermost."""
    raw = abi.RawLink(at=link.at, offset=link.offset, buffer=numbers[link.array], of=numbers[link.of])
    if link.map is not None:
        raw.rank, raw.type, raw.swizzle, raw.fill = len(link.map.sizes), link.map.type, link.map.swizzle, link.map.fill
        for place, values in ((raw.size, link.map.sizes), (raw.stride, link.map.strides), (raw.box, link.map.box)):
            place[: len(values)] = values
    return raw


class PlacedJob:
    """A job with its arrays in memory, which the runtime can run in several manners."""

    def __init__(self, job: Job, program: LoadedFlavour, seed: int) -> None:
        self.job, self.program = job, program
        self._contents: list[NDArray[np.generic]] = []
        self._placed = placed = [buffer for buffer in job.buffers if not buffer.is_returned]
        self._returned = [buffer for buffer in job.buffers if buffer.is_returned]
        with_host = any(is_host(step.entry) for step in job.steps)
        self._buffers = (abi.RawBuffer * (abi.MOST_ALLOCATIONS if with_host else max(1, len(placed))))()
        self._given = (abi.RawGiven * (abi.MOST_GIVEN if with_host else 1))()
        self._launched = (abi.RawLaunched * (abi.MOST_LAUNCHES if with_host else 1))()
        for raw, buffer, distance in zip(self._buffers, placed, distances(job, seed), strict=False):
            self._fill_in(raw, buffer, distance)
        self._poisoned = [i for i, one in enumerate(placed) if one.content is None and one.fill is None]
        self._of_earlier: list[abi.RawBuffer] = []
        self._args: list[ctypes.Array[abi.RawArgument]] = []
        numbers = {buffer.name: i for i, buffer in enumerate(placed)}
        earlier = [step for one in job.earlier for step in self._steps_of(one, self._place_earlier(one, numbers))]
        steps = [*earlier, *self._steps_of(job, numbers)]
        self._earlier_steps = len(earlier)
        self._steps = (abi.RawStep * max(1, len(steps)))(*steps)
        self._findings = (abi.RawFinding * abi.FINDING_CAPACITY)()
        self._left: dict[str, NDArray[np.generic]] = {}
        self._is_asked = False
        library = program.loaded.library
        self._run = abi.RawRun(
            watched_buffer=-1,
            module=ctypes.pointer(program.loaded.module),
            buffers=self._buffers,
            shared_arrays=program.loaded.shared,
            variables=program.loaded.variables,
            thread_local_anchor_offset=library.anchor_offset,
            shared_array_count=len(library.shared_arrays),
            static_shared=program.loaded.static_shared,
            static_shared_count=len(library.static_shared),
            variable_count=len(library.variables),
            check=program.flavour == "check",
            flush_denormals=library.flush_denormals,
            findings=self._findings,
            finding_capacity=abi.FINDING_CAPACITY,
            given=self._given,
            buffer_capacity=len(self._buffers),
            launched=self._launched,
            launched_capacity=len(self._launched),
            links=(abi.RawLink * len(job.links))(*(_raw_link(one, numbers) for one in job.links)),
            link_count=len(job.links),
        )

    def _fill_in(self, raw: abi.RawBuffer, buffer: Buffer, distance: int) -> None:
        """Describe an array to the runtime."""
        raw.bytes, raw.distance = nbytes(buffer), distance
        raw.flags = abi.BufferFlags.is_output if buffer.is_output else 0
        raw.element_bytes = 4
        if buffer.content is not None:
            raw.content, raw.flags = self._address_of(buffer.content), raw.flags | abi.BufferFlags.has_content
        elif buffer.alternates:
            shape, axis = buffer.shape, buffer.rows or 0
            raw.fill, raw.element_bytes = buffer.element.one, buffer.element.bytes
            raw.vast_rows, raw.vast_inner = shape[axis], math.prod(shape[axis + 1 :])
            raw.flags |= abi.BufferFlags.is_initialised | abi.BufferFlags.is_alternating
        elif buffer.fill is not None:
            raw.fill, raw.element_bytes = buffer.fill, buffer.element.bytes
            raw.flags |= abi.BufferFlags.is_initialised

    def _address_of(self, given: NDArray[np.generic]) -> int:
        """The address of an array's content, which stays in memory as long as this job."""
        self._contents.append(np.ascontiguousarray(given))
        return self._contents[-1].ctypes.data

    def _place_earlier(self, earlier: Job, numbers: Mapping[str, int]) -> dict[str, int]:
        """The buffers of an earlier call: the job's own with other content if the sizes are equal, else new ones."""
        placed = [buffer for buffer in earlier.buffers if not buffer.is_returned]
        if [one.shape for one in placed] == [one.shape for one in self._placed]:
            for buffer in placed:
                if buffer.content is not None:
                    self._buffers[numbers[buffer.name]].earlier_content = self._address_of(buffer.content)
            return dict(numbers)
        places = {}
        for buffer in placed:
            raw = abi.RawBuffer()
            self._fill_in(raw, buffer, 0)
            raw.flags |= abi.BufferFlags.is_of_earlier_call
            places[buffer.name] = len(self._placed) + len(self._of_earlier)
            self._of_earlier.append(raw)
        return places

    def _steps_of(self, job: Job, numbers: Mapping[str, int]) -> Iterator[abi.RawStep]:
        """The steps of a job whose arrays lie in these buffers."""
        for step in job.steps:
            entry = self.program.loaded.entries[str(step.entry)]
            check_arguments(job, str(step.entry), entry.signature, step.args)
            check_limits(job, step, self.program.loaded.library.limits.get(str(step.entry)))
            values = [(numbers[one], 0) if isinstance(one, str) else (-1, one) for one in step.args]
            self._args.append(abi.arguments(values))
            raw = abi.RawStep(entry=entry.raw, args=self._args[-1], arg_count=len(values), shared=step.shared)
            raw.grid[:], raw.block[:], raw.on_host = step.grid, step.block, is_host(step.entry)
            raw.cluster[: len(step.cluster)] = step.cluster
            raw.cooperative = step.cooperative
            yield raw

    def run(self, runtime: abi.Runtime, manner: Manner, seconds: float) -> CpuRun:
        """Run the job once, for at most `seconds`."""
        done = self._run_once(runtime, manner, seconds)
        if manner.after_calls and (done.status in NO_ANSWER or self._run.step < self._run.first_counted):
            return self._run_once(runtime, replace(manner, after_calls=False), seconds)
        return done

    def _run_once(self, runtime: abi.Runtime, manner: Manner, seconds: float) -> CpuRun:
        program, job, raw = self.program, self.job, self._run
        skipped = 0 if manner.after_calls else self._earlier_steps
        raw.steps = ctypes.cast(
            ctypes.byref(self._steps, skipped * ctypes.sizeof(abi.RawStep)), ctypes.POINTER(abi.RawStep)
        )
        raw.step_count, raw.first_counted = len(self._steps) - skipped, self._earlier_steps - skipped
        raw.job_buffer_count = len(self._placed)
        if manner.after_calls:
            for one in self._of_earlier:  # each time: another run may have used these places for its arrays
                self._buffers[raw.job_buffer_count] = one
                raw.job_buffer_count += 1
        for i in self._poisoned:
            self._buffers[i].fill = manner.poison
        raw.schedule, raw.poison, raw.seed = manner.schedule, manner.poison, manner.seed
        raw.preempt_one_in = manner.preempt_one_in if program.flavour == "check" else 0
        raw.late_writes, raw.missing_lane = manner.late_writes, manner.missing_lane
        raw.assume = manner.assume | (abi.Assume.warps_in_step if job.warp_synchronous else 0)
        raw.multiprocessors, raw.has_own_streams = manner.multiprocessors, manner.has_own_streams
        raw.timeout_ms = max(1, int(seconds * 1000))
        began = time.process_time()  # as the runtime counts: the time of other processes does not count
        with confine():
            runtime.run(raw)
        took = time.process_time() - began
        findings = [one for one in self._findings[: raw.finding_count] if one.step >= raw.first_counted]
        sights = describe_sights(findings, job, program.loaded.library, program.lines, raw) if findings else []
        if raw.status == abi.Status.finished and not self._is_asked:
            sights += self._find_misfits()
        sights = judge_program(sights, job.is_fenced) if job.is_tiled else sights
        if manner.after_calls:
            sights = [one if one.finding.kind == "stateful" else note_earlier_calls(one) for one in sights]
        fits = (
            raw.status == abi.Status.finished
            and not (job.vast or self._is_asked)
            and all(one.finding.kind != "wrong-shape" for one in sights)
        )
        asks = bool(raw.asks_multiprocessors)
        manner = manner.seen_by_host(asks)
        run = Run(manner.circumstances, self._outputs(), took) if fits else None
        printed = (raw.printed or b"").decode(errors="replace")
        words = (raw.refusal or b"").decode(errors="replace")
        refusal = self._read_refusal(words, raw.refusal_line) if raw.status == abi.Status.refused else None
        return CpuRun(manner, run, tuple(sights), raw.status, took, raw.block_ms / 1000, printed, refusal, asks)

    def _read_refusal(self, words: str, number: int) -> Refusal:
        """Why the run ended; ClaimError for a PTX instruction that the cpu device does not have."""
        file, line = locate_line(self.program.loaded.library, number or None)
        place = f"{file or self.job.path}:{line}" if line else str(self.job.path)
        if words.endswith(ALONE):
            raise ClaimError(f"{place}: {words}")
        return Refusal(f"{place}: {words}") if file else Refusal(words, line)

    @property
    def accesses(self) -> int:
        """The number of accesses of the last run, if it checked each of them and threads took turns."""
        return int(self._run.accesses)

    def all_addresses(self) -> dict[str, int]:
        """The addresses of all arrays in the last run."""
        return {one.name: int(raw.address) for raw, one in zip(self._buffers, self._placed, strict=False)}

    def addresses(self) -> dict[str, int]:
        """The addresses of the outputs of the last run, where they still lie."""
        buffers = zip(self._buffers, self._placed, strict=False)
        return {buffer.name: int(raw.address) for raw, buffer in buffers if buffer.is_output}

    def examine_vast_blocks(self, runtime: abi.Runtime, seconds: float) -> Outcome:
        """Run a few blocks of a job of vast arrays (vast.py)."""
        with many_addresses():
            try:
                return examine_vast_blocks(self.job, _PlacedBlocks(self, runtime), seconds)
            finally:
                runtime.release_vast()

    def run_block(self, runtime: abi.Runtime, block: int, seconds: float) -> CpuRun:
        """Run one block of a job of vast arrays."""
        self._run.only_blocks = (ctypes.c_uint64 * 1)(block)
        self._run.only_block_count = 1
        return self.run(runtime, Manner(abi.Schedule.forward, POISONS[0]), seconds)

    def addresses_of_faults(self) -> list[int]:
        """The address of each sight of the last run."""
        return [raw.address for raw in self._findings[: self._run.finding_count]]

    def read_written(self) -> dict[str, WrittenElements]:
        """The elements of each output, of those that the last run touched, that no longer hold poison."""
        touched = self._run.touched[: self._run.touched_count]
        placed = zip(self._placed, self._buffers, strict=False)
        return {one.name: _read_written(one, int(raw.address), touched) for one, raw in placed if one.is_output}

    def find_store(self, runtime: abi.Runtime, watch: tuple[str, int], seconds: float) -> tuple[str, int] | None:
        """The file and line that store an element, in a run in forward order."""
        name, index = watch
        number = next((i for i, buffer in enumerate(self._placed) if buffer.name == name), None)
        if number is None:
            return None
        self._run.watched_buffer = number
        self._run.watched_offset = index * self._placed[number].element.bytes
        self.run(runtime, Manner(abi.Schedule.forward, POISONS[0]), seconds)
        library = self.program.loaded.library
        file, line = locate_line(library, self.program.lines.line_at(self._run.watched_pc))
        return None if line is None else (file, line)

    def _outputs(self) -> dict[str, NDArray[np.generic]]:
        """The content of the outputs: the same arrays as before where a run leaves the same bits."""
        outputs = {}
        left = [(one, raw.address) for one, raw in zip(self._placed, self._buffers, strict=False) if one.is_output]
        given = self._given[: self._run.given_count]
        left += [(buffer, raw.data) for buffer, raw in zip(self._returned, given, strict=False)]
        for buffer, address in left:
            array = self._left.get(buffer.name)
            if array is None or not abi.are_equal(array.ctypes.data, address, array.nbytes):
                array = self._left[buffer.name] = np.empty(buffer.answer, buffer.element.dtype)
                ctypes.memmove(array.ctypes.data, address, array.nbytes)
            outputs[buffer.name] = array
        return outputs

    def find_returned(self, runtime: abi.Runtime, seconds: float) -> Outcome:
        """Run a function of tensors once, and report the type and the sizes of each tensor that it returns."""
        self._is_asked = True
        if self.run(runtime, Manner(abi.Schedule.forward, POISONS[0]), seconds).status != abi.Status.finished:
            return Outcome()
        given = self._given[: self._run.given_count]
        return Outcome(returned=tuple((element_of(raw), tuple(raw.sizes[: raw.rank])) for raw in given))

    def find_launches(self, runtime: abi.Runtime, seconds: float) -> Outcome:
        """Call a function of tensors without running its kernels: what it returns, and launches that are refused."""
        self._is_asked, self._run.only_launches = True, True
        with many_addresses():
            done = self.run(runtime, Manner(abi.Schedule.forward, POISONS[0]), seconds)
        if done.status == abi.Status.unbacked:
            return Outcome(notes=(UNBACKED,))
        found = tuple(one.finding for one in done.sights)
        if done.refusal or done.status != abi.Status.finished:
            return Outcome(refusal=done.refusal, findings=found)
        given = self._given[: self._run.given_count]
        returned = tuple((element_of(raw), tuple(raw.sizes[: raw.rank])) for raw in given)
        return Outcome(returned=returned, findings=found)

    def _find_misfits(self) -> Iterator[Sight]:
        """Returned tensors that are not the arrays of the claim. ClaimError if there are more or fewer of them."""
        given = self._given[: self._run.given_count]
        if len(given) != len(self._returned):
            wanted = ", ".join(one.name for one in self._returned) or "nothing"
            raise ClaimError(f"{self.job.path}: it returns {len(given)} tensors; the claim wants {wanted}")
        for buffer, raw in zip(self._returned, given, strict=True):
            sizes = tuple(raw.sizes[: raw.rank])
            element = element_of(raw)
            if element != buffer.element.name or math.prod(sizes) != math.prod(buffer.answer):
                wanted = f"{buffer.element}[{', '.join(map(str, buffer.answer))}]"
                message = f"{buffer.name} is returned as {element}[{', '.join(map(str, sizes))}], not {wanted}"
                yield Sight(Finding("wrong-shape", message, array=buffer.name), None, True)


def element_of(raw: abi.RawGiven) -> str:
    """The name of the element type of a returned array."""
    return str(BY_TORCH_NUMBER.get(raw.type, f"type {raw.type} of torch"))


class _PlacedBlocks:
    """The blocks of a placed job, each of which runs alone."""

    def __init__(self, placed: PlacedJob, runtime: abi.Runtime) -> None:
        self._placed, self._runtime = placed, runtime

    def run_block(self, block: int, seconds: float) -> CpuRun:
        return self._placed.run_block(self._runtime, block, seconds)

    def addresses_of_faults(self) -> list[int]:
        return self._placed.addresses_of_faults()

    def addresses(self) -> dict[str, int]:
        return self._placed.all_addresses()

    def read_written(self) -> dict[str, WrittenElements]:
        return self._placed.read_written()


def _read_written(buffer: Buffer, address: int, touched: Sequence[int]) -> WrittenElements:
    size, end = buffer.element.bytes, address + nbytes(buffer)
    poison = np.frombuffer(POISONS[0].to_bytes(4, "little"), np.uint8)
    places, values = [np.zeros(0, np.int64)], [np.zeros(0, buffer.element.dtype)]
    for piece in sorted(touched):
        first, last = max(piece, address), min(piece + abi.TOUCHED_BYTES, end)
        first += -(first - address) % max(size, 4)  # an element at the seam of two pieces is left out
        count = max(0, last - first) // max(size, 4) * max(size, 4)
        if not count:
            continue
        held = np.ctypeslib.as_array((ctypes.c_ubyte * count).from_address(first))
        changed = (held.reshape(-1, 4) != poison).reshape(-1, size).any(axis=1)
        at = np.flatnonzero(changed)
        places.append((first - address) // size + at)
        values.append(held.view(buffer.element.dtype)[at])
    return WrittenElements(np.concatenate(places), np.concatenate(values))


def note_earlier_calls(sight: Sight) -> Sight:
    """The sight with a note that other calls came first, which may be the cause."""
    later = f"{sight.finding.message}; in a call after others with other sizes and values"
    return replace(sight, finding=replace(sight.finding, message=later))


def uninitialised_local(library: compiler.Library, place: tuple[int, str]) -> Finding:
    """A warning of the compiler's, which cannot know whether the line is reached or its result matters."""
    number, name = place
    file, line = locate_line(library, number)
    return Finding(
        "uninitialised", f"{shown_register(name)} is used before it has a value", "warning", line=line, file=file
    )


def check_arguments(job: Job, entry: str, signature: str, args: tuple[str | int, ...]) -> None:
    """Raise a ClaimError if a claim's arguments do not fit the parameters of the kernel."""
    if len(args) != len(signature):
        raise ClaimError(f"{job.path}: {entry} has {len(signature)} parameters; the claim passes {len(args)}: {args}")
    for number, (letter, value) in enumerate(zip(signature, args, strict=True), start=1):
        if letter not in ("Pw" if isinstance(value, str) else "ilw"):
            passed = f"the array {value}" if isinstance(value, str) else f"the integer {value}"
            takes = {"P": "a pointer", "i": "a 32-bit integer", "l": "a 64-bit integer"}.get(letter, NO_PARAMETER)
            raise ClaimError(f"{job.path}: parameter {number} of {entry} is {takes}; the claim passes {passed}")


def check_limits(job: Job, step: Step, limits: PtxLimits | None) -> None:
    """Raise a ClaimError if a launch is not one for which a PTX kernel was compiled."""
    if limits is None:
        return
    where, threads = f"{job.path}: {step.entry}", math.prod(step.block)
    if limits.exact_block and step.block != limits.exact_block:
        raise ClaimError(f"{where} is compiled for blocks of {limits.exact_block} (.reqntid); block = {step.block}")
    if limits.most_threads and threads > limits.most_threads:
        raise ClaimError(f"{where} is compiled for at most {limits.most_threads} threads (.maxntid); block = {threads}")
    if limits.cluster and (step.cluster or (1, 1, 1)) != limits.cluster:
        found = f"cluster = {step.cluster or (1, 1, 1)}"
        raise ClaimError(f"{where} is compiled for clusters of {limits.cluster} (.reqnctapercluster); {found}")


@contextmanager
def many_addresses() -> Iterator[None]:
    """Lift this process's own limit of addresses meanwhile."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (before[1], before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def limit_process(most: int = MEMORY_LIMIT) -> None:
    """Limit the addresses of this process, forbid core dumps, and let what a kernel starts end with it.

    The limit of a Python process that has started this one does not fit: most of what the runtime reserves it never
    touches.
    """
    _, most_data = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most_data, most_data))
    allowed = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
    resource.setrlimit(resource.RLIMIT_AS, (limit, allowed))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    adopt_orphans()


class CpuBackend:
    """The runtime in this process and the kernel libraries that were used last."""

    def __init__(self) -> None:
        self.is_spent = False
        limit_process()
        self._runtime = abi.Runtime(toolchain.build_runtime())
        self._programs: OrderedDict[tuple[object, ...], LoadedFlavour] = OrderedDict()
        self._loads = 0
        self._waiters: set[str] = set()

    def close(self) -> None:
        """Nothing outlives the process."""

    def run(self, job: Job, probe: Probe, begin: Callable[[str], None]) -> Outcome:
        """Run a job as often and as closely as the probe says."""
        bound: dict[Flavour, PlacedJob] = {}

        def run(flavour: Flavour, manner: Manner, seconds: float) -> CpuRun:
            if flavour not in bound:
                bound[flavour] = PlacedJob(job, self._program(job, flavour), probe.seed)
            return bound[flavour].run(self._runtime, manner, seconds)

        def run_text(text: str, manner: Manner, seconds: float) -> CpuRun | None:
            changed = replace(job, source=text)
            try:
                placed = PlacedJob(changed, self._program(changed, "check"), probe.seed)
                return placed.run(self._runtime, manner, seconds)
            except ClaimError:
                return None

        probe = replace(probe, check=probe.check or job.warp_synchronous)  # only these runs can keep warps in step
        question = probe.option(CpuQuestion)
        flavour: Flavour = "check" if (probe.check or question.watch) and not job.vast else "fast"
        try:
            bound[flavour] = PlacedJob(job, self._program(job, flavour), probe.seed)
            begin("running")
            if job.vast:
                return bound[flavour].examine_vast_blocks(self._runtime, probe.timeout)
            if question.launches:
                return bound[flavour].find_launches(self._runtime, probe.timeout)
            if question.returned:
                return bound[flavour].find_returned(self._runtime, probe.timeout)
            if question.watch:
                return Outcome(stored=bound["check"].find_store(self._runtime, question.watch, probe.timeout))
            outcome = examine(job, probe, run, self._waiters, run_text=None if job.through == "ptx" else run_text)
        except StartedProcessError:
            message = "the kernel starts processes of its own; kfuzz ended them"
            return Outcome(findings=(Finding("trap", message),))
        except MemoryError:
            message = f"too large for this machine as it is now{abi.limits_of_memory()}"
            return Outcome(findings=(Finding("out-of-memory", message, severity="warning"),))
        library = bound[flavour].program.loaded.library
        # a compiler of tiles packs two numbers into a register although only one of them is there
        named = () if job.is_tiled else library.uninitialised
        unset = tuple(uninitialised_local(library, one) for one in named)
        return replace(outcome, findings=(*outcome.findings, *unset)) if unset else outcome

    def _program(self, job: Job, flavour: Flavour) -> LoadedFlavour:
        key = (flavour, job.path, job.source, job.flags, job.entries, job.through)
        program = self._programs.get(key)
        if program is None:
            program = self._programs[key] = LoadedFlavour(job, flavour)
            self._loads += 1
            self.is_spent = self._loads >= SPENT_AFTER
            if len(self._programs) > MOST_LIBRARIES:
                self._runtime.forget(self._programs.popitem(last=False)[1].loaded)
        self._programs.move_to_end(key)
        return program


def prepare() -> None:
    """Build what a process in a sandbox needs and cannot build."""
    toolchain.build_runtime()


def backend() -> CpuBackend:
    """The backend that `python -m kfuzz.devices.worker.worker kfuzz.devices.cpu.backend` serves."""
    return CpuBackend()
