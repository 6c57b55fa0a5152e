"""The input that kfuzz makes up for a program that waits for some: numbers to read, and arguments of the right kind.

Knows how a usage and a source name their arguments; it runs nothing.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kfuzz.common.text.cuda_text import blank_non_code
from kfuzz.devices import cache

NUMBERS = (64, 32, 16, 8, 4, 2)
"""The first lines of the standard input, and 1 from then on: sizes come first, and what follows may be an index into
arrays of these sizes, counted from 0 or from 1, or the choice from a menu."""
LINES = 1 << 17
USAGE = re.compile(r"\busage\b[\s:]*(?P<words>[^\n]*)", re.IGNORECASE)
PLACE = re.compile(r"<(?P<angle>[^<>\n]+)>|\[(?P<square>[^\[\]\n]+)\]|(?P<word>[^\s<>\[\]]+)")
FILES = re.compile(
    r"^(?!.*(?:size|num|count|width|height|length))[^\n]*?(?:file|path|image|img|input|output|open|stream|\bdir|folder|\.\w|/)",
    re.IGNORECASE,
)
FOLDERS = re.compile(r"dir|folder", re.IGNORECASE)
OPENED = re.compile(r"(?P<by>\w+(?:\s+\w+)?)\s*[=(]\s*(?:(?:std\s*::\s*)?string\s*\(\s*)?argv\s*\[\s*(?P<at>\d+)\s*\]")
"""Code that opens a file, or keeps its name."""
READ = re.compile(
    r"(?:\b(?P<name>\w+)\s*=\s*)?(?:\(\s*[\w\s]+\)\s*)?(?:static_cast\s*<[^<>]*>\s*\(\s*)?"
    r"(?:std\s*::\s*)?\b(?P<by>ato\w+|strto\w+|sto\w+|sscanf)\s*\(\s*(?:(?:std\s*::\s*)?string\s*\(\s*)?argv\s*\[\s*(?P<at>\d+)\s*\]"
)
ARGUMENTS = re.compile(r"\bmain\s*\([^()]*\bchar\b(?:\s*const)?[\s*]*(\w+)[^()]*\)")
ANY = re.compile(r"\bargv\s*\[\s*(\d+)\s*\](?P<digit>\s*\[\s*0\s*\]\s*-)?")
ASKED = re.compile(
    r'(?:"(?P<prompt>(?:\\.|[^"\\\n])*)"[^;"]*;\s*)?\b(?:scanf\s*\(\s*"[^"\n]*"|cin\b)(?P<names>[^;"]*);'
)
"""Code that reads numbers, and the text that it prints right before."""
NAMES = re.compile(r"(?:&|>>)\s*(\w+)")
MOST, MOST_GUESSES = 9, 12
KINDS = (
    (r"device|gpu|\bdev\b", "0"),
    (r"seed|rank", "1"),
    (r"iter|rep|step|epoch|trial|runs|times|warm|loop|gen", "2"),
    (r"block|thread|tpb|tile|warp", "32"),
    (r"float|prob|rate|alpha|beta|ratio|scale|eps|factor|toler", "0.5"),
    (r"mode|type|kind|version|kernel|algo|method|choice|option|test|case|verb|debug|flag|which", "1"),
    (r"width|height|row|col|dim|side|matri|order|grid|^[mkwh]$", "128"),
)
"""Words in the name of an argument, and the number for it."""
SIZE = "1024"
"""The number for other arguments: a multiple of all usual sizes of blocks."""


@dataclass(frozen=True)
class MadeUpInput:
    """Arguments, and the first numbers of the standard input."""

    arguments: tuple[str, ...] = ()
    numbers: tuple[int, ...] = NUMBERS


NOTHING_MADE_UP = MadeUpInput()


class Guesses:
    """What to try next with a program that launches nothing."""

    def __init__(self, texts: Sequence[str], has_own_arguments: bool) -> None:
        self._texts, self._has_own_arguments = texts, has_own_arguments
        self._tried, self._waiting = [NOTHING_MADE_UP], list[MadeUpInput]()

    def next_after(self, printed: str, reads_input: bool, is_late: bool) -> MadeUpInput | None:
        """The next guess after one with which the program printed this, and was ended or ended itself."""
        last, more = self._tried[-1], list[MadeUpInput]()
        codes = [rename_arguments(blank_non_code(one)) for one in self._texts] if len(self._tried) == 1 else []
        if not self._has_own_arguments and reads_arguments(codes):
            more += [MadeUpInput(one) for one in guess_arguments(printed, codes)]
        if reads_input and last.numbers == NUMBERS:
            more += [replace(last, numbers=one) for one in guess_numbers(self._texts)]
        smaller = [replace(last, arguments=make_smaller(last.arguments))]
        every = [*smaller, *self._waiting, *more] if is_late else [*self._waiting, *more, *smaller]
        self._waiting = [one for one in dict.fromkeys(every) if one not in self._tried]
        if not self._waiting or len(self._tried) > MOST_GUESSES:
            return None
        self._tried.append(self._waiting.pop(0))
        return self._tried[-1]


def standard_input(numbers: tuple[int, ...] = NUMBERS) -> Path:
    """The file for the standard input of a program: that of kfuzz itself if it is a file, else one of numbers."""
    if has_own_input():
        return Path(f"/proc/{os.getpid()}/fd/0")
    name = f"cpu/numbers-{'-'.join(map(str, numbers))}"
    if cache.fetch(name) is None:
        cache.keep(name, "".join(f"{one}\n" for one in (*numbers, *(1,) * (LINES - len(numbers)))).encode())
    return cache.folder() / name


def has_own_input() -> bool:
    """Whether kfuzz itself has a file as its standard input, as in `kfuzz check prog.cu < numbers.txt`."""
    try:
        return stat.S_ISREG(os.fstat(0).st_mode)
    except OSError:
        return False


def rename_arguments(code: str) -> str:
    """The code with `argv` for the arguments of main, whatever it calls them."""
    named = ARGUMENTS.search(code)
    return re.sub(rf"\b{named[1]}\b", "argv", code) if named else code


def reads_arguments(texts: Sequence[str]) -> bool:
    """Whether a program reads an argument of its own."""
    return any(int(one[1]) for text in texts for one in ANY.finditer(text))


def guess_arguments(printed: str, texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Arguments for a program that prints its usage, or that reads some: first as it says, then as its source does."""
    usages, text = [one["words"] for one in USAGE.finditer(printed)][:2], "\n".join(texts)
    guesses = (
        guess
        for files in (False, True)
        for guess in (*(_from_usage(one, files) for one in usages), _from_source(text, files))
    )
    yield from dict.fromkeys(one for one in guesses if one)


