"""Finds the row of the families' tables that means an instruction, and fills its C++ in.

A row is a pattern of the instruction's whole name and a template: `<1>` is the first group of the pattern, `{0}` the
first operand. `{v0}` may be a vector of several words, `{a0}` is an address, `{c0}` what follows in its brackets, and
`{p0}` the second of two results `d|p`; `{0=16}` must be this constant; `{r0}` are the C++ variables behind the words of
a vector, and `{w0}` also its registers of the statement; `{all}` are the words of all operands. In place of a template
a row may have a function that makes one from the match, or None. A template that leaves out an operand, or is given
another kind than it names, does not fit: the next row of that name is tried. So no operand and no modifier is ever
ignored.

A family with `COUNTS` keeps the trails of numbers that count, or makes no numbers (counted_registers.h).
"""

import pkgutil
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from importlib import import_module

from kfuzz.devices.cpu.ptx import families
from kfuzz.devices.cpu.ptx.asm_text import AsmError
from kfuzz.devices.cpu.ptx.grammar import PtxAddress, PtxInstruction, PtxOperand, PtxPair, PtxVector
from kfuzz.devices.cpu.ptx.words import C, PtxNames

PtxTemplate = str | Callable[[re.Match[str]], str | None]
PtxRow = tuple[str, PtxTemplate]
_UNCOUNTED = re.compile(
    r"\.(?:b?f16(?:x2)?|e\dm\d(?:x\d)?|ue8m0x2|tf32|f32x2|pack|bulk)(?![^.])|(?:atom|red)\..*\.v[248]\."
)
"""Numbers of other sizes, and what moves or adds several at once."""
_FIELD = re.compile(r"\{(?:(all)|([vacprw]?)(\d+)(?:=(\d+))?)\}")


@cache
def every_row(of_module: bool = False) -> tuple[tuple[re.Pattern[str], PtxTemplate], ...]:
    """The rows of all families, with those that only whole modules have."""
    names = sorted(one.name for one in pkgutil.iter_modules(families.__path__))
    found = [import_module(f"{families.__name__}.{name}") for name in names]
    rows: list[PtxRow] = [row for one in found for row in one.ROWS]
    rows += [row for one in found for row in getattr(one, "OF_MODULES", ()) if of_module]
    return tuple((re.compile(pattern), template) for pattern, template in rows)


@lru_cache(maxsize=4096)
def templates_of(name: str, of_module: bool = False) -> tuple[str, ...]:
    """The templates of the rows for an instruction of this name, with the parts of the name filled in."""
    return tuple(_templates(name, of_module))


@cache
def _counted_rows() -> tuple[re.Pattern[str], ...]:
    found = [import_module(one.name) for one in pkgutil.iter_modules(families.__path__, f"{families.__name__}.")]
    counted = [one for one in found if getattr(one, "COUNTS", False)]
    rows = [row for one in counted for row in (*one.ROWS, *getattr(one, "OF_MODULES", ()))]
    return tuple(re.compile(pattern) for pattern, _ in rows)


@lru_cache(maxsize=4096)
def is_counted(name: str) -> bool:
    """Whether an instruction of this name keeps the trails of numbers that count."""
    return not _UNCOUNTED.search(name) and any(one.fullmatch(name) for one in _counted_rows())


def write_instruction(instruction: PtxInstruction, names: PtxNames, of_module: bool = False) -> str:
    """The C++ for an instruction, without its guard; AsmError names what has no row."""
    found = templates_of(instruction.name, of_module)
    fields = _fields(instruction.operands, names, instruction.line)

    def places(number: int, with_registers: bool) -> str:
        vector = instruction.operands[number]
        assert isinstance(vector, PtxVector)
        return ", ".join(names.place(word, instruction.line, with_registers) for word in vector.words)

    for template in found:
        if (made := _fill_in(template, fields, places)) is not None:
            return made
    why = " with these operands" if found else ""
    raise AsmError(f"the PTX instruction {instruction.name}{why}", instruction.line)


def _templates(name: str, of_module: bool) -> Iterator[str]:
    for pattern, template in every_row(of_module):
        if match := pattern.fullmatch(name):
            text = template if isinstance(template, str) else template(match)
            if text is not None:
                yield _name_parts(text, match)


def _name_parts(template: str, match: re.Match[str]) -> str:
    return re.sub(r"<(\d)>", lambda group: match[int(group[1])] or "", template)


def _fields(operands: Sequence[PtxOperand], names: PtxNames, line: int) -> dict[str, str]:
    """The C++ for each field that the operands offer."""
    made: dict[str, str] = {}
    every: list[str] = []
    for place, one in enumerate(operands):
        if isinstance(one, PtxVector):
            words = [names.write(word, line) for word in one.words]
            made[f"v{place}"] = ", ".join(words)
            every += words
        elif isinstance(one, PtxAddress):
            made[f"a{place}"] = names.write(one.base, line)
            if one.offset is not None:
                made[f"a{place}"] = f"{C}ptx_at({made[f'a{place}']}, {names.write(one.offset, line)})"
            every.append(made[f"a{place}"])
            if one.more:
                more = [names.write(word, line) for word in one.more]
                made[f"c{place}"] = ", ".join(more)
                every += more
        elif isinstance(one, PtxPair):
            made[str(place)], made[f"p{place}"] = names.write(one.first, line), names.write(one.second, line)
            every += [made[str(place)], made[f"p{place}"]]
        else:
            made[str(place)] = names.write(one, line)
            every.append(made[str(place)])
    made["all"] = ", ".join(every)
    return made


def _fill_in(template: str, fields: dict[str, str], places: Callable[[int, bool], str]) -> str | None:
    """The template with its fields filled in; None if it does not use exactly the operands that there are."""
    left = set(fields) - {"all"}
    uses_all = False
    filled = list[str]()
    at = 0
    for found in _FIELD.finditer(template):
        letter, number = found[2], found[3]
        name = "all" if found[1] else f"{letter}{number}"
        if letter and letter in "rw" and f"v{number}" in fields:
            name = f"v{number}"
            fields = {**fields, name: places(int(number), letter == "w")}
        elif name not in fields:
            if letter == "p" and number in fields:
                fields = {**fields, name: f"{C}PtxSink()"}
            elif letter == "v" and number in fields:
                name = number
            else:
                return None
        if found[4] is not None and fields[name] != f"{found[4]}LL":
            return None
        left.discard(name)
        uses_all = uses_all or name == "all"
        filled += template[at : found.start()], fields[name]
        at = found.end()
    return "".join((*filled, template[at:])) if uses_all or not left else None
