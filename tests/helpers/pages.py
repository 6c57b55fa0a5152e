"""The pages of this repository as what they promise: code blocks, commands, sessions, links. Used by tests."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from paths import ROOT

FENCE = re.compile(r"^```(?P<language>[\w -]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^()\s]+)\)")
TIMES = re.compile(r"\b\d+(?:\.\d+)?(?= s\b| trials/s)|\b\d+ jobs, | +$", re.MULTILINE)
"""What differs from run to run and from machine to machine."""


@dataclass(frozen=True)
class Block:
    """A fenced block: what stands behind its opening fence, what is in it, and the line it begins on."""

    language: str
    text: str
    line: int


def pages() -> tuple[Path, ...]:
    """Every page that a person reads: those in the top folder, docs/, and the one that lists the benchmarks."""
    return (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")), ROOT / "benchmarks" / "README.md")


def blocks(text: str, *languages: str) -> tuple[Block, ...]:
    """The fenced blocks of a page, of these languages only where some are named."""
    found = (
        Block(match["language"].strip(), match["text"], text.count("\n", 0, match.start()) + 1)
        for match in FENCE.finditer(text)
    )
    return tuple(block for block in found if not languages or block.language in languages)


def commands(text: str) -> Iterator[str]:
    """Every command line that a page tells its reader to type: in shell blocks, sessions, and the steps of a CI."""
    for block in blocks(text, "sh"):
        yield from (bare for line in joined(block.text) if (bare := without_comment(line)))
    for block in blocks(text, "console"):
        yield from (line[2:] for line in joined(block.text) if line.startswith("$ "))
    for block in blocks(text, "yaml"):
        yield from re.findall(r"^ *- run: (.+)$", block.text, re.MULTILINE)


def joined(text: str) -> list[str]:
    """Lines, with those that end in a backslash continued."""
    return text.replace("\\\n", " ").splitlines()


def without_comment(line: str) -> str:
    return re.sub(r"(^|\s)#.*", "", line).strip()


def inline_commands(text: str) -> Iterator[str]:
    """The commands of ours that stand in the running text."""
    prose = FENCE.sub("", text)
    yield from (found for found in INLINE.findall(prose) if re.match(r"kfuzz [a-z]", found))


def links(text: str) -> Iterator[str]:
    """Where a page's links lead: `f(x)[1](g)` in code is none."""
    yield from LINK.findall(re.sub(r"`[^`\n]*`", "``", FENCE.sub("", text)))


def anchors(text: str) -> set[str]:
    """The anchors that a page's headings make, as GitHub makes them, and those that are written out."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return set(map(anchor_of, headings)) | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def anchor_of(heading: str) -> str:
    """What a heading is called in a link to it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def steps(session: str) -> list[tuple[str, str]]:
    """A session as commands, each with the output that is shown for it."""
    found = re.split(r"^\$ (.+)\n", session, flags=re.MULTILINE)[1:]
    return list(zip(found[::2], found[1::2], strict=True))


def is_shown(shown: str, printed: str) -> bool:
    """Whether the output is what a page shows; `...` on a line or at its end stands for whatever is there."""
    parts = [re.escape(TIMES.sub("", part)) for part in re.split(r"^\.\.\.\n|\.\.\.$", shown, flags=re.MULTILINE)]
    return re.fullmatch(".*".join(parts).replace("\\\n", "\n"), TIMES.sub("", printed), re.DOTALL) is not None
