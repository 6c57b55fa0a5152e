"""Launches jobs on an NVIDIA GPU: the only file that imports pycuda. Only worker processes import it.

Knows contexts, modules, launches and the driver's errors; devices/memory/repeats.py knows what the runs mean.
Long because no other file may import pycuda: it starts a context.
Long, since no other file imports pycuda.
"""

import contextlib
import ctypes
import functools
import itertools
import os
import pickle
import sys
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
import pycuda.driver as cuda

from kfuzz.devices import (
    ClaimError,
    DeviceError,
    Entry,
    Finding,
    Job,
    Outcome,
    OutOfMemory,
    Probe,
    Step,
    TogetherError,
    UnsupportedError,
    Untried,
    is_host,
)
from kfuzz.devices.gpu import driver, far, graphs, hosting, machine_code, nvidia, vast
from kfuzz.devices.gpu.progress import Launches, launch_words
from kfuzz.devices.gpu.reserving import START, take_turn
from kfuzz.devices.gpu.sanitizer import ENDED as REPLAY_ENDED
from kfuzz.devices.memory.far import FarOptions
from kfuzz.devices.memory.layout import OUTPUT, POISONS, SHARED, Bytes, initial_bytes, nbytes, offsets, repeat_word
from kfuzz.devices.memory.repeats import (
    Fault,
    GpuRun,
    PaintedRun,
    PlannedRun,
    Returned,
    RunResult,
    examine,
    make_runs,
    plan_runs,
)

KEPT_MODULES = 256
POINTER = 8
MOST_PACKED = 32768
"""Bytes of a launch's arguments: more than any GPU takes."""
VOLTA = (7, 0)
TOGETHER = 4 * driver.MEBIBYTE
"""Most bytes of images that cross together. For larger ones the copying takes the time, so batching saves nothing."""
SHORTEST_NAP, LONGEST_NAP = 2e-5, 5e-4
HEARD_EVERY = 1.0
"""Seconds; less than the grace that the caller's process gives (device.GRACE)."""

SHARED_LIMIT = cuda.device_attribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
BETWEEN = Path(__file__).with_name("between_launches.cu")
OWN_FUNCTIONS = ("poison_shared", "move")
MOVE_THREADS, VECTOR = 256, 16
FOR_BOTH = cuda.host_alloc_flags.DEVICEMAP
"""Flag of host memory that the GPU also uses, at the same addresses."""
VAST = Path(__file__).with_name("vast.cu")


@dataclass(frozen=True)
class _LoadedCode:
    """Loaded machine code: the module keeps its functions alive."""

    code: machine_code.MachineCode
    module: cuda.Module
    functions: dict[Entry, cuda.Function]
    packs: dict[Entry, cuda.Function]
    """The functions that make the arguments of the entries, where C++ makes them."""
    by_driver: graphs.LoadedFunctions | None
    """The same functions again, for launches that PyCUDA lacks: it does not give the names of its functions."""


