"""Results as lines of JSON, each written at once: a run that is ended goes on from those that are there."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def add_line(path: Path, key: str, found: Mapping[str, Any]) -> None:
    """Write a result by one call, so that threads and processes may share the file."""
    line = json.dumps({"key": key, **found})
    place = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        size = os.fstat(place).st_size
        has_part = size > 0 and os.pread(place, 1, size - 1) != b"\n"  # of a line at which a run was ended
        os.write(place, b"\n" * has_part + line.encode() + b"\n")
    finally:
        os.close(place)


def read_lines(path: Path) -> dict[str, dict[str, Any]]:
    """The results by their keys, the last one of each; a line of which a part is missing is left out."""
    found = dict[str, dict[str, Any]]()
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        try:
            one: dict[str, Any] = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[one.pop("key")] = one
    return found
