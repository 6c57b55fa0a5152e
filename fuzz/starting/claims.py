"""A claim put on top of a kernel file: its text stays as it is, byte by byte, below.

Knows how a file is written; never what a claim says.
"""

import codecs
from pathlib import Path

from kfuzz.cases import atomic

MARK = codecs.BOM_UTF8


def with_claim(content: bytes, claim: str) -> bytes:
    """The file with the claim above it, behind the mark that some editors put in front, in the file's line ends."""
    mark, body = (MARK, content[len(MARK) :]) if content.startswith(MARK) else (b"", content)
    end = "\r\n" if b"\r\n" in body else "\n"
    return mark + f"{claim}\n".replace("\n", end).encode() + body


def put_claim(path: Path, read: bytes, claim: str) -> bool:
    """Write it, unless the file is another by now than the one that was read: then False, and nothing is written."""
    if path.read_bytes() != read:
        return False
    mode = path.stat().st_mode
    atomic.write(path.resolve(), with_claim(read, claim))
    path.chmod(mode)
    return True
