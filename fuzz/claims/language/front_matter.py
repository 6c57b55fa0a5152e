"""The block of TOML at the top of a kernel file, and the line of each of its keys.

It is written in comments: after // in CUDA, # in Python. Knows the fences, TOML and lines; never what a key means. To
read a file, or find its language, is of kernel_file.py.
"""

import json
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kfuzz.claims.language.language import Language
from kfuzz.common.printable import one_line, shown_path
from kfuzz.common.text import exhibits
from kfuzz.devices import ClaimError

OPENS = "// /// kernel"
CLOSES = "// ///"
MEANT = re.compile(r"\s*(?://|/\*+|\*|#)?\s*///\s*kernel\s*(?:\*/)?\s*$")
MEANT_CLOSED = re.compile(r"\s*(?:(?://|\*|#)?\s*///|(?:///\s*)?\*/)\s*$")
WIDEST = 72
MOST_LINES, MOST_LETTERS = 400, 1 << 16
"""More than any claim needs, and few enough that finding the line of a mistake takes no time."""
MOST_BYTES = 16 << 20
MOST_DOTS = 8
"""The most parts of a key; a claim's own have two. The parsed key grows with the square of its parts."""
OPAQUE = re.compile(r'''"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*''', re.DOTALL)
"""Strings and comments."""
DOTTED = re.compile(rf"(?<![\w-])(?:[\w-]+[ \t]*\.[ \t]*){{{MOST_DOTS + 1}}}")
MOST_DEPTH = 8
"""The deepest nesting of tables: the reader of a claim is recursive, and Python limits recursion."""

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class FrontMatter:
    """A kernel file in its parts: `values` is the parsed TOML, `first` the line on which it starts.

    `source` is the text that the claim describes, and `language` its language: all of a Python file, or the CUDA in its
    strings, on the same lines. `said`: the words of the command that gave the claim, if it is not in the file.
    """

    path: Path
    source: str
    prose: str
    first: int
    toml: str
    values: dict[str, object] = field(hash=False)
    language: Language = field(compare=False, repr=False)
    said: str = ""

    @property
    def whole(self) -> str:
        """The file's text with the claim on top, wherever the claim comes from."""
        return self.source if not self.said else f"{with_claim(self.language.mark, self.toml)}\n{self.source}"

    def error(self, key: KeyPath, found: str) -> ClaimError:
        """One line: file, line, key = value, what was found and what is allowed."""
        value = lookup(self.values, key)
        written = "" if value is None else f" = {shown_value(value)}"
        line = "" if self.said else f"{self.line(key)}:"
        return ClaimError(f"{shown_path(self.path)}:{line} {shown_key(key)}{written}: {found}")

    def statement(self, key: KeyPath) -> str:
        """A key and its value as they are written: `exp = "expf"`."""
        return f"{key[-1]} = {shown_value(lookup(self.values, key))}"

    def line(self, key: KeyPath) -> int:
        """The line on which the statement of this key starts, or of the nearest key around it."""
        lines = lines_of_keys(self.toml)
        while key and key not in lines:
            key = key[:-1]
        return self.first + lines[key] if key else self.first - 1


def with_claim(mark: str, toml: str) -> str:
    """A claim as it is written at the top of a file, each line after the comment mark."""
    lines = [f"{mark} {line}".rstrip() for line in toml.split("\n")]
    return "\n".join([f"{mark} /// kernel", *lines, f"{mark} ///"])


