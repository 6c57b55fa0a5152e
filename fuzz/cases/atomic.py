"""Writes a file whole or not at all, whatever happens in between.

Knows nothing about the content.
"""

import contextlib
import os
import secrets
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Put `content` at `path` so that at every moment the path holds the old file or the new one, complete.

    It writes a temporary file in the same folder, syncs it, renames it and syncs the folder. Two writers of one path
    do not mix: the last one wins. The file that a killed writer leaves starts with "." and ends in ".part". An OSError
    names `path`.
    """
    part = path.parent / f".{path.name[:64]}.{secrets.token_hex(8)}.part"
    try:
        _write(path, part, content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    sync_folder(path.parent)


def _write(path: Path, part: Path, content: bytes) -> None:
    """Write the temporary file and rename it."""
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable on disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
