"""Comments that silence one kind of finding on one line, each with its reason.

    shared[tid] = flag;  // kfuzz: allow race: every thread writes the same value

A comment that stands alone is for the next line. Knows text and kinds; never a finding.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from kfuzz.common.errors import ClaimError
from kfuzz.common.text.headers import sources
from kfuzz.kinds import KINDS, Kind

COMMENT = re.compile(r"(?://|#|/\*)[ \t]*kfuzz:[ \t]*allow\b(?P<rest>[^\n]*)")
KEPT_TEXTS = 256


@dataclass(frozen=True)
class Silence:
    """A kind that is silenced on a line of a text, and why."""

    kind: Kind
    line: int
    reason: str


class SilenceError(ClaimError):
    """A comment that silences nothing that kfuzz knows, or gives no reason; `line` is its line."""

    def __init__(self, line: int, words: str) -> None:
        super().__init__(f"line {line}: {words}")
        self.line, self.words = line, words


@lru_cache(maxsize=KEPT_TEXTS)
def check_silences(path: Path, source: str, flags: tuple[str, ...]) -> None:
    """Raise a ClaimError of one line if such a comment in the file, or in a header of its author, is wrong."""
    for one in sources(path, source, flags):
        try:
            silences_in(one.text)
        except SilenceError as error:
            raise ClaimError(f"{one.path.name}:{error.line}: {error.words}") from None


@lru_cache(maxsize=KEPT_TEXTS)
def silences_in(text: str) -> tuple[Silence, ...]:
    """The silences of a text. Raises SilenceError for a comment without a reason or with an unknown kind."""
    return tuple(_read(text)) if "kfuzz:" in text else ()


def _read(text: str) -> Iterator[Silence]:
    for number, line in enumerate(text.split("\n"), 1):
        if found := COMMENT.search(line):
            word, _, reason = found["rest"].removesuffix("*/").partition(":")
            stands_alone = not line[: found.start()].strip()
            yield Silence(_kind(number, word.strip(), reason.strip()), number + stands_alone, reason.strip())


def _kind(line: int, word: str, reason: str) -> Kind:
    placed = {name: kind for name, kind in KINDS.items() if kind.devices != ("oracle",)}
    for name in placed:
        if name == word and reason:
            return name
    if word in placed:
        raise SilenceError(line, f"kfuzz: allow {word}: a reason is missing; write // kfuzz: allow {word}: WHY")
    if word in KINDS:
        raise SilenceError(line, f"kfuzz: allow {word}: a wrong answer has no line on which it could be silenced")
    near = get_close_matches(word, placed, 1)
    proposal = f"did you mean {near[0]}?" if near else f"kinds are {', '.join(placed)}"
    raise SilenceError(line, f"kfuzz: allow {word}: no such kind of finding; {proposal}")