def numbers_file(at: int) -> str:
    """A file of numbers for the argument at this place: a program that writes one spoils no other."""
    path, text = (
        cache.folder() / "inputs" / f"made_up_{at}.txt",
        "".join(f"{one}\n" for one in (*NUMBERS, *(1,) * 1000)),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != text.encode():
        path.write_text(text)
    return str(path)


def make_smaller(words: tuple[str, ...]) -> tuple[str, ...]:
    """The arguments with an eighth of each size, for a program that works too long before its first launch."""
    return tuple(str(int(one) // 8) if one.isdecimal() and int(one) > 32 else one for one in words)


def guess_numbers(texts: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """Other numbers to read: of the kind that the source names, the number of a GPU before the sizes, small ones."""
    sizes, named = [*NUMBERS], []
    for one in (found for text in texts for found in ASKED.finditer(text)):
        names = NAMES.findall(one["names"])
        for name in names:
            known = number_for(name, "") or number_for(one["prompt"] or "", "") * (len(names) == 1)
            named.append(int(known) if known.isdecimal() else sizes.pop(0) if sizes else 1)
    yield from dict.fromkeys(one for one in (tuple(named[:MOST]), (0, *NUMBERS), (8, 4, 2), (0,)) if one)


def _from_usage(words: str, files: bool) -> tuple[str, ...]:
    """The arguments that a usage names after the program's own name; none if one is a file that is not asked for."""
    given: list[str] = []
    for one in list(PLACE.finditer(words))[1:]:
        name = one["angle"] or one["square"] or one["word"]
        if one["word"] and not re.search(r"\w", name):
            continue
        if one["word"] and name.startswith("-"):
            given.append(name)
        elif one["word"] and name.startswith(("(", ",", ":")):
            break
        elif name.lstrip().startswith("-") or name.lower() in ("options", "option", "args", "flags"):
            continue
        elif FILES.search(name):
            if not files or FOLDERS.search(name):
                return ()
            given.append(numbers_file(len(given) + 1))
        else:
            given.append(number_for(name))
    return tuple(given[:MOST])


def _from_source(text: str, files: bool) -> tuple[str, ...]:
    """The arguments that code reads as numbers, or opens if that is asked for; none if it reads others."""
    kinds = {int(one[1]): "1" if one["digit"] else "" for one in ANY.finditer(text) if int(one[1])}
    for one in READ.finditer(text):
        is_float = one["by"] in ("atof", "strtof", "strtod", "stof", "stod")
        kinds[int(one["at"])] = number_for(f"{'float ' * is_float}{one['name'] or ''}")
    for one in OPENED.finditer(text) if files else ():
        if not kinds.get(at := int(one["at"])) and FILES.search(one["by"]) and not FOLDERS.search(one["by"]):
            kinds[at] = numbers_file(at)
    count = max(kinds, default=0)
    given = tuple(kinds.get(at, "") for at in range(1, count + 1))
    return given if count <= MOST and all(given) else ()


def number_for(name: str, other: str = SIZE) -> str:
    """A small number for an argument of this name."""
    return next((number for words, number in KINDS if re.search(words, name, re.IGNORECASE)), other)
