"""A kernel file with other tables [accuracy] and [values] in its claim; the rest stays unchanged.

Knows the lines of a front matter; never what a key means.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from kfuzz.claims.kernel import Kernel, read
from kfuzz.claims.language import kernel_file
from kfuzz.claims.language.front_matter import with_claim
from kfuzz.claims.language.language import Language
from kfuzz.claims.language.languages import language_of

Tables = Mapping[str, Mapping[str, str]]
"""Tables by name: their keys, and values as TOML writes them."""

HEADER = re.compile(r"\s*\[\[?\s*(\w+)")
KEY = re.compile(r"\s*(\w+)\s*[=.]")


def with_tables(kernel: Kernel, tables: Tables) -> Kernel:
    """The kernel with these tables in place of its claim's own; an empty table is left out."""
    if kernel.front.said:
        toml = toml_with(kernel.front.toml, tables)
        made = read(kernel_file.beside(kernel.path, kernel.source, toml, kernel.front.said))
        return in_language(made, kernel.front.language)
    lines = kernel.source.split("\n")
    first = kernel.front.first - 1
    after = first + kernel.front.toml.count("\n") + 1
    mark = kernel.front.language.mark
    text = [*lines[:first], commented(toml_with(kernel.front.toml, tables), mark), *lines[after:]]
    return in_language(read(kernel_file.parse(kernel.path, "\n".join(text))), kernel.front.language)


def in_language(kernel: Kernel, language: Language) -> Kernel:
    """The kernel with its text in this language, such as CUDA of which the PTX is meant."""
    return replace(kernel, front=replace(kernel.front, language=language))


def claim_of(kernel: Kernel) -> str:
    """The front matter as written in the file, with its fences."""
    return with_claim(language_of(kernel.path).mark, kernel.front.toml)


def toml_with(toml: str, tables: Tables) -> str:
    """The claim's text with tables replaced, also those that are a row: they come before the first launch."""
    kept: list[str] = []
    table = ""
    for line in toml.split("\n"):
        if header := HEADER.match(line):
            table = header[1]
        row = None if table else KEY.match(line)
        if (row[1] if row else table) not in tables:
            kept.append(line)
    written = [
        line for name, statements in tables.items() if statements for line in (*table_lines(name, statements), "")
    ]
    launch = next((i for i, line in enumerate(kept) if HEADER.match(line) and "launch" in line), len(kept))
    before = kept[:launch]
    while before and not before[-1].strip():
        before.pop()
    return "\n".join([*before, "", *written, *kept[launch:]]).rstrip()


def table_lines(name: str, statements: Mapping[str, str]) -> list[str]:
    width = max(map(len, statements))
    return [f"[{name}]", *(f"{key:<{width}} = {value}" for key, value in statements.items())]


def commented(toml: str, mark: str = "//") -> str:
    """TOML as comments of a kernel file."""
    return "\n".join(f"{mark} {line}".rstrip() for line in toml.split("\n"))
