"""What is asked of a process that judges: an answer, what it should compute, and how much is tried.

Knows the form of a request as JSON, and its limits; never how an answer is judged.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kfuzz.campaign.answers import JudgingTerms
from kfuzz.claims.language.languages import ENDINGS, endings_in_words
from kfuzz.common.errors import ClaimError, TargetError

FILE_NAME = re.compile(r"\w[\w.-]{0,99}", re.ASCII)
MOST_TEXT = 16 << 20
"""Bytes of an answer: as many as a kernel file may have."""
MOST_WORDS = 4096
"""Characters of a path or of an op."""
MOST_BUDGET = 3600.0
"""Seconds: a client that is gone holds a process for no longer."""
MOST_SEED = (1 << 32) - 1
USUAL = JudgingTerms()
SHAPES = ("home", "any")
KEYS = ("answer", "text", "op", "reference", "budget", "seed", "shapes", "require")


class RequestError(TargetError):
    """A request is not one: the message says what is wrong with it."""


@dataclass(frozen=True)
class JudgingRequest:
    """An answer, by its path; or, with a `text`, by the name of the file that this text is written to."""

    answer: str
    text: str | None = None
    op: str = ""
    reference: str = ""
    terms: JudgingTerms = USUAL
    device: str = "auto"
    is_sandboxed: bool = True


def read_request(given: Mapping[str, object]) -> JudgingRequest:
    """A request from JSON; RequestError if it is none. `id` is the client's own."""
    if unknown := [key for key in given if key not in (*KEYS, "id")]:
        raise RequestError(f"{unknown[0][:100]!r}: unknown; a request has {', '.join(KEYS)}")
    answer, op, reference = (_words(given, name) for name in ("answer", "op", "reference"))
    if not answer:
        raise RequestError("answer: the path of a file is expected, or the name of a file for the text")
    if bool(op) == bool(reference):
        raise RequestError("op, reference: one of them says what is right; a claim in the answer does not count here")
    text = given.get("text")
    if text is not None:
        _check_text(text, answer)
    return JudgingRequest(answer, None if text is None else str(text), op, reference, _terms(given))


def _words(given: Mapping[str, object], name: str) -> str:
    one = given.get(name, "")
    if not isinstance(one, str) or len(one) > MOST_WORDS or "\0" in one:
        raise RequestError(f"{name}: a text of at most {MOST_WORDS} characters is expected")
    return one


def _check_text(text: object, name: str) -> None:
    if not isinstance(text, str):
        raise RequestError("text: the text of the answer is expected")
    if not FILE_NAME.fullmatch(name) or not name.endswith(ENDINGS):
        raise RequestError(f"answer: with a text, a file's name that ends in {endings_in_words()} is expected")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise RequestError("text: it has half of a surrogate pair, which no file can hold") from None
    if size > MOST_TEXT:
        raise RequestError(f"text: {size} bytes; at most {MOST_TEXT}")


def _terms(given: Mapping[str, object]) -> JudgingTerms:
    budget, seed, shapes = given.get("budget", USUAL.budget), given.get("seed", USUAL.seed), given.get("shapes", "home")
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not 0 < budget <= MOST_BUDGET:
        raise RequestError(f"budget: seconds are expected, at most {MOST_BUDGET:g}")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MOST_SEED:
        raise RequestError(f"seed: an integer from 0 to {MOST_SEED} is expected")
    if shapes not in SHAPES:
        raise RequestError(f"shapes: one of {', '.join(SHAPES)} is expected")
    require = given.get("require", [])
    if not isinstance(require, list) or not all(isinstance(one, str) for one in require):
        raise RequestError("require: a list of properties is expected")
    try:
        return JudgingTerms(seed, float(budget), shapes == "any", tuple(map(str, require)))
    except ClaimError as error:
        raise RequestError(str(error)) from None
