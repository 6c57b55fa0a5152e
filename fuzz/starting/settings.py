"""The settings of a project in its pyproject.toml: lines added, none changed, and the result read back to prove it.

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
"""Where pytest looks instead of pyproject.toml, and what such a file then holds."""
Additions = Mapping[str, Mapping[str, str | list[str]]]


def additions(kernels: list[Path], corpus: str) -> Additions:
    """What is to be set, by table: the folders that hold kernels, and where cases are kept."""
    folders = {PurePosixPath(path.parent.as_posix()) for path in kernels}
    outermost = sorted(str(one) for one in folders if not any(other in one.parents for other in folders))
    return {
        "tool.kfuzz": {"kernels": outermost, "corpus": corpus},
        PYTEST: {"kfuzz_corpus": corpus},
    }


def with_settings(text: str, added: Additions) -> str | None:
    """The text with what it does not set yet; None where that cannot be done by adding lines."""
    try:
        before = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    after, made = deepcopy(before), text
    for name, values in added.items():
        table = after
        for part in name.split("."):
            inner = table.setdefault(part, {})
            if not isinstance(inner, dict):
                return None
            table = inner
        new = {key: value for key, value in values.items() if key not in table}
        table.update(new)
        made = with_lines(made, name, [f"{key} = {json.dumps(value)}" for key, value in new.items()])
    try:
        return made if tomllib.loads(made) == after else None
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
    """The file that pytest is set in instead, if there is one."""
    for name, mark in RIVALS:
        path = folder / name
        if path.is_file() and mark in path.read_text(encoding="utf-8", errors="replace"):
            return name
    return ""


def corpus_for(folder: Path) -> str:
    """Where cases are kept: below the first folder in which pytest looks for tests, so that it meets them."""
    path = folder / FILE
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        places = found["tool"]["pytest"]["ini_options"]["testpaths"]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError, KeyError, TypeError):
        return CORPUS
    first = next(iter(places.split() if isinstance(places, str) else places), "tests")
    is_plain = isinstance(first, str) and re.fullmatch(r"\w[\w./-]*", first) and ".." not in first
    return f"{first.rstrip('/')}/corpus" if is_plain else CORPUS
