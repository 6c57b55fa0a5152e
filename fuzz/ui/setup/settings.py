"""Adds settings to a project's kfuzz.toml: it adds lines, changes none, and reads the result back to prove it.

The file is kfuzz's own: without kfuzz installed, pytest reports a key of ours in its settings as unknown. Knows TOML as
text; never what a setting means.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from kfuzz.ui.targets.settings import SHARED

CORPUS = "tests/corpus"
HEADING = "# kfuzz reads this file: each key is an option of its command line (kfuzz fuzz --help)\n"
Additions = Mapping[str, str | list[str]]


def find_additions(kernels: list[Path], corpus: str) -> Additions:
    """The settings to add: the folders that hold kernels, and where cases are kept."""
    folders = {PurePosixPath(path.parent.as_posix()) for path in kernels}
    outermost = sorted(str(one) for one in folders if not any(other in one.parents for other in folders))
    return {"kernels": outermost, "corpus": corpus}


def with_settings(text: str, added: Additions) -> str | None:
    """The text of kfuzz.toml with the settings that it lacks; None if that is impossible by adding lines."""
    try:
        before = tomllib.loads(text)
        new = {key: value for key, value in added.items() if key not in before}
        lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in new.items())
        ended = text if not text or text.endswith("\n") else f"{text}\n"
        result = ended + lines if ended else HEADING + lines
        return text if not new else result if tomllib.loads(result) == {**before, **new} else None
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def corpus_for(folder: Path) -> str:
    """The folder for cases: below the first folder in which pytest looks for tests, so that it finds them."""
    path = folder / SHARED
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        places = document["tool"]["pytest"]["ini_options"]["testpaths"]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError, KeyError, TypeError):
        return CORPUS
    first = next(iter(places.split() if isinstance(places, str) else places), "tests")
    is_plain = isinstance(first, str) and re.fullmatch(r"\w[\w./-]*", first) and ".." not in first
    return f"{first.rstrip('/')}/corpus" if is_plain else CORPUS
