"""Keeps compiled kernels between runs, each in a file named by the hash of its inputs.

A content is followed by a hash of it and of its name, so that a file that was changed, cut or put in another's place is
made again. Knows files and hashes; it knows no compiler, and no device.
"""

import contextlib
import fcntl
import functools
import hashlib
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from kfuzz.devices import DeviceError

DIGEST = hashlib.sha256().digest_size

COMPILED = ("cpu", "cubin", "host", "claims")
"""The folders whose files can be made again at any time, and are removed when there are too many."""
MOST = 1 << 30
"""Bytes of them; a campaign over every kernel here takes some 100 MB, and the score of all mutants 200 more."""
HOUR = 3600.0
SCRATCH = "building"
LOCKS = "locks"
ABANDONED = 900.0
"""Seconds: three times the time limit of a compiler."""
ROOM = 128 << 20
"""Bytes: the largest file that a compiler may write for an answer in a sandbox. The precompiled header with torch's
headers has 76 MB, and is the largest one that was seen.
"""


def folder() -> Path:
    """`$KFUZZ_CACHE`, or `$XDG_CACHE_HOME/kfuzz`, or `~/.cache/kfuzz`, the first that is set; without a home, a folder
    of this user's for temporary files.
    """
    if chosen := os.environ.get("KFUZZ_CACHE"):
        return Path(chosen)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "kfuzz"
    try:
        return Path.home() / ".cache" / "kfuzz"
    except RuntimeError:  # a user without a name, as in a container, and without HOME
        return _folder_without_home()


def _folder_without_home() -> Path:
    """A folder of this user's below the one for temporary files, where others may have made it first."""
    made = Path(tempfile.gettempdir()) / f"kfuzz-{os.geteuid()}"
    with contextlib.suppress(OSError):
        made.mkdir(mode=0o700, exist_ok=True)
    about = made.lstat() if made.is_dir() and not made.is_symlink() else None
    if about is None or about.st_uid != os.geteuid() or about.st_mode & 0o022:
        raise DeviceError(f"{made} belongs to another user, and HOME is not set; set KFUZZ_CACHE to a folder of yours")
    return made


def size() -> int:
    """Bytes of everything that is kept."""
    return sum(about for _, about, file in _files(folder(), "**/*") if file.is_file())


def why_full(room: int = ROOM) -> str:
    """Why a compiler may have failed for want of room, in one line; empty if there is room for what it writes.

    It is asked after the failure, when the compiler's files are gone: so it asks for room for one, and not for any.
    """
    place = next(one for one in (folder(), *folder().absolute().parents) if one.is_dir())
    about = os.statvfs(place)
    most, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    left = about.f_bavail * about.f_frsize
    if left < room:
        found = f"{folder()}: {left >> 20} MB are left there, and a compiler may need {room >> 20}"
        return f"{found}; make room, or set KFUZZ_CACHE to a folder that has some"
    if 0 <= most < room:
        return f"the limit of a file is {most >> 20} MB (ulimit -f), and a compiler may need {room >> 20}"
    return ""


def key(*parts: str | bytes) -> str:
    """A name that differs whenever any part does: no two lists of parts run together to the same bytes."""
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode(errors="surrogatepass") if isinstance(part, str) else part  # a path need not be UTF-8
        digest.update(len(raw).to_bytes(8, "little"))
        digest.update(raw)
    return digest.hexdigest()


def fetch(name: str) -> bytes | None:
    """The content saved under this name; None if there is none, or it is not what was saved."""
    try:
        raw = (folder() / name).read_bytes()
    except OSError:
        return None
    with contextlib.suppress(OSError):  # the cache may belong to another user and be read-only
        os.utime(folder() / name)  # files in use are removed last
    content, digest = raw[:-DIGEST], raw[-DIGEST:]
    return content if digest_of(name, content) == digest else None


def digest_of(name: str, content: bytes) -> bytes:
    """What lies behind the content of an entry: another entry's file does not fit under this name."""
    digest = hashlib.sha256(f"{name}\n".encode())
    digest.update(content)
    return digest.digest()


def note_use(path: Path) -> None:
    """Note that a file is used, as `fetch` does, once an hour: what knows the file knows it by its time, too."""
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > HOUR:
            os.utime(path)


