"""The sandbox of a process that runs an answer: what it still reads and writes, and how it is entered.

An answer is code that you have not read: it may read the interpreter, the packages, the system's libraries, what kfuzz
has compiled, and its own folder without the reference. It writes only to a scratch folder of limited size. It starts no
process, opens no socket, and reaches no other process. Knows paths, limits and the kernel's calls; never jobs.
Long, since what a box lets through and how it is entered have to agree.
"""

import contextlib
import errno
import functools
import json
import os
import resource
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from kfuzz.common.errors import DeviceError
from kfuzz.devices import cache
from kfuzz.devices.memory.machine_memory import machine_bytes
from kfuzz.devices.sandbox import landlock, seccomp
from kfuzz.devices.sandbox.kernel import (
    CLONE_NEWNS,
    CLONE_NEWUSER,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_REC,
    PR_GET_DUMPABLE,
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    RefusedCallError,
    control_process,
    drop_capabilities,
    leave_namespaces,
    machine,
    mount,
)
from kfuzz.devices.sandbox.locks import offer_locks

SYSTEM = (
    *("/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/local/lib", "/usr/share/zoneinfo", "/lib"),
    *("/lib32", "/lib64", "/usr/include", "/usr/local/include", "/usr/share/locale", "/usr/local/cuda"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/passwd", "/etc/group"),
    *("/etc/nsswitch.conf", "/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/proc/filesystems"),
    *("/proc/sys/vm/overcommit_memory", "/proc/sys/kernel/osrelease", "/sys/devices/system", "/sys/fs/cgroup"),
    *("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"),
)
"""What libraries read as they are loaded, or to see how large the machine is."""
PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/opt")
"""What a compiler executes and reads."""
DEVICES = ("/dev/null", "/dev/zero")
OWN = ("__init__.py", "__pycache__", "common", "devices", "kinds", "cuda_on_cpu")
OF_WEIGHTS = ("__init__.py", "references/__init__.py", "references/torch/__init__.py", "references/torch/weights.py")
"""kfuzz's own files that a worker needs, and those with which it draws weights: no oracle, and no reader of cases."""
OF_ORACLE = (
    *("__init__.py", "numbers", "words/__init__.py", "words/scaling.py", "systems/__init__.py", "systems/value.py"),
)
KEPT = ("cpu", "host")
"""The folders of the cache whose files are loaded. Another one holds the formulas that are made of references."""
VARIABLES = (
    *("PATH", "LANG", "LANGUAGE", "TZ", "TERM", "HOME", "CXX", "CPATH", "LD_LIBRARY_PATH", "LIBRARY_PATH"),
    *("KFUZZ_CACHE", "XDG_CACHE_HOME", "CUDA_HOME", "CUDA_PATH"),
)
BEGINNINGS = ("LC_", "PYTHON", "OMP_", "OPENBLAS_", "MKL_", "MALLOC_", "GLIBC_", "MOST_", "MONOTONIC_")
"""The variables that a sandboxed process keeps: others may hold secrets."""
MEMORY, LEAST_MEMORY = 4 << 30, 1 << 30
FILE_BYTES, SCRATCH_BYTES, SCRATCH_FILES, OPEN_FILES = 64 << 20, 256 << 20, 4096, 256
"""Limits: the size of a file, of all files in the scratch folder, their number, and the files open at once."""
MOST_ENTRIES = 4000
"""Entries of a folder that are named one by one, where a file in it must stay hidden."""
SCRATCH = "sandbox"
"""An empty folder of the cache over which each sandbox has a folder of its own, which ends with it."""


@dataclass(frozen=True)
class Box:
    """What a process in a sandbox may still do. `written` is empty, or the folder over which it gets its scratch
    folder; `memory`: bytes that it may write, beside those that kfuzz's own runtime reserves.
    """

    read: tuple[str, ...]
    listed: tuple[str, ...]
    scratch: str
    memory: int

    def as_dict(self) -> dict[str, object]:
        """As JSON has it."""
        return asdict(self)


def box_from(given: Mapping[str, object]) -> Box:
    """The box that `as_dict` has written."""
    read, listed, scratch, memory = (given[name] for name in ("read", "listed", "scratch", "memory"))
    assert isinstance(read, list | tuple)
    assert isinstance(listed, list | tuple)
    return Box(tuple(map(str, read)), tuple(map(str, listed)), str(scratch), int(str(memory)))


BOX = "SANDBOX_OF_PROCESS"
"""The variable by which a process that a command starts hears of its sandbox."""


ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""numpy starts threads as it is imported, and a process of several threads enters no sandbox."""


def variables_for(box: Box | None) -> dict[str, str]:
    """The variables of a process that is to enter this box; all of this process's if it is none."""
    return dict(os.environ) if box is None else {**kept_variables(), **ONE_THREAD, BOX: json.dumps(box.as_dict())}


def box_in_variables() -> Box | None:
    """The box that this process is to enter; None if there is none. Another question has no answer."""
    said = os.environ.pop(BOX, None)
    return None if said is None else box_from(json.loads(said))


@functools.cache
def why_not() -> str:
    """Why this machine gives no sandbox, in one line that says what to do; empty if it gives one."""
    if not sys.platform.startswith("linux") or machine() is None:
        return "kfuzz knows no sandbox for this system: it needs Linux on x86-64 or 64-bit ARM"
    if not landlock.version():
        return (
            "this kernel offers no Landlock, of which kfuzz's sandbox is made: it needs Linux 5.13 or later with "
            "landlock among the modules of the boot parameter lsm="
        )
    return _try()


def _try() -> str:
    """Enter a sandbox in a process of its own; why that fails, or nothing."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            enter(Box((), (), "", MEMORY), (writing,))
            os.write(writing, b"entered")
        except OSError as error:
            os.write(writing, f"{error.strerror}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    os.waitpid(child, 0)
    return "" if said == "entered" else f"kfuzz cannot enter its sandbox here: {said or 'the process ended'}"


def describe() -> str:
    """The sandbox that this machine gives, in a few words."""
    if missing := why_not():
        return missing
    parts = [f"Landlock {landlock.version()}", "seccomp"]
    parts.append("a scratch folder" if _has_scratch() else "no scratch folder: this kernel gives no namespaces")
    return ", ".join(parts)


@functools.cache
def _has_scratch() -> bool:
    """Whether a process here may have a folder of its own."""
    if (child := os.fork()) == 0:
        status = 1
        with contextlib.suppress(BaseException):
            control_process(PR_SET_DUMPABLE, 1)
            status = 0 if _own_scratch(str(_scratch_place())) else 1
        os._exit(status)
    return not os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def check_offered() -> None:
    """Raise a DeviceError if this machine gives no sandbox."""
    if missing := why_not():
        raise DeviceError(f"{missing}; --no-sandbox runs the answer with your rights")


@dataclass(frozen=True)
class Sandboxed:
    """The files that run in a sandbox, and those that stay out of their reach, such as a reference.

    `lends_reference`: the text of a reference runs there, too, where only it can make an input.
    """

    answers: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    lends_reference: bool = False

    def box(self) -> Box:
        """The box for all of them."""
        return box_for(self.answers, self.hidden)

    def box_of(self, answer: Path, beside: Iterable[str] = ()) -> Box:
        """The box for one of them, which may import these files, too."""
        return box_for((answer,), self.hidden, map(Path, beside))


IN_FORCE = "SANDBOX_IN_FORCE"
"""The variable by which a process of kfuzz hears that files run in a sandbox. Processes in one do not get it."""


def in_force() -> Sandboxed | None:
    """The files that run in a sandbox now; None: every file runs with the rights of its user."""
    if (said := os.environ.get(IN_FORCE)) is None:
        return None
    answers, hidden, lends_reference = json.loads(said)
    return Sandboxed(tuple(map(Path, answers)), tuple(map(Path, hidden)), lends_reference)


@contextlib.contextmanager
def sandboxed(these: Sandboxed | None) -> Iterator[None]:
    """Meanwhile all that this process, and those that it starts, run on the cpu device, or call there, runs in a
    sandbox. DeviceError if this machine gives none.
    """
    if these is None:
        yield
        return
    check_offered()
    before = os.environ.get(IN_FORCE)
    paths = [[str(one.resolve()) for one in each] for each in (these.answers, these.hidden)]
    os.environ[IN_FORCE] = json.dumps([*paths, these.lends_reference])
    try:
        yield
    finally:
        if before is None:
            del os.environ[IN_FORCE]
        else:
            os.environ[IN_FORCE] = before


def box_for(answers: Iterable[Path], hidden: Iterable[Path] = (), beside: Iterable[Path] = ()) -> Box:
    """The box for these answers, and the files that they may import; the hidden files stay out of its reach."""
    secret = tuple(one.resolve() for one in hidden)
    read = [*_read_by_all(secret, tuple(sys.path), str(Path.cwd()))]
    read += [str(cache.folder() / one) for one in KEPT]
    listed = list(map(str, _own_homes()))  # else no module of theirs is found
    for answer in answers:
        read.append(str(answer.resolve()))
        folder = answer.resolve().parent
        if not _is_broad(folder):
            read += _without(folder, secret, with_hidden=False)
            listed.append(str(folder))
    for one in (path.resolve() for path in beside):
        if not any(each in (one, *one.parents) for each in secret):
            read.append(str(one))
            listed.append(str(one.parent))
    return Box(tuple(dict.fromkeys(read)), tuple(dict.fromkeys(listed)), str(_scratch_place()), memory_of_box())


@functools.cache
def _read_by_all(secret: tuple[Path, ...], *_: object) -> tuple[str, ...]:
    """What every box lets be read, but for these files: it is the same as long as this process imports from the same
    folders.
    """
    roots = (*SYSTEM, *map(str, _packages()))
    found = [one for root in roots for one in _without(Path(root), (*_own_homes(), *secret))]
    return (*found, *map(str, _own_files()))


def memory_of_box() -> int:
    """Bytes that one answer may have."""
    return max(LEAST_MEMORY, min(MEMORY, machine_bytes() // 2))


def _scratch_place() -> Path:
    place = cache.folder() / SCRATCH
    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
    return place


def _packages() -> Iterator[Path]:
    """The interpreter, and the folders from which it imports, without the working folder."""
    yield from (Path(sysconfig.get_path(one)) for one in ("stdlib", "platstdlib", "purelib", "platlib"))
    yield from (Path(prefix) / "lib" for prefix in {sys.prefix, sys.base_prefix})
    yield Path(sys.prefix) / "pyvenv.cfg"
    yield Path(site.getusersitepackages())
    here = Path.cwd()
    yield from (Path(one) for one in sys.path if one and Path(one).resolve() != here and not _is_broad(Path(one)))


def _own_homes() -> tuple[Path, ...]:
    """Where kfuzz itself lies."""
    return tuple(Path(_origin(name)).resolve().parent for name in ("kfuzz", "kfuzz.oracle"))


def _origin(name: str) -> str:
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return spec.origin


def _own_files() -> Iterator[Path]:
    home, oracle = _own_homes()
    yield from (home / one for one in OWN)
    yield from (home / "claims" / one for one in OF_WEIGHTS)
    yield from (oracle / one for one in OF_ORACLE)


def _is_broad(folder: Path) -> bool:
    """Whether a folder holds far more than an answer: the home folder, or one above it."""
    home = Path(os.path.expanduser("~")).resolve()
    return folder.resolve() in (home, *home.parents, Path("/tmp"), Path("/var/tmp"))  # noqa: S108  nothing is made there


def _without(root: Path, hidden: tuple[Path, ...], with_hidden: bool = True) -> list[str]:
    """The paths that cover a folder without these files and folders, and without compiled forms of them."""
    try:
        root = root.resolve()
    except OSError:
        return []
    if not root.exists():
        return []
    inside = [one for one in hidden if one == root or root in one.parents]
    if root in inside:
        return []
    if not root.is_dir() or (not inside and with_hidden):
        return [str(root)]
    found: list[str] = []
    for one in sorted(root.iterdir())[:MOST_ENTRIES]:
        is_compiled = one.name == "__pycache__" and bool(inside)
        if is_compiled or (one.name.startswith(".") and not with_hidden) or one.is_symlink():
            continue
        found += _without(one, hidden, with_hidden or one.is_file() or not any(one in each.parents for each in hidden))
    return found


NO_PROCESS = {"TORCHDYNAMO_DISABLE": "1"}
"""torch.compile leaves a function as it is: for a CPU it would start a compiler."""


def kept_variables() -> dict[str, str]:
    """The variables of this process that a sandboxed one gets, and those with which libraries start no process."""
    found = {name: value for name, value in os.environ.items() if name in VARIABLES or name.startswith(BEGINNINGS)}
    found |= {"TMPDIR": str(_scratch_place()), "KFUZZ_CACHE": str(cache.folder())}  # its HOME will be another one
    return found | NO_PROCESS


def enter(box: Box, open_files: Iterable[int], reserved: int = 0) -> None:
    """Put this process, which has a single thread, into its sandbox; only these files of it stay open.

    `reserved`: bytes that kfuzz's own runtime reserves in it.
    """
    if len(os.listdir("/proc/self/task")) > 1:
        raise RefusedCallError(
            errno.EBUSY, "a process of several threads enters no sandbox: its other threads would stay outside"
        )
    control_process(PR_SET_DUMPABLE, 1)  # else its own /proc/self belongs to the administrator
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_bytes(b"1000")
    has_scratch = bool(box.scratch) and _own_scratch(box.scratch)
    if has_scratch:
        # where libraries keep what they have compiled
        os.environ |= {"HOME": box.scratch, "TMPDIR": box.scratch, "XDG_CACHE_HOME": box.scratch}
    last = 3
    for one in sorted({*open_files} - {0, 1, 2}):
        if last < one:  # an empty range from 0 would close all files
            os.closerange(last, one)
        last = one + 1
    os.closerange(last, max(last, resource.getrlimit(resource.RLIMIT_NOFILE)[0], 1 << 12))
    _limit({
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_FSIZE: FILE_BYTES,
        resource.RLIMIT_DATA: box.memory + reserved,
        resource.RLIMIT_MSGQUEUE: 0,
    })  # fmt: skip
    control_process(PR_SET_NO_NEW_PRIVS, 1)
    reach = landlock.Reach(
        (*box.read, "/proc/self/"), box.listed, (*((box.scratch,) if has_scratch else ()), "/dev/null")
    )
    landlock.restrict(reach, landlock.version())
    drop_capabilities()
    seccomp.restrict()
    offer_locks()


def enter_for_compiler(box: Box) -> None:
    """Put this process, which compiles an answer, into a sandbox: it writes only to the cache, and has no network.

    Its files have a limit, too: `__device__ char a[3ull << 30] = {1};` made compilers write 6 GB.
    """
    _limit({resource.RLIMIT_FSIZE: cache.ROOM})
    control_process(PR_SET_NO_NEW_PRIVS, 1)
    listed = (str(cache.folder()),)
    read = (*box.read, *map(str, _own_homes()), "/proc", "/sys/devices/system", *DEVICES)
    reach = landlock.Reach(read, (*box.listed, *listed), (str(cache.folder()), *DEVICES), PROGRAMS)
    landlock.restrict(reach, landlock.version())
    drop_capabilities()
    seccomp.restrict(only_network=True)


def _limit(limits: Mapping[int, int]) -> None:
    for limit, most in limits.items():
        hard = resource.getrlimit(limit)[1]
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (value, value))


def _own_scratch(place: str) -> bool:
    """Give this process an empty folder of its own over this one; False if the system does not let it."""
    user, group = os.geteuid(), os.getegid()
    try:
        leave_namespaces(CLONE_NEWNS if user == 0 else CLONE_NEWNS | CLONE_NEWUSER)
        if user:
            Path("/proc/self/setgroups").write_bytes(b"deny")
            Path("/proc/self/uid_map").write_bytes(f"{user} {user} 1".encode())
            Path("/proc/self/gid_map").write_bytes(f"{group} {group} 1".encode())
        mount("none", "/", "", MS_REC | MS_PRIVATE, "")
        words = f"size={SCRATCH_BYTES},nr_inodes={SCRATCH_FILES},mode=0700"
        mount("kfuzz", place, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, words)
    except (RefusedCallError, OSError):
        return False
    return True


@contextlib.contextmanager
def untraceable() -> Iterator[None]:
    """Let no process of this user read or change this one's memory meanwhile."""
    before = control_process(PR_GET_DUMPABLE, 0)
    control_process(PR_SET_DUMPABLE, 0)
    try:
        yield
    finally:
        control_process(PR_SET_DUMPABLE, before)
