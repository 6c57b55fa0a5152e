"""Adds settings to a project's pyproject.toml: it adds lines, changes none, and reads the result back to prove it.

Knows TOML as text; never what a setting means.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path, PurePosixPath

FILE = "pyproject.toml"
PYTEST = "tool.pytest.ini_options"
CORPUS = "tests/corpus"
RIVALS = (("pytest.ini", ""), (".pytest.ini", ""), ("tox.ini", "[pytest]"), ("setup.cfg", "[tool:pytest]"))
"""The files that pytest reads instead of pyproject.toml, and the header that makes it do so."""
Additions = Mapping[str, Mapping[str, str | list[str]]]


def additions(kernels: list[Path], corpus: str) -> Additions:
    """The settings to add, by table: the folders that hold kernels, and where cases are kept."""
    folders = {PurePosixPath(path.parent.as_posix()) for path in kernels}
    outermost = sorted(str(one) for one in folders if not any(other in one.parents for other in folders))
    return {
        "tool.kfuzz": {"kernels": outermost, "corpus": corpus},
        PYTEST: {"kfuzz_corpus": corpus},
    }


def with_settings(text: str, added: Additions) -> str | None:
    """The text with the settings that it lacks; None if that is impossible by adding lines."""
    try:
        before = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    after, result = deepcopy(before), text
    for name, values in added.items():
        table = after
        for part in name.split("."):
            inner = table.setdefault(part, {})
            if not isinstance(inner, dict):
                return None
            table = inner
        new = {key: value for key, value in values.items() if key not in table}
        table.update(new)
        result = with_lines(result, name, [f"{key} = {json.dumps(value)}" for key, value in new.items()])
    try:
        return result if tomllib.loads(result) == after else None
    except tomllib.TOMLDecodeError:
        return None


def with_lines(text: str, table: str, lines: list[str]) -> str:
    """The lines below the header of their table, or below a new header at the end."""
    if not lines:
        return text
    header = re.search(rf"^\[[ \t]*{re.escape(table)}[ \t]*\][^\n]*$", text, re.MULTILINE)
    if header:
        return "\n".join([text[: header.end()], *lines]) + text[header.end() :]
    ended = text if not text or text.endswith("\n") else f"{text}\n"
    return ended + "\n" * bool(ended) + "\n".join([f"[{table}]", *lines]) + "\n"


def rival(folder: Path) -> str:
    """The file that pytest reads instead of pyproject.toml, or an empty string."""
    for name, mark in RIVALS:
        path = folder / name
        if path.is_file() and mark in path.read_text(encoding="utf-8", errors="replace"):
            return name
    return ""


def corpus_for(folder: Path) -> str:
    """The folder for cases: below the first folder in which pytest looks for tests, so that it finds them."""
    path = folder / FILE
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        places = document["tool"]["pytest"]["ini_options"]["testpaths"]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError, KeyError, TypeError):
        return CORPUS
    first = next(iter(places.split() if isinstance(places, str) else places), "tests")
    is_plain = isinstance(first, str) and re.fullmatch(r"\w[\w./-]*", first) and ".." not in first
    return f"{first.rstrip('/')}/corpus" if is_plain else CORPUS