def text_of(path: Path) -> str:
    """The text of a kernel file, composed if the file is an exhibit; ClaimError if it is not text."""
    if description := exhibits.description_of(path):
        return exhibits.compose(exhibits.read(description))
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ClaimError(f"{shown_path(path)}: not a regular file; a kernel file is expected")
        if status.st_size > MOST_BYTES:
            raise ClaimError(f"{shown_path(path)}: {status.st_size} bytes; at most {MOST_BYTES} are read")
        return path.read_text(encoding="utf-8-sig")  # without the mark that some editors put in front
    except OSError as error:
        raise ClaimError(f"{shown_path(path)}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ClaimError(f"{shown_path(path)}: is no UTF-8 text (byte {error.start})") from None


def split(path: Path, source: str, language: Language) -> FrontMatter:
    """Split the text of a kernel file in a language into its parts."""
    where, mark = shown_path(path), language.mark
    opens, closes = f"{mark} /// kernel", f"{mark} ///"
    plain = f"write the claim in {mark} comments, with one space after the {language.mark_in_words}"
    lines = [line.rstrip() for line in source.split("\n")]
    fences = [number for number, line in enumerate(lines) if line == opens]
    if not fences:
        near = next((number for number, line in enumerate(lines) if MEANT.match(line)), None)
        if near is not None:
            raise ClaimError(f"{where}:{near + 1}: {shown_value(lines[near])}: did you mean '{opens}'? {plain}")
        how = f"a kernel file carries its claim in comments between '{opens}' and '{closes}'"
        raise ClaimError(f"{where}:1: no front matter: {how}; {language.how_to_claim(where)}")
    start = fences[0] + 1
    if len(fences) > 1:
        raise ClaimError(f"{where}:{fences[1] + 1}: a second '{opens}'; a file is one kernel with one claim")
    end = next((number for number in range(start, len(lines)) if lines[number] == closes), None)
    if end is None:
        near = next((number for number in range(start, len(lines)) if MEANT_CLOSED.match(lines[number])), None)
        if near is not None:
            raise ClaimError(f"{where}:{near + 1}: {shown_value(lines[near])}: did you mean '{closes}'? {plain}")
        raise ClaimError(f"{where}:{start}: '{opens}' is never closed; end the front matter with a line '{closes}'")
    if end - start > MOST_LINES:
        raise ClaimError(f"{where}:{start}: front matter of {end - start} lines; at most {MOST_LINES}")
    for number in range(start, end):
        if lines[number] != mark and not lines[number].startswith(f"{mark} "):
            found = f"{shown_value(lines[number])}: inside the front matter every line starts with '{mark} '"
            raise ClaimError(f"{where}:{number + 1}: {found}")
    toml = "\n".join(line[len(mark) + 1 :] for line in lines[start:end])
    if len(toml) > MOST_LETTERS:
        raise ClaimError(f"{where}:{start}: front matter of {len(toml)} characters; at most {MOST_LETTERS}")
    bare = OPAQUE.sub(lambda found: "_" + "\n" * found[0].count("\n"), toml)
    if deep := DOTTED.search(bare):
        line = start + bare.count("\n", 0, deep.start()) + 1
        raise ClaimError(f"{where}:{line}: a key of more than {MOST_DOTS} dots; a claim's keys have two at most")
    try:
        values = tomllib.loads(toml)
    except (ValueError, RecursionError) as error:
        raise ClaimError(f"{where}:{start + line_of(error, toml)}: broken TOML: {message_of(error)}") from None
    if is_deep(values):
        raise ClaimError(f"{where}:{start}: keys and lists nested more than {MOST_DEPTH} deep; no claim needs so many")
    above = (line.removeprefix(mark).removeprefix(" ") for line in lines[: start - 1] if line.startswith(mark))
    prose = "\n".join(above).strip()
    language, source = language.described_by(path, source, values, (start, end + 1))
    return FrontMatter(path, source, prose, start + 1, toml, values, language)


def has_claim(text: str) -> bool:
    """Whether a text has a claim, or something meant as one."""
    return any(MEANT.match(line) for line in text.splitlines())


def is_deep(values: dict[str, object]) -> bool:
    """Whether tables and lists are nested deeper than any claim needs."""
    level: list[object] = [values]
    for _ in range(MOST_DEPTH):
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]  # type: ignore[attr-defined]  # a table, else a list
        level = [one for one in level if isinstance(one, dict | list)]
    return bool(level)


def line_of(error: Exception, toml: str) -> int:
    """The line within the TOML text, from 1; the parser says it only in its message, and not always."""
    found = re.search(r"at line (\d+)", str(error))
    return int(found[1]) if found else toml.count("\n") + 1 if "end of document" in str(error) else 1


def message_of(error: Exception) -> str:
    message = re.sub(r" \((at line \d+, column \d+|at end of document)\)$", "", str(error).splitlines()[0])
    return one_line(message[:1].lower() + message[1:])


def lines_of_keys(toml: str) -> dict[KeyPath, int]:
    """For each key, the offset of the line on which its statement starts.

    TOML can be cut after every statement, so the keys that a longer prefix adds are on the added lines.
    """
    found: dict[KeyPath, int] = {}
    lines = toml.split("\n")
    start = 0
    for number, line in enumerate(lines):
        if number == start and (not line.strip() or line.lstrip().startswith("#")):
            start = number + 1
            continue
        text = "\n".join(lines[: number + 1])
        is_whole = True
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            is_whole = False  # the statement goes on; if it is a list of tables, these are on the line that ends here
            try:
                values = tomllib.loads(f"{text}\n]")
            except tomllib.TOMLDecodeError:
                continue
        for key in keys_of(values):
            found.setdefault(key, start if is_whole or len(key) == 1 else number)
        start = number + 1 if is_whole else start
    return found


def keys_of(value: object, prefix: KeyPath = ()) -> Iterator[KeyPath]:
    """Every key in nested tables and arrays, outermost first."""
    items: Iterator[tuple[str | int, object]] = iter(())
    if isinstance(value, dict):
        items = iter(value.items())
    elif isinstance(value, list):
        items = iter(enumerate(value))
    for key, inner in items:
        yield (*prefix, key)
        yield from keys_of(inner, (*prefix, key))


def lookup(values: Mapping[str, object], key: KeyPath) -> object:
    """The value at a key path, or None."""
    found: object = values
    for part in key:
        if isinstance(found, dict):
            found = found.get(part)
        elif isinstance(found, list) and isinstance(part, int) and part < len(found):
            found = found[part]
        else:
            return None
    return found


def shown_key(key: KeyPath) -> str:
    """A key path as a person writes it: `axes.rows`, `launch.grid`, `launch[2].grid` of the second launch."""
    text = ""
    for part in key:
        if isinstance(part, int):
            text += f"[{part + 1}]" if part else ""
        else:
            text += f".{part}" if text else part
    return one_line(text) or "front matter"


def as_toml(value: object) -> str:
    """A value as TOML writes it, in one line."""
    if isinstance(value, dict):
        text = "{ " + ", ".join(f"{key} = {as_toml(inner)}" for key, inner in value.items()) + " }" if value else "{}"
    elif isinstance(value, list):
        text = "[" + ", ".join(as_toml(inner) for inner in value) + "]"
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return one_line(text)


def shown_value(value: object) -> str:
    """A value as a message shows it: cut if it is long, so that it is no TOML then."""
    text = as_toml(value)
    return text if len(text) <= WIDEST else text[: WIDEST - 3] + "..."
