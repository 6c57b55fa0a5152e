"""Remembers between runs which claims have passed a check that takes long.

It keeps passes alone, so what is lost, damaged or cannot be written costs time and decides nothing. Knows files and
hashes, and which files of kfuzz decide a check; never what is checked.
"""

import contextlib
import functools
from pathlib import Path

import kfuzz.oracle
from kfuzz.devices import cache

HERE = Path(__file__).resolve().parent
ROOMS = (HERE, HERE.parent / "devices", HERE.parent / "common", *map(Path, kfuzz.oracle.__path__))
"""Where the code lies that decides what passes."""


def has_passed(facts: str) -> bool:
    """Whether this version of kfuzz has checked these facts, and found nothing wrong."""
    return cache.fetch(_name_of(facts)) is not None


def note(facts: str) -> None:
    """Keep that these facts have passed."""
    cache.save(_name_of(facts), b"")


def one_at_a_time() -> contextlib.AbstractContextManager[None]:
    """Check one claim at a time: processes that read the same claims share the work, since each then has passed."""
    return cache.hold("claims")


def _name_of(facts: str) -> str:
    return f"claims/{cache.key(own_digest(), facts)[:32]}"


@functools.cache
def own_digest() -> str:
    """A digest of the code that decides what passes."""
    files = sorted(file for room in ROOMS for file in room.rglob("*.py"))
    return cache.key(*(part for file in files for part in (file.name, file.read_bytes())))
