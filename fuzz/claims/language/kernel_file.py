"""A kernel file by its path: its text, and the front matter in it or beside it, in the language of the file.

Knows files and their languages; never what a key of a claim means.
"""

import tomllib
from functools import lru_cache
from pathlib import Path

from kfuzz.claims.language.front_matter import MOST_BYTES, FrontMatter, has_claim, message_of, split, text_of
from kfuzz.claims.language.languages import language_of
from kfuzz.common.text import exhibits
from kfuzz.devices import ClaimError


def read(path: Path) -> FrontMatter:
    """Read a kernel file; ClaimError if its front matter is missing, unclosed or not TOML."""
    path = exhibits.name_as_kernel(path)
    return parse(path, text_of(path))


@lru_cache(maxsize=1024)
def parse(path: Path, source: str) -> FrontMatter:
    """Split the text of a kernel file into its parts."""
    return split(path, source, language_of(path).of_text(source))


def beside(path: Path, source: str, toml: str, said: str) -> FrontMatter:
    """A kernel file whose claim is not in it."""
    try:
        values = tomllib.loads(toml)
    except (ValueError, RecursionError) as error:
        raise ClaimError(f"{said}: broken TOML: {message_of(error)}") from None
    language, source = language_of(path).described_by(path, source, values, None)
    return FrontMatter(path, source, "", 1, toml, values, language, said)


def file_has_claim(path: Path) -> bool:
    """Whether the file has a front matter, correct or not."""
    if exhibits.description_of(path):
        return has_claim(text_of(path))
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:  # a pipe would never be read to its end
            return False
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        return has_claim(language_of(path).head(text))
    except OSError:
        return False
