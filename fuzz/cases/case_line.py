"""A small case as one line of text that you can paste, so that a log alone is enough to run it again.

Knows the case format; a line is untrusted data, as a file is, and is checked in the same way.
"""

import base64
import binascii
import json
import zlib
from dataclasses import replace
from pathlib import Path

from kfuzz.cases import case_file
from kfuzz.cases.case import Record
from kfuzz.cases.errors import CaseError

PREFIX = "kfuzz-case:"
LONGEST = 500
"""Characters of the longest line that a person would paste."""
LONGEST_MESSAGE = 80
MOST_BYTES = 1 << 20
"""Bytes that a line may unpack to."""


def as_line(record: Record) -> str | None:
    """The record as one line; None if that would be too long."""
    if record.origin is not None:
        record = replace(record, origin=replace(record.origin, message=record.origin.message[:LONGEST_MESSAGE]))
    document, sidecars = case_file.encode(record)
    plain = json.dumps(json.loads(document), separators=(",", ":")).encode()
    text = PREFIX + base64.urlsafe_b64encode(zlib.compress(plain, 9)).decode().rstrip("=")
    return text if not sidecars and len(text) <= LONGEST else None


def record_of(line: str) -> Record:
    """The record that a line stands for; a CaseError of one line if it stands for none."""
    packed = line.removeprefix(PREFIX).strip()
    try:
        unpacking = zlib.decompressobj()
        document = unpacking.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), MOST_BYTES)
    except (binascii.Error, ValueError, zlib.error):
        raise CaseError(f"{PREFIX}...: damaged; paste the whole line, in quotes") from None
    if not unpacking.eof:
        raise CaseError(f"{PREFIX}...: cut short, or more than {MOST_BYTES} bytes; paste the whole line, in quotes")
    return case_file.decode(document, Path(f"{PREFIX}..."))