def file_digest(path: Path) -> str:
    """The digest of a file's content, read once for each process as long as the file stays the same."""
    about = path.stat()
    return _file_digest(path, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)


@functools.lru_cache(maxsize=64)
def _file_digest(path: Path, *_: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def save(name: str, content: bytes) -> None:
    """`keep` content that can be made again: if the folder cannot be written, only the next run's time is lost."""
    with contextlib.suppress(DeviceError):
        keep(name, content)


def keep(name: str, content: bytes) -> Path:
    """Keep content under a name and return its path; a reader sees all of it or nothing. DeviceError on failure."""
    _tidy_once(folder())
    target = folder() / name
    with _explain_failure():
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".saving-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content + digest_of(name, content))
            Path(temporary).replace(target)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
    return target


@contextlib.contextmanager
def _explain_failure() -> Iterator[None]:
    """Turn a failure to write the folder into an error that says what to do."""
    try:
        yield
    except OSError as error:
        found = f"{folder()}: cannot be written: {error.strerror}; compiled kernels are kept there"
        raise DeviceError(f"{found}; set KFUZZ_CACHE to a folder with room for them") from None


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder to build in, which is removed; where its process is killed, another one removes it some time later.

    It lies in the cache: what is built can be moved to its place. A compiler is to have its own scratch files there,
    too (`TMPDIR`), for it leaves them behind when it is killed.
    """
    _tidy_once(folder())
    base = folder() / SCRATCH
    with _explain_failure():
        base.mkdir(parents=True, exist_ok=True)
        made = tempfile.TemporaryDirectory(dir=base, ignore_cleanup_errors=True)
    with made as name, _lock(Path(name)):
        yield Path(name)


@contextlib.contextmanager
def _lock(made: Path) -> Iterator[bool]:
    """Whether the lock of a scratch folder could be taken; the system releases it when the process ends.

    A run of a program may take hours, and its folder is as old as its beginning.
    """
    try:
        opened = os.open(made, os.O_RDONLY)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_taken = True
        except OSError:
            is_taken = False
        yield is_taken
    finally:
        os.close(opened)


@contextlib.contextmanager
def hold(name: str) -> Iterator[None]:
    """Hold what is built under this name: another process waits, and then finds it, instead of building it as well.

    The system releases the lock of a process that is killed. If the cache cannot be written, nothing is held.
    """
    file = folder() / LOCKS / f"{name.replace('/', '-')}.lock"
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            fcntl.flock(stack.enter_context(file.open("wb")), fcntl.LOCK_EX)
        yield


def tidy(most: int = MOST, abandoned: float = ABANDONED) -> None:
    """Remove what killed processes left, and what was used longest ago until `most` bytes of compiled files are left.

    Several processes may do so at once. What one of them has just fetched or saved was used last, so it stays.
    `abandoned`: seconds for which nothing in a scratch folder has changed that no process holds.
    """
    now = time.time()
    for left in _files(folder(), f"{SCRATCH}/*"):
        if now - left[0] > abandoned:
            with _lock(left[2]) as is_abandoned:
                if is_abandoned:
                    shutil.rmtree(left[2], ignore_errors=True)
    kept = sorted(one for name in COMPILED for one in _files(folder() / name, "**/*") if one[2].is_file())
    spare = sum(size for _, size, _ in kept) - most
    for used, size, file in kept:
        is_partial = file.name.startswith(".saving-") and now - used > ABANDONED
        if spare > 0 or is_partial:
            with contextlib.suppress(OSError):
                file.unlink()
            spare -= size


def _files(where: Path, pattern: str) -> Iterator[tuple[float, int, Path]]:
    """When it was used last, size and path of everything there; what another process removes meanwhile is left out."""
    for one in where.glob(pattern):
        with contextlib.suppress(OSError):
            about = one.stat()
            yield about.st_mtime, about.st_size, one


@functools.cache
def _tidy_once(where: Path) -> None:
    """Tidy this folder, once per process and hour: to look at 10,000 files takes as long as to link a program."""
    stamp = where / "tidied"
    with contextlib.suppress(OSError):
        if not stamp.exists() or time.time() - stamp.stat().st_mtime > HOUR:
            where.mkdir(parents=True, exist_ok=True)
            stamp.touch()
            tidy()