class GpuContext:
    """One context on the first GPU, with one arena in it; `is_spent` once a kernel has ended the context."""

    def __init__(self) -> None:
        self.gpu = driver.gpu()
        cuda.init()
        self._context = cuda.Device(0).make_context()
        self._shared_limit: int = cuda.Device(0).get_attribute(SHARED_LIMIT)
        self._multiprocessors: int = cuda.Device(0).get_attribute(cuda.device_attribute.MULTIPROCESSOR_COUNT)
        self._stream = cuda.Stream()
        self._arena = driver.Arena()
        self._sent = self._back = np.empty(0, np.uint8)
        self._codes: OrderedDict[tuple[object, ...], machine_code.MachineCode] = OrderedDict()
        self._programs: dict[str, _LoadedCode] = {}
        self._hosts: OrderedDict[tuple[object, ...], hosting.HostLibrary] = OrderedDict()
        self._reached = cuda.pagelocked_empty(1, np.uint32, mem_flags=FOR_BOTH)
        self._reached_at = int(self._reached.ctypes.data)
        self._timeout, self._reported = 0.0, float("-inf")
        self._gpu = far.CurrentGpu()
        self._lent: list[cuda.DeviceAllocation] = []  # kept where a call ends the context: PyCUDA cannot free it then
        self._begin: Callable[[str], None] = _ignore
        self._made: deque[tuple[Job, list[GpuRun]]] = deque()
        self.is_spent = False
        text = BETWEEN.read_text(encoding="utf-8")
        own = machine_code.compile_kernel(BETWEEN, text, (), OWN_FUNCTIONS, self.gpu.architecture)
        self._poison, self._mover = map(_load(own, self._shared_limit, False).functions.__getitem__, OWN_FUNCTIONS)
        self._packed = cuda.mem_alloc(MOST_PACKED)

    def run(self, job: Job, probe: Probe, begin: Callable[[str], None]) -> Outcome:
        """Examine one job. The outcome reports a fault of the kernel, or a job that is too large for the GPU."""
        self._timeout = min(probe.timeout, vast.MOST_SECONDS) if job.vast else probe.timeout
        self._begin, self._reported = begin, float("-inf")
        is_made = bool(self._made) and self._made[0][0] is job
        made = self._made.popleft()[1] if is_made else ()
        if job.warp_synchronous and self.gpu.capability >= VOLTA:
            reason = f"warp_synchronous is claimed, and warps of this {self.gpu.name} do not go in step"
            raise UnsupportedError(f"{job.path}: {reason}; on the cpu device they do: --device cpu")
        try:
            if any(is_host(step.entry) for step in job.steps):
                self._find_library(job)  # before the job counts as running: nvcc may take longer than its time-out
            if not all(is_host(step.entry) for step in job.steps):
                self._check_launches(job)
            if job.vast:
                return vast.examine_vast(job, probe, self)
            if probe.option(FarOptions).is_far:
                return self._examine_far(job, probe)
            return examine(job, probe, self, made)
        except hosting.HostRefusedError as refused:
            return Outcome(refusal=refused.refusal)
        except Fault as fault:
            self.is_spent = True
            if job.vast and fault.finding.kind == "hang":  # so large a job may only be slow
                return Outcome(untried=Untried.TOO_SLOW, ended=True)
            found = vast.mention_overflow(job, fault.finding) if job.vast else fault.finding
            return Outcome(findings=(found,), ended=True)
        except (OutOfMemory, cuda.MemoryError) as error:
            message = f"too large for this {self.gpu.name} as it is now: {error}"
            if job.vast:
                return Outcome(untried=Untried.DOES_NOT_FIT)
            return Outcome(findings=(Finding("out-of-memory", message, severity="warning"),))
        except cuda.Error as error:
            self.is_spent = True
            raise DeviceError(f"{self.gpu.name}: {error}") from error

    @property
    def place(self) -> str:
        """The GPU's address on this machine's PCI bus."""
        return driver.place()

    def room(self, nbytes: int) -> int:
        """How many bytes of GPU memory an array of this size takes."""
        return driver.round_to_pages(nbytes)

    def free(self) -> tuple[int, int]:
        """How many bytes of GPU memory are free, and how many there are."""
        return driver.free()

    def hold(self, nbytes: int) -> driver.OwnMemory:
        """Separate memory for one array."""
        return driver.OwnMemory(nbytes)

    def paint(self, address: int, words: int, word: int) -> None:
        """Write a word many times: more often than PyCUDA can count."""
        driver.paint(address, words, word, self._stream.handle)

    def send(self, address: int, content: Bytes) -> None:
        """Write the host's bytes, after all earlier work."""
        self._stream.synchronize()
        if len(content):
            cuda.memcpy_htod(address, content)

    def fetch(self, address: int, nbytes: int) -> Bytes:
        """The content of memory after all earlier work."""
        self._stream.synchronize()
        content = np.empty(nbytes, np.uint8)
        if nbytes:
            cuda.memcpy_dtoh(content, address)
        return content

    def call(self, function: str, blocks: int, threads: int, *arguments: int) -> None:
        """Launch a function of vast.cu."""
        self._report_running()
        loaded = self._vast.functions[function]
        loaded.prepared_async_call((blocks, 1, 1), (threads, 1, 1), self._stream, *arguments)

    def launch_at(self, job: Job, addresses: Mapping[str, int], word: int) -> None:
        """Launch a job's steps on arrays that are already in place, and wait for them."""
        program = self._load_program(job)
        self._stream.synchronize()  # a fault in what filled the arrays is not the kernel's
        self._reached[0] = 0
        launches = Launches()
        launches.begin_run()
        for number, step in enumerate(job.steps):
            given = _arguments(program, step, addresses, self._packed, self._stream)
            self._poison_shared(word + SHARED, launches.add(job, number))
            try:
                _launch(program, job, step, given, self._stream)
            except (cuda.LogicError, cuda.LaunchError, DeviceError) as error:
                raise ClaimError(f"{launch_words(job, number)}: {_driver_words(error)}") from error
        self._await(launches)

    def _examine_far(self, job: Job, probe: Probe) -> Outcome:
        """Run a job once in a field: only writes outside its arrays count."""
        on_host, word = any(is_host(step.entry) for step in job.steps), POISONS[probe.seed % len(POISONS)]
        with far.open_field(self._gpu, job, probe.seed, word, far.OWN if on_host else 0) as field:
            if isinstance(field, Untried):
                return Outcome(untried=field)
            if not on_host:
                self.launch_at(job, field.addresses, word)
                return Outcome(findings=tuple(field.find_writes()))
            self._poison_shared(word + SHARED, 0)
            self._stream.synchronize()
            self._report_running()
            returned = self._run_host(job, lambda host: host.run(field.addresses, word + OUTPUT, len(job.steps), field))
            return Outcome(findings=returned.findings)

    @functools.cached_property
    def _vast(self) -> _LoadedCode:
        functions = ("write_alternating", "find_changed", "mark_unlike", "settle")
        code = machine_code.compile_kernel(VAST, VAST.read_text(encoding="utf-8"), (), functions, self.gpu.architecture)
        return _load(code, self._shared_limit, False)

    def close(self) -> None:
        """Leave the context: while one is still pushed, PyCUDA ends the process with an abort."""
        with contextlib.suppress(cuda.Error):
            self._context.pop()

    def images(self, runs: Sequence[PlannedRun]) -> list[Bytes]:
        """Host memory for the images of these runs, or of the first ones; GPU memory is reserved for the largest."""
        ends = list(itertools.accumulate(run.size for run in runs))
        count = max(1, sum(end <= TOGETHER for end in ends)) if self._is_launched_at_once(runs[0].job) else 1
        self._arena.hold(max(run.size for run in runs[:count]))
        total = ends[count - 1]
        if len(self._sent) < total:
            room = max(total, min(2 * len(self._sent), driver.GIBIBYTE), driver.MEBIBYTE)
            self._sent = cuda.pagelocked_empty(room, np.uint8, mem_flags=FOR_BOTH)
            self._back = cuda.pagelocked_empty(room, np.uint8, mem_flags=FOR_BOTH)
        return [self._sent[end - run.size : end] for run, end in zip(runs[:count], ends, strict=False)]

    def launch(self, laid: Sequence[PaintedRun]) -> list[RunResult]:
        """Make runs: send an image, launch the steps one by one, and fetch the memory. It waits once for all runs:
        processes share the GPU by time slices, and each wait costs one.
        """
        if any(is_host(step.entry) for step in laid[0].run.job.steps):
            return [self._call_host(one) for one in laid]
        ends = itertools.accumulate(one.run.size for one in laid)
        done = [RunResult(self._back[end - one.run.size : end]) for one, end in zip(laid, ends, strict=True)]
        arguments = [self._arguments(one) for one in laid]
        launches = Launches()
        self._reached[0] = 0
        try:
            for one, left, given in zip(laid, done, arguments, strict=True):
                self._enqueue(launches, one, left, given)
        except cuda.Error as error:
            raise self._explain_failure(launches, error) from error
        self._await(launches)
        return done

    def look_ahead(self, coming: Sequence[tuple[Job, Probe]], begin: Callable[[str], None]) -> None:
        """Make the runs of the next jobs, as far as they can be made together; raises only TogetherError."""
        if self._made or len(coming) < 2:
            return
        together: list[tuple[Job, list[PlannedRun]]] = []
        room = TOGETHER
        for job, probe in itertools.takewhile(lambda one: self._is_tame(*one), coming):
            runs = plan_runs(job, probe)
            room -= sum(run.size for run in runs)
            if room < 0:
                break
            together.append((job, runs))
        if len(together) < 2:
            return
        self._timeout = max(probe.timeout for _, probe in coming)
        self._begin, self._reported = begin, float("-inf")
        try:
            made = iter(list(make_runs([run for _, runs in together for run in runs], self)))
        except (Fault, ClaimError, DeviceError, OutOfMemory, cuda.Error) as error:
            raise TogetherError from error
        self._made.extend((job, [next(made) for _ in runs]) for job, runs in together)

    def _is_tame(self, job: Job, probe: Probe) -> bool:
        """Whether a job may run together with others: its kernel has run here and is not known to end contexts."""
        code = self._codes.get(_key(job))
        program = self._programs.get(code.digest) if code else None
        if program is None or program.code.has_variables or program.packs:
            return False
        return not (job.vast or job.earlier or job.warp_synchronous or probe.fatal)

    def _arguments(self, one: PaintedRun) -> list[list[int | bytes]]:
        """The arguments of each launch of a run."""
        job, addresses = one.run.job, self._addresses(one)
        program = self._load_program(job)
        return [_arguments(program, step, addresses, self._packed, self._stream) for step in job.steps[: one.run.steps]]

    def _base(self, one: PaintedRun) -> int:
        return self._arena.base + (self._arena.capacity - one.run.size if one.run.plan.at_end else 0)

    def _addresses(self, one: PaintedRun) -> dict[str, int]:
        return {one.run.job.buffers[place.buffer].name: self._base(one) + place.start for place in one.run.where}

    def _enqueue(
        self, launches: Launches, one: PaintedRun, left: RunResult, arguments: Sequence[Sequence[int | bytes]]
    ) -> None:
        """Put all operations of a run on the stream, after those of the earlier runs."""
        job, word = one.run.job, one.run.plan.shared + SHARED
        program = self._load_program(job)
        if is_small := one.run.size <= TOGETHER:
            self._move(self._base(one), int(one.image.ctypes.data), one.run.size)
        else:
            cuda.memcpy_htod_async(self._base(one), one.image, self._stream)
        launches.begin_run()
        for number, given in enumerate(arguments):
            self._poison_shared(word, launches.add(job, number))
            try:
                _launch(program, job, job.steps[number], given, self._stream)
            except (cuda.LogicError, cuda.LaunchError, DeviceError) as error:
                if driver.kind_of(str(error)):  # an earlier launch has ended the context
                    raise self._explain_failure(launches, error) from error
                self._await(launches)  # none of it may still run during the next job
                raise ClaimError(f"{launch_words(job, number)}: {_driver_words(error)}") from error
        if is_small:
            self._move(int(left.memory.ctypes.data), self._base(one), one.run.size)
        else:
            cuda.memcpy_dtoh_async(left.memory, self._base(one), self._stream)

    def _move(self, to: int, out_of: int, nbytes: int) -> None:
        """Copy an image by a kernel. Processes share each copy engine of the GPU by time slices, too: a copy by an
        engine waits for three time slices, but a copy by a kernel is done within the time slice of the launches.
        """
        vectors = nbytes // VECTOR
        blocks = min(-(-vectors // MOVE_THREADS), 2 * self._multiprocessors)
        self._mover.prepared_async_call((blocks, 1, 1), (MOVE_THREADS, 1, 1), self._stream, to, out_of, vectors)

    def _call_host(self, one: PaintedRun) -> RunResult:
        """Send an image, make earlier calls if the plan says so, call the host functions, and fetch the memory. If they
        hang, the caller's process ends them.
        """
        job, plan, addresses = one.run.job, one.run.plan, self._addresses(one)
        send = functools.partial(self._send, one)
        self._report_running()
        send()
        word = plan.word if plan.host is None else plan.host
        earlier = _place_earlier(job, addresses, plan.word, self._lent) if plan.after_calls else None

        def run(host: hosting.HostLibrary) -> Returned:
            try:
                return host.run(addresses, word + OUTPUT, one.run.steps, None, earlier, send)
            except hosting.HostRefusedError:
                if earlier is None:
                    raise
                send()
                return host.run(addresses, word + OUTPUT, one.run.steps)

        returned = self._run_host(job, run)
        self._lent.clear()
        left = RunResult(self._back[: one.run.size], returned)
        cuda.memcpy_dtoh_async(left.memory, self._base(one), self._stream)
        self._stream.synchronize()
        return left

    def _run_host(self, job: Job, run: Callable[[hosting.HostLibrary], Returned]) -> Returned:
        """Run a job's library, or raise Fault."""
        host = self._find_library(job)
        try:
            return run(host)
        except hosting.HostFault as fault:
            kind = driver.kind_of(str(fault))
            if kind is None:
                raise DeviceError(f"the GPU failed in a host function of {host.job.path}: {fault}") from fault
            raise Fault(Finding(kind, f"a kernel that {host.job.entries[0]} launches: {fault}")) from fault

    def _send(self, one: PaintedRun) -> None:
        """Set memory to its state before a call, also after earlier calls: shared memory is poisoned, too."""
        self._poison_shared(one.run.plan.shared + SHARED, 0)
        cuda.memcpy_htod_async(self._base(one), one.image, self._stream)
        self._stream.synchronize()

    def _is_launched_at_once(self, job: Job) -> bool:
        """Whether runs may follow one another without work by this process between them."""
        return not any(is_host(step.entry) for step in job.steps) and not self._find_code(job).has_variables

    def _find_library(self, job: Job) -> hosting.HostLibrary:
        """The library of a job's host functions, loaded, for this job."""
        key = _key(job)
        known = self._hosts.get(key)
        if known is None:
            known = self._hosts[key] = hosting.HostLibrary(job, hosting.compile_library(job, self.gpu.architecture))
            if len(self._hosts) > KEPT_MODULES:
                self._hosts.popitem(last=False)[1].close()
        self._hosts.move_to_end(key)
        known.job = job
        return known

    def _report_running(self) -> float:
        """Return the time; tell the caller's process now and then that the job runs. Each message wakes it up."""
        now = time.monotonic()
        if now > self._reported + HEARD_EVERY:
            self._reported = now
            self._begin("running")
        return now

    def _poison_shared(self, word: int, launch: int) -> None:
        """Fill all shared memory, and record which launch is next, so that the host sees how far the GPU is.

        It launches two blocks for each multiprocessor, and each block fills one, so hardly any is left out.
        """
        grid, limit = (2 * self._multiprocessors, 1, 1), self._shared_limit
        given = (_as_int(word), limit // 4, self._reached_at, launch)
        self._poison.prepared_async_call(grid, (1024, 1, 1), self._stream, *given, shared_size=limit)

    def _await(self, launches: Launches) -> None:
        """Wait until the GPU has finished all its work; each run has a time-out of its own."""
        now = began = self._report_running()
        until, run = began + self._timeout, 0
        try:
            while not self._stream.is_done():
                now = time.monotonic()
                reached = launches.reached(int(self._reached[0]))
                if reached.run > run:
                    run = reached.run
                    until = self._report_running() + self._timeout
                elif now > until:
                    words = reached.words
                    raise Fault(Finding("hang", f"{words} has not ended after {self._timeout:g} s", step=reached.step))
                # The driver's wait has no time-out, so this polls; naps grow with the time waited so far.
                time.sleep(min(max(SHORTEST_NAP, (now - began) / 8), LONGEST_NAP))
        except cuda.Error as error:
            raise self._explain_failure(launches, error) from error

    def _explain_failure(self, launches: Launches, error: Exception) -> Exception:
        """The error that ended the context: a fault of the last launch reached, or one that no kernel caused."""
        kind, reached = driver.kind_of(str(error)), launches.reached(int(self._reached[0]))
        words = reached.words
        if kind is None:
            return DeviceError(f"the GPU failed during {words}: {_driver_words(error)}")
        return Fault(Finding(kind, f"{words}: {_driver_words(error)}", step=reached.step))

    def _load_program(self, job: Job) -> _LoadedCode:
        """The job's module, loaded; loaded again each time if global variables could remember a launch."""
        code = self._find_code(job)
        program = self._programs.get(code.digest)
        by_driver = needs_driver(job)
        if program is None or code.has_variables or (by_driver and program.by_driver is None):
            program = self._programs[code.digest] = _load(code, self._shared_limit, by_driver)
        return program

    def _find_code(self, job: Job) -> machine_code.MachineCode:
        """The job's machine code."""
        key = _key(job)
        code = self._codes.get(key)
        if code is None:
            code = machine_code.code_of(job, self.gpu.architecture)
            self._codes[key] = code
            if len(self._codes) > KEPT_MODULES:
                self._programs.pop(self._codes.popitem(last=False)[1].digest, None)
        self._codes.move_to_end(key)
        return code

    def _check_launches(self, job: Job) -> None:
        """Reject launches that the driver would accept silently, or refuse with too little explanation."""
        program = self._load_program(job)
        for number, step in enumerate(job.steps):
            there = program.code.entries[step.entry]
            sizes = there.pack.parameters[1:] if there.pack else there.parameters
            if len(sizes) != len(step.args) or any(
                size != POINTER if isinstance(one, str) else size not in (4, 8)
                for one, size in zip(step.args, sizes, strict=True)
            ):
                raise ClaimError(
                    f"{launch_words(job, number)}: {step.entry} takes parameters of "
                    f"{', '.join(map(str, sizes)) or 'no'} bytes, and args are {list(step.args)}: "
                    "8 for an array, 4 or 8 for a number"
                )
            static = program.functions[step.entry].get_attribute(cuda.function_attribute.SHARED_SIZE_BYTES)
            if step.shared + static > self._shared_limit:
                raise ClaimError(
                    f"{launch_words(job, number)}: {step.shared} bytes of dynamic and {static} of static "
                    f"shared memory; this {self.gpu.name} gives a block {self._shared_limit}"
                )
            if step.cooperative and program.by_driver:
                most = program.by_driver.most_blocks(there.symbol, prod(step.block), step.shared)
                if prod(step.grid) > most:
                    raise ClaimError(
                        f"{launch_words(job, number)}: a cooperative launch of {prod(step.grid)} blocks; "
                        f"this {self.gpu.name} runs {most} of them at once"
                    )


def _key(job: Job) -> tuple[object, ...]:
    """Everything that a job is compiled from."""
    return job.path, job.source, job.flags, job.entries


def _place_earlier(
    job: Job, addresses: Mapping[str, int], word: int, lent: list[cuda.DeviceAllocation]
) -> Iterator[tuple[Job, Mapping[str, int]]]:
    """Each earlier call of a job, with the places of its arrays: the job's own arrays if the sizes are the same."""
    shapes = [one.shape for one in job.buffers if not one.is_returned]
    for earlier in job.earlier:
        placed = [one for one in earlier.buffers if not one.is_returned]
        held: dict[str, cuda.DeviceAllocation | int] = {one.name: addresses[one.name] for one in placed}
        if [one.shape for one in placed] != shapes:
            own = {one.name: cuda.mem_alloc(max(nbytes(one), 1)) for one in placed}
            lent += own.values()
            held = dict(own)
        for one in placed:
            content = initial_bytes(one)
            bits = repeat_word(word, nbytes(one)) if content is None else content
            if len(bits):
                cuda.memcpy_htod(held[one.name], bits)
        yield earlier, {name: int(address) for name, address in held.items()}


def needs_driver(job: Job) -> bool:
    """Whether a launch is one that PyCUDA does not have."""
    return any(step.cluster or step.cooperative for step in job.steps)


def _load(code: machine_code.MachineCode, shared_limit: int, by_driver: bool) -> _LoadedCode:
    """A module and its functions, each opted in to all the shared memory that the GPU gives a block."""
    module = cuda.module_from_buffer(code.image)
    functions, packs, names = {}, {}, cuda.function_attribute
    for entry, there in code.entries.items():
        function = module.get_function(there.symbol)
        if there.pack:
            packs[entry] = module.get_function(there.pack.symbol)
            packs[entry].prepare(_parameter_format(there.pack))
            function.prepare([f"{there.packed}s"])
        else:
            function.prepare(_parameter_format(there))
        static = function.get_attribute(names.SHARED_SIZE_BYTES)
        function.set_attribute(names.MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_limit - static)
        function.set_attribute(names.PREFERRED_SHARED_MEMORY_CARVEOUT, 100)
        functions[entry] = function
    once_more = graphs.LoadedFunctions(code.image) if by_driver else None
    return _LoadedCode(code, module, functions, packs, once_more)


def _launch(program: _LoadedCode, job: Job, step: Step, arguments: Sequence[int | bytes], stream: cuda.Stream) -> None:
    """Launch one step. All steps of a job go the same way: the two copies of a module have separate variables."""
    if not needs_driver(job):
        function = program.functions[step.entry]
        function.prepared_async_call(step.grid, step.block, stream, *arguments, shared_size=step.shared)
        return
    assert program.by_driver
    there = program.code.entries[step.entry]
    values = [one for one in arguments if not isinstance(one, bytes)]
    packed = b"".join(one for one in arguments if isinstance(one, bytes)) or graphs.pack_arguments(
        values, there.parameters
    )
    function = program.by_driver.function(there.symbol, step.shared)
    handle = ctypes.c_void_p(stream.handle)
    graphs.launch(function, step.grid, step.block, step.shared, packed, handle, step.cluster, step.cooperative)


def _parameter_format(entry: machine_code.CodeEntry) -> str:
    """The parameters of a function in the letters of Python's struct."""
    return "".join("q" if size == POINTER else "i" for size in entry.parameters)


def _arguments(
    program: _LoadedCode, step: Step, addresses: Mapping[str, int], packed: cuda.DeviceAllocation, stream: cuda.Stream
) -> list[int | bytes]:
    """The arguments of a launch; if C++ makes them, all of them as one string of bytes."""
    given: list[int | bytes] = [addresses[one] if isinstance(one, str) else one for one in step.args]
    pack = program.packs.get(step.entry)
    if pack is None:
        return given
    made = np.empty(program.code.entries[step.entry].packed, np.uint8)
    pack.prepared_async_call((1, 1, 1), (1, 1, 1), stream, int(packed), *given)
    stream.synchronize()
    cuda.memcpy_dtoh(made, packed)
    return [made.tobytes()]


def _driver_words(error: Exception) -> str:
    """The driver's words, without the name of the driver function that failed."""
    return str(error).rpartition(" failed: ")[2]


def _as_int(word: int) -> int:
    """The C int with these 32 bits."""
    return word - (1 << 32) if word >> 31 else word


def _ignore(part: str) -> None:
    """A progress callback that does nothing."""


def backend() -> GpuContext:
    """The backend with which worker.py runs jobs."""
    with take_turn(START):
        driver.gpu()
    nvidia.check_machine()  # it asks nvcc, for which no other process need wait
    with take_turn(START):
        try:
            return GpuContext()
        except cuda.Error as error:
            raise DeviceError(f"the GPU does not start: {error}") from error


def replay(job: Job, probe: Probe) -> None:
    """Launch a job once, for compute-sanitizer to watch, and end the process."""
    cuda.init()
    context = cuda.Device(0).make_context()
    try:
        launch_plainly(job, probe, context)
    except cuda.Error as error:
        print(f"a launch failed: {error}")
    print(REPLAY_ENDED, flush=True)
    os._exit(0)  # leaving the context is not part of what is watched, whatever its state


def launch_plainly(job: Job, probe: Probe, context: cuda.Context) -> None:
    """Launch a job once in memory of exactly its arrays' sizes, without poison; raise a cuda.Error if it fails."""
    kept, addresses = [], {}
    for buffer, distance in zip(job.buffers, offsets(job, probe.seed), strict=True):
        memory = cuda.mem_alloc(max(nbytes(buffer), 1) + distance)
        address = addresses[buffer.name] = int(memory) + distance
        kept.append(memory)
        print(f"array {buffer.name} at {address:#x}")
        if (content := initial_bytes(buffer)) is not None:
            cuda.memcpy_htod(address, content)
    code = machine_code.code_of(job, driver.gpu().architecture)
    program = _load(code, cuda.Device(0).get_attribute(SHARED_LIMIT), needs_driver(job))
    packed, stream = cuda.mem_alloc(MOST_PACKED), cuda.Stream()
    for step in job.steps:
        arguments = _arguments(program, step, addresses, packed, stream)
        _launch(program, job, step, arguments, stream)
        context.synchronize()


if __name__ == "__main__":
    replay(*pickle.loads(Path(sys.argv[1]).read_bytes()))  # noqa: S301  written by sanitizer.watched just now
