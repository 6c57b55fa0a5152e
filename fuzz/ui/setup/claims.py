"""Puts a claim on top of a kernel file, whose text below stays the same, byte by byte.

Knows how a file is written; never what a claim says.
"""

import codecs
from pathlib import Path

from kfuzz.cases import atomic

MARK = codecs.BOM_UTF8


def with_claim(content: bytes, claim: str) -> bytes:
    """The file with the claim on top, after a byte order mark if there is one, with the file's own line ends."""
    mark, body = (MARK, content[len(MARK) :]) if content.startswith(MARK) else (b"", content)
    end = "\r\n" if b"\r\n" in body else "\n"
    return mark + f"{claim}\n".replace("\n", end).encode() + body


def put_claim(path: Path, read: bytes, claim: str) -> bool:
    """Write the claim. If the file has changed since it was read, write nothing and return False."""
    if path.read_bytes() != read:
        return False
    mode = path.stat().st_mode
    atomic.write(path.resolve(), with_claim(read, claim))
    path.chmod(mode)
    return True
