"""Worker processes: whatever a kernel does, the caller survives, learns what happened, and nothing is left over."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from paths import ROOT, TESTS
from planted_jobs import expected, job_of, planted, source

from kfuzz.common.errors import wrap_unexpected
from kfuzz.devices import Buffer, DeviceError, Job, Outcome, Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.processes import descendants
from kfuzz.devices.worker.plain import read_plain
from kfuzz.devices.worker.worker import LATE, MARK_BYTES, MOST_TOGETHER, Patience, Worker, _Replies
from kfuzz.oracle.numbers.elements import F32

pytestmark = pytest.mark.slow

SHORT = Probe(timeout=0.3)


@pytest.fixture(scope="module")
def device() -> Iterator[CpuDevice]:
    with CpuDevice() as one:
        yield one


def ending(entry: str, **arguments: object) -> Job:
    return planted("endings", entry, arguments, block=1)  # type: ignore[arg-type]  # words of this module


HOSTILE: dict[str, tuple[Job, str, bool]] = {
    "infinite loop": (ending("loops", y="f32[1]", n=7), "hang", True),
    "infinite loop over barriers": (ending("loops_over_barriers", y="f32[1]", n=7), "hang", True),
    "waiting for what never comes": (ending("spins", flag="i32[1] = 0"), "hang", True),
    "division by zero": (ending("divides_by_zero", y="i32[1]", n=0), "trap", True),
    "wild pointer": (ending("writes_through_a_wild_pointer", y="f32[1]", n=77), "illegal-address", True),
    "stack overflow": (ending("recurses_forever", y="i32[1]"), "illegal-address", False),
    "all memory": (ending("takes_all_memory", y="f32[1]"), "illegal-address", True),
    "array of 100 GB": (
        Job(
            **{**vars(ending("is_fine", y="f32[1]")), "buffers": (Buffer("y", F32, (25_000_000_000,), is_output=True),)}
        ),
        "out-of-memory",
        False,
    ),
    "abort": (ending("aborts"), "trap", False),
    "exit": (ending("exits"), "trap", False),
    "trap": (ending("traps"), "trap", True),
    "assertion": (ending("asserts", n=7), "trap", True),
}


def is_as_it_should_be(device: CpuDevice) -> bool:
    outcome = device.run(planted("endings", "is_fine", {"y": "f32[64]"}), Probe())
    return outcome.findings == () and all((run.outputs["y"] == 1).all() for run in outcome.runs)


def hostile(name: str, check: bool) -> object:
    """A kernel in a flavour. What hangs does so for longer than it takes to see it, so one flavour is in each run."""
    is_seldom = not check and HOSTILE[name][1] == "hang"
    return pytest.param(name, check, id=f"{'check' if check else 'fast'}-{name}", marks=[pytest.mark.soak] * is_seldom)


@pytest.mark.parametrize(("name", "check"), [hostile(name, check) for check in (False, True) for name in HOSTILE])
def test_a_hostile_kernel_is_reported_as_what_it_is(device: CpuDevice, name: str, check: bool) -> None:
    job, kind, has_line = HOSTILE[name]
    findings = device.run(job, Probe(check=check, timeout=0.3 if kind == "hang" else 10.0)).findings
    assert [one.kind for one in findings][:1] == [kind], findings
    marks = expected(source("endings"), job.steps[0].entry)
    assert not has_line or ("error", kind, findings[0].line) in marks, findings
    assert is_as_it_should_be(device)


def test_a_kernel_writes_no_file(device: CpuDevice) -> None:
    outcome = device.run(ending("writes_a_file", y="f32[1]"), Probe())
    assert outcome.findings == ()
    assert [run.outputs["y"][0] for run in outcome.runs] == [0.0] * 3
    assert is_as_it_should_be(device)


def left_over(device: CpuDevice, before: set[int]) -> set[int]:
    """The processes that are neither from before nor the device's own and stay.

    A spare worker that still starts asks the compiler for its version; what a kernel of these tests starts never ends.
    """
    spare = device._worker._spare  # there is one where the last worker was lost
    own = {device._worker.pid, spare.popen.pid if spare else None}
    until = time.monotonic() + 10.0
    while (left := set(descendants(os.getpid())) - before - own) and time.monotonic() < until:
        time.sleep(0.05)
    return left


@pytest.mark.parametrize(
    "job",
    [
        ending("forks_and_goes_on", y="f32[1]"),
        ending("forks_and_the_copy_stays", y="f32[2] = 0", has_a_session=0, then_spins=0),
        ending("forks_and_the_copy_stays", y="f32[2] = 0", has_a_session=1, then_spins=0),
        ending("forks_and_the_copy_stays", y="f32[2] = 0", has_a_session=1, then_spins=1),
    ],
    ids=["goes on", "stays", "stays in a session of its own", "stays while its parent hangs"],
)
def test_what_a_kernel_starts_ends_with_it(device: CpuDevice, job: Job) -> None:
    """As root, whom the system lets start processes all the same; others are refused, and their kernel goes on."""
    assert is_as_it_should_be(device)
    before = set(descendants(os.getpid()))
    outcome = device.run(job, Probe(timeout=0.3))
    if os.getuid() == 0:
        assert {one.kind for one in outcome.findings} <= {"trap", "hang"}
        assert outcome.findings
    else:
        assert [run.outputs["y"][0] for run in outcome.runs] in ([2.0] * 3, [])
    assert is_as_it_should_be(device)
    assert not left_over(device, before)


AS_IT_IS_LOADED = """
#include <fcntl.h>
#include <unistd.h>
struct AtStart {
    float wrote, child;
    AtStart() {
        const int file = open("/tmp/kfuzz-a-constructor-wrote-this", O_CREAT | O_WRONLY, 0600);
        wrote = file >= 0 && write(file, "x", 1) == 1;
        unlink("/tmp/kfuzz-a-constructor-wrote-this");
        child = FORKS ? fork() : 1;
        if (child == 0) for (;;) pause();
    }
};
static AtStart at_start;
__global__ void k(float *y) { y[0] = at_start.wrote + (at_start.child < 0 ? 2.0f : 0.0f); }
"""


@pytest.mark.parametrize("forks", [False, True])
def test_what_a_file_does_as_it_is_loaded_is_held_to_the_same(device: CpuDevice, forks: bool) -> None:
    before = set(descendants(os.getpid()))
    job = job_of(AS_IT_IS_LOADED.replace("FORKS", str(int(forks))), ("k",), "k", {"y": "f32[1]"}, block=1)
    outcome = device.run(job, Probe())
    if forks and os.getuid() == 0:
        assert [one.kind for one in outcome.findings] == ["trap"]
    else:
        assert [run.outputs["y"][0] for run in outcome.runs] == [2.0 * forks] * 3
    assert not left_over(device, before)


def test_a_process_in_a_session_of_its_own_is_found_by_its_ancestors() -> None:
    """The partner: what is looked for above would be seen."""
    command = "import os, time; os.setsid(); print(flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        assert child.pid in descendants(os.getpid())
    finally:
        child.kill()
        child.communicate()
    assert child.pid not in descendants(os.getpid())


def files_open() -> int:
    gc.collect()  # an earlier test's file that is garbage is closed at any time
    return len(os.listdir("/proc/self/fd"))


def round_of_hostility(device: CpuDevice, trials: int) -> None:
    cases = list(HOSTILE.values())
    for number in range(trials):
        job, kind, _ = cases[number % len(cases)]
        found = device.run(job, Probe(timeout=0.05 if kind == "hang" else 10.0)).findings  # a machine may be busy
        assert kind in {one.kind for one in found}


@pytest.mark.parametrize("trials", [18, pytest.param(1000, marks=pytest.mark.soak)])
def test_hostile_trials_leave_no_process_and_no_file_behind(trials: int) -> None:
    with CpuDevice() as device:
        round_of_hostility(device, len(HOSTILE))  # from the second on, workers are forks of one process, which stays
    before, files = set(descendants(os.getpid())), files_open()
    with CpuDevice() as device:
        round_of_hostility(device, trials)
        assert is_as_it_should_be(device)
        assert not left_over(device, before)
    assert not left_over(device, before)
    assert files_open() == files


def test_the_same_process_runs_many_jobs(device: CpuDevice) -> None:
    assert is_as_it_should_be(device)
    before = device._worker.pid
    assert is_as_it_should_be(device)
    assert device._worker.pid == before is not None


def spin_under_an_alarm(device: CpuDevice) -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    device.run(ending("spins", flag="i32[1] = 0"), Probe(timeout=60.0))


def test_an_interrupt_while_waiting_ends_the_worker_and_the_next_job_runs() -> None:
    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        with CpuDevice() as device:
            assert is_as_it_should_be(device)
            worker = device._worker.pid
            with pytest.raises(KeyboardInterrupt):
                spin_under_an_alarm(device)
            assert worker is not None
            assert gone(worker)
            assert is_as_it_should_be(device)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def gone(pid: int, seconds: float = 300.0) -> bool:
    until = time.monotonic() + seconds
    while is_alive(pid) and time.monotonic() < until:
        os.sched_yield()
    return not is_alive(pid)


CALLER = """
import sys
sys.path[:0] = {paths!r}
from planted_jobs import planted
from kfuzz.devices import Probe
from kfuzz.devices.cpu.device import CpuDevice
device = CpuDevice()
device.run(planted("endings", "is_fine", {{"y": "f32[64]"}}), Probe())
print(device._worker.pid, flush=True)
device.run(planted("endings", "spins", {{"flag": "i32[1] = 0"}}), Probe(timeout=600.0))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_worker_does_not_outlive_its_caller(how: signal.Signals) -> None:
    paths = [str(TESTS / "helpers"), str(ROOT)]
    caller = subprocess.Popen(
        [sys.executable, "-c", CALLER.format(paths=paths)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert caller.stdout is not None
    worker = int(caller.stdout.readline())
    assert is_alive(worker)
    caller.send_signal(how)
    caller.wait()
    caller.stdout.close()
    assert gone(worker)


def test_a_kernel_that_never_answers_is_killed() -> None:
    worker = Worker("obstinate_backend", grace=0.0)
    outcome = worker.run(ending("is_fine", y="f32[1]"), Probe(timeout=0.2))
    assert [one.kind for one in outcome.findings] == ["hang"]
    assert worker.pid is None


def together(*names: str) -> list[str]:
    """What comes of jobs that are asked for at once: a job by itself first, so that the process is there."""
    worker, probe = Worker("far_sighted_backend"), Probe(timeout=0.3)
    worker.run(job_named("first"), probe)
    for name in names:
        worker.ask(job_named(name), probe)
    found = []
    for _ in names:
        outcome = worker.answer()
        found.append(" ".join((*outcome.notes, *(f"{one.kind}: {one.message}" for one in outcome.findings))))
    worker.close()
    return found


def job_named(name: str) -> Job:
    return Job(**{**vars(ending("is_fine", y="f32[1]")), "kernel": name})


def test_jobs_that_wait_may_begin_together() -> None:
    """How many do depends on how soon they are there; each has its own answer, in the order in which it was asked."""
    names = [f"job {number}" for number in range(40)]
    reported = together(*names)
    assert [one.split(",")[0] for one in reported] == names
    assert max(int(one.rpartition(" ")[2]) for one in reported if "one of" in one) in range(2, MOST_TOGETHER + 1)


def test_jobs_that_run_together_leave_the_answers_of_those_asked_before() -> None:
    worker, probe = Worker("far_sighted_backend"), Probe(timeout=0.3)
    worker.run(job_named("first"), probe)
    worker.ask(job_named("asked"), probe)
    several = worker.run_all([(job_named(f"job {number}"), probe) for number in range(3)])
    found = [outcome().notes[0].split(",")[0] for outcome in (*several, worker.answer)]
    worker.close()
    assert found == ["job 0", "job 1", "job 2", "asked"]


@pytest.mark.parametrize(
    ("which", "finding"),
    [
        pytest.param("traps", "trap: traps alone", marks=pytest.mark.soak),
        ("kills", "out-of-memory: the system killed the process, most likely for want of memory, running"),
        (
            "hangs",
            "hang: planted.cu did not return within 0.3 s, running (limit of one call: --call-time); "
            "the process was killed",
        ),
    ],
)
def test_one_that_ends_what_others_need_is_found_and_they_are_run_alone(which: str, finding: str) -> None:
    before, behind = (
        [f"job {number}" for number in range(3)],
        [f"job {number}" for number in range(4, 3 * MOST_TOGETHER)],
    )
    reported = together(*before, which, *behind)
    assert reported[3] == finding
    assert len(reported) == 3 * MOST_TOGETHER
    assert [one.split(",")[0] for one in reported if one != finding] == before + behind
    later = reported[4:]  # what came later is begun together again, but for a rest of one
    assert any("one of" in one for one in later)


def test_a_hang_is_reported_with_all_the_time_that_the_job_had() -> None:
    worker = Worker("far_sighted_backend", grace=0.25, slack=2.0)
    (found,) = worker.run(job_named("hangs"), Probe(timeout=0.25)).findings
    worker.close()
    limit = "limit of one call: --call-time"
    message = f"planted.cu did not return within 0.75 s, running ({limit}); the process was killed"
    assert (found.kind, found.message) == ("hang", message)


WORK = """
__global__ void works(float *y) {
    float last = 0.0f;
    for (int i = 0; i < 30000000; i++) {
        last = last * 0.5f + i;
    }
    y[0] = last;
}
"""


@pytest.mark.soak  # it keeps a processor busy for six seconds
def test_a_worker_that_has_no_processor_is_waited_for() -> None:
    worker, probe = Worker("kfuzz.devices.cpu.backend"), Probe(timeout=1.0)
    job = job_of(WORK, ("works",), "works", {"y": "f32[1]"}, block=1)
    assert worker.run(job, probe).findings == ()
    one = {min(os.sched_getaffinity(0))}
    spin = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(spin, start_new_session=True) for _ in range(16)]  # of each session as much as of another
    until = threading.Timer(6.0, lambda: [other.kill() for other in busy])
    try:
        assert worker.pid
        for pid in (worker.pid, *(other.pid for other in busy)):
            os.sched_setaffinity(pid, one)
        until.start()
        began = time.monotonic()
        outcome = worker.run(job, probe)
        took = time.monotonic() - began
    finally:
        until.cancel()
        for other in busy:
            other.kill()
            other.wait()
    worker.close()
    assert outcome.findings == ()
    assert took > 1.5 * probe.timeout, "it had a processor, and this test tests nothing"


def test_time_between_two_distant_looks_does_not_count() -> None:
    patience = Patience(os.getpid())
    now = time.monotonic()
    assert patience.more(now - 0.01) == 0.0
    assert patience.more(now - 3600.0) > 3600.0 - LATE


def test_a_worker_ends_where_an_interrupt_has_left_the_lock_of_its_process_taken() -> None:
    worker = Worker("kfuzz.devices.cpu.backend")
    assert worker.run(ending("is_fine", y="f32[1]"), SHORT).findings == ()
    assert worker._process
    worker._process.popen._waitpid_lock.acquire()  # type: ignore[attr-defined]  # Ctrl-C just behind this line of poll
    pid = worker.pid
    closing = threading.Thread(target=worker.close, daemon=True)
    closing.start()
    closing.join(300.0)
    assert not closing.is_alive()
    assert pid
    assert gone(pid)


def test_a_backend_that_cannot_start_says_why() -> None:
    worker = Worker("no_such_backend")
    with pytest.raises(DeviceError, match="no_such_backend"):
        worker.run(ending("is_fine", y="f32[1]"), SHORT)


def test_a_limit_on_memory_that_is_lower_than_ours_stays() -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))\n"
        "from kfuzz.devices.cpu.backend import CpuBackend; CpuBackend()\n"
        "print(resource.getrlimit(resource.RLIMIT_AS) == (3 << 30, 3 << 30))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_a_reply_that_cannot_be_written_is_a_bug_of_kfuzz_and_no_trap(tmp_path: Path) -> None:
    """It ended the process, which looked like a kernel's trap: `TypeError: Tensor is no part of a reply`."""
    with (tmp_path / "replies").open("w+b") as pipe:
        _Replies(pipe).send(("done", Outcome(notes=(cast(str, object()),)), False))
        pipe.seek(MARK_BYTES)
        reply = read_plain(pipe.read, [tuple[str, str, str]], 1 << 20)
    assert reply[:2] == ("unexpected", str(wrap_unexpected(TypeError("object is no part of a reply"))))
