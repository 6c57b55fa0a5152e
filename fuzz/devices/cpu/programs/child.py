"""Runs programs, each in a process of its own: `python -m kfuzz.devices.cpu.programs.child PROGRAM ARGUMENT...`.

That is how a program file runs by itself. Without arguments, this reads a request from each line, and answers it with
the exit status of the process that ran it. Knows the runtime's structs; check.py knows what they mean.
"""

import contextlib
import ctypes
import functools
import json
import mmap
import os
import pickle
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NoReturn

from kfuzz.devices import DeviceError, Refusal
from kfuzz.devices.cpu import abi, toolchain
from kfuzz.devices.cpu.backend import MEMORY_LIMIT, limit_process
from kfuzz.devices.cpu.compiler import Library
from kfuzz.devices.cpu.experiments import Manner
from kfuzz.devices.cpu.programs.build import load_program
from kfuzz.devices.cpu.programs.messages import OWN_FAULT, ProgramEnd, ProgramRun, RequestFiles
from kfuzz.devices.cpu.programs.sampling import CheckedShare, LastLaunch, SampledShare
from kfuzz.devices.memory.layout import POISONS

ADDRESSES_OF_ARRAYS = 11 << 34
"""Bytes of addresses of a program's arrays and their shadow (runtime/arena.cpp). Few of them take memory."""
MOST_LAUNCHES = 1 << 14
"""Launches that differ from the one right before."""


class LiveRun(ctypes.Structure):
    """The structs that a run fills in, which a second process may read meanwhile."""

    _fields_ = (
        ("raw", abi.RawRun),
        ("findings", abi.RawFinding * abi.FINDING_CAPACITY),
        ("buffers", abi.RawBuffer * abi.MOST_ALLOCATIONS),
        ("launched", abi.RawLaunched * MOST_LAUNCHES),
    )


def make_live_run(path: str) -> LiveRun:
    """The structs of a run in a new file."""
    with open(path, "w+b") as file:
        file.truncate(ctypes.sizeof(LiveRun))
        return LiveRun.from_buffer(mmap.mmap(file.fileno(), ctypes.sizeof(LiveRun)))


def read_live_run(path: Path) -> ProgramEnd | None:
    """What a run in another process has shown so far; None before it begins."""
    with contextlib.suppress(OSError, ValueError):
        live = LiveRun.from_buffer_copy(path.read_bytes())
        live.raw.status, live.raw.refusal = abi.Status.timed_out, None
        return read_end(live, 0.0) if live.raw.findings else None
    return None


def read_count(path: Path, name: Literal["finding_count", "launches_begun"]) -> int:
    """How many findings or launches a run in another process has so far."""
    field = getattr(abi.RawRun, name)
    with contextlib.suppress(OSError), path.open("rb") as file:
        return int.from_bytes(file.read(field.offset + field.size)[field.offset :], sys.byteorder)
    return 0


@functools.cache
def find_runtime() -> Path:
    """The runtime of this machine's compiler: to ask for it takes most of a short run, so that forks inherit it."""
    return toolchain.build_runtime()


def run_main(request: ProgramRun, words: list[str], live: LiveRun, close: Callable[[ProgramEnd], NoReturn]) -> NoReturn:
    """Run main once with these arguments. `close` takes how it ended, and ends this process.

    Where another thread of the program ends it, the first one may be anywhere: then `close` is called by a thread of
    the runtime's own.
    """
    library, manner = request.library, request.manner
    limit_process(MEMORY_LIMIT + ADDRESSES_OF_ARRAYS)
    runtime = abi.Runtime(find_runtime())
    loaded = abi.LoadedLibrary(library)
    given = (ctypes.c_char_p * (len(words) + 1))(*(os.fsencode(one) for one in words), None)
    buffers, launched, findings = live.buffers, live.launched, live.findings
    step = abi.RawStep(entry=loaded.entries["main"].raw, arg_count=2, on_host=1)
    step.args = abi.arguments([(-1, len(words)), (-1, ctypes.addressof(given))])
    live.raw = abi.RawRun(
        watched_buffer=-1,
        module=ctypes.pointer(loaded.module),
        buffers=buffers,
        steps=(abi.RawStep * 1)(step),
        shared_arrays=loaded.shared,
        variables=loaded.variables,
        thread_local_anchor_offset=library.anchor_offset,
        step_count=1,
        shared_array_count=len(library.shared_arrays),
        static_shared=loaded.static_shared,
        static_shared_count=len(library.static_shared),
        variable_count=len(library.variables),
        schedule=manner.schedule,
        poison=manner.poison,
        seed=manner.seed,
        check=library.flavour == "check",
        preempt_one_in=manner.preempt_one_in,
        late_writes=manner.late_writes,
        assume=manner.assume,
        missing_lane=manner.missing_lane,
        multiprocessors=manner.multiprocessors,
        timeout_ms=max(1, int(request.seconds * 1000)) if request.seconds else 0,
        still_ms=int(request.still * 1000),
        findings=findings,
        finding_capacity=abi.FINDING_CAPACITY,
        given=(abi.RawGiven * abi.MOST_GIVEN)(),
        buffer_capacity=len(buffers),
        launched=launched,
        launched_capacity=len(launched),
        is_program=True,
        accesses_in_full=request.sampling.accesses_in_full,
        accesses_before_few=request.sampling.accesses_before_few,
        sampled_from=0 if manner.whole else request.sampling.sampled_from,
        may_skip_launches=not manner.whole and not _shares_variables(library),
    )
    raw = live.raw
    began = time.process_time()

    def close_run() -> None:
        loaded.function("cuda_on_cpu_program_flush", ())()
        close(read_end(live, time.process_time() - began))

    when_closed = ctypes.CFUNCTYPE(None)(or_fail(close_run))
    raw.when_closed = ctypes.cast(when_closed, ctypes.c_void_p)
    runtime.run(raw)
    close_run()
    raise AssertionError("the process has ended")


