"""Compiled kernels kept between runs, each in a file named by the hash of all that went into it.

Knows files and hashes; it knows no compiler, and no device.
"""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

DIGEST = hashlib.sha256().digest_size


def folder() -> Path:
    """`$KFUZZ_CACHE`, or `$XDG_CACHE_HOME/kfuzz`, or `~/.cache/kfuzz`: the first that is set."""
    if chosen := os.environ.get("KFUZZ_CACHE"):
        return Path(chosen)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "kfuzz"
    return Path.home() / ".cache" / "kfuzz"


def key(*parts: str | bytes) -> str:
    """A name that differs whenever any part does: no two lists of parts run together to the same bytes."""
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        digest.update(len(raw).to_bytes(8, "little"))
        digest.update(raw)
    return digest.hexdigest()


def fetch(name: str) -> bytes | None:
    """What was saved under this name; None when there is nothing, or when it is not what was saved."""
    try:
        raw = (folder() / name).read_bytes()
    except OSError:
        return None
    content, digest = raw[:-DIGEST], raw[-DIGEST:]
    return content if hashlib.sha256(content).digest() == digest else None


def save(name: str, content: bytes) -> None:
    """Keep content under a name; a reader sees all of it or nothing.

    A folder that cannot be written costs time at the next run and nothing else, so it is no error.
    """
    with contextlib.suppress(OSError):
        target = folder() / name
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".saving-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content + hashlib.sha256(content).digest())
            Path(temporary).replace(target)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