def _shares_variables(library: Library) -> bool:
    """Whether the host may write a variable of the device as its own."""
    return any("__managed__" in file.text for file in library.files.values())


def or_fail(act: Callable[[], None]) -> Callable[[], None]:
    """The same, but an exception ends the process, since a thread of the runtime's own has no caller in Python."""

    def guarded() -> None:
        try:
            act()
        except BaseException:
            traceback.print_exc()
            os._exit(OWN_FAULT)

    return guarded


def read_end(live: LiveRun, seconds: float) -> ProgramEnd:
    """How a run has ended that took so much processor time."""
    raw, findings, buffers, launched = live.raw, live.findings, live.buffers, live.launched
    return ProgramEnd(
        bytes(memoryview(findings)[: raw.finding_count]),
        bytes(memoryview(buffers)[: raw.buffer_count]),
        bytes(memoryview(launched)[: raw.launched_count]),
        raw.status,
        raw.exit_code,
        seconds,
        raw.block_ms / 1000,
        raw.thread_steps,
        raw.launched_count,
        Refusal(raw.refusal.decode(errors="replace"), raw.refusal_line or None) if raw.refusal else None,
        SampledShare(
            raw.sampled_launches, raw.sampled_blocks, raw.blocks_in_full, raw.blocks_in_part, raw.skipped_launches
        ),
        bool(raw.asks_multiprocessors),
        CheckedShare(
            max(raw.launches_begun + raw.skipped_launches, raw.launched_count),
            *(raw.launches_begun, raw.blocks_run, raw.blocks_checked),
        ),
        LastLaunch(raw.launches_begun, launched[raw.launched_now].line, raw.blocks_done, raw.blocks_of_launch)
        if raw.launches_begun
        else None,
    )


def run_alone(words: list[str]) -> None:
    """Run a program once in forward order, as when its user starts it."""

    def close(end: ProgramEnd) -> NoReturn:
        if end.findings:
            sys.stderr.write(f"kfuzz: this run has findings; kfuzz check {words[0]} shows them\n")
        if end.refusal:
            sys.stderr.write(f"kfuzz: cannot run: {end.refusal.words}\n")
        sys.stderr.flush()
        os._exit(end.exit_code & 255 if end.status == abi.Status.finished else 1)  # without running destructors again

    run_main(ProgramRun(load_program(Path(words[0])), Manner(0, POISONS[0]), 0.0), words, LiveRun(), close)


def serve() -> None:
    """Run the request of each line until there is none left. This process is loaded once for all runs."""
    with contextlib.suppress(DeviceError):  # the run says what is wrong
        find_runtime()
    for line in sys.stdin:
        request = RequestFiles(**json.loads(line))
        child = os.fork()
        if child == 0:
            answer_request(request)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def answer_request(request: RequestFiles) -> None:
    """Run a request in this process, write its answer, and end the process."""
    os.chdir(request.folder)
    os.dup2(request.input, 0)
    for number, place in ((1, request.output), (2, request.errors)):
        os.dup2(os.open(place, os.O_RDWR | os.O_CREAT, 0o600), number)

    def close(end: ProgramEnd) -> NoReturn:
        Path(request.answer).write_bytes(pickle.dumps(end))
        os._exit(0)

    try:
        wanted: ProgramRun = pickle.loads(Path(request.ask).read_bytes())  # noqa: S301  the same user wrote it
        run_main(wanted, request.words, make_live_run(request.live), close)
    except BaseException:
        traceback.print_exc()
        os._exit(OWN_FAULT)


if __name__ == "__main__":
    run_alone(sys.argv[1:]) if sys.argv[1:] else serve()
