"""Divides PTX text into instructions, labels and registers, and an instruction into its words.

Knows the grammar of PTX, but not what an instruction means.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kfuzz.devices.cpu.ptx.asm_text import AsmError
from kfuzz.devices.cpu.ptx.variables import DECLARED, PtxVariable, read_variables

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LABEL = re.compile(r"([A-Za-z_$%][\w$%=]*)\s*:(?!:)")
_GUARD = re.compile(r"@\s*(!?)\s*([\w$%]+)\s*")
_NAME = re.compile(r"[A-Za-z][\w.:]*(?:\s+\.[\w.:]+)*")
_REGISTERS = re.compile(r"\.reg\s*(?:\.v(?P<size>[24])\s*)?\.(?P<type>\w+)\s*(?P<names>.*)", re.DOTALL)
_MANY = re.compile(r"([\w$%]+)\s*<\s*(\d+)\s*>")
_OPENS, _CLOSES = "{[(", "}])"
_HINTS = (".pragma",)
"""What changes how fast code is, not what it does."""
_TABLES = (".branchtargets", ".calltargets", ".callprototype")
"""What a label names that is no place in the code."""


@dataclass(frozen=True)
class PtxWord:
    """A register, an operand's number, a special register or a constant."""

    text: str
    is_negated: bool = False


@dataclass(frozen=True)
class PtxVector:
    """`{a, b}`."""

    words: tuple[PtxWord, ...]


@dataclass(frozen=True)
class PtxAddress:
    """`[base + offset]`, with what follows after commas, such as the coordinates of a tile."""

    base: PtxWord
    offset: PtxWord | None = None
    more: tuple[PtxWord, ...] = ()


@dataclass(frozen=True)
class PtxPair:
    """`d|p`: two results."""

    first: PtxWord
    second: PtxWord


PtxOperand = PtxWord | PtxVector | PtxAddress | PtxPair


@dataclass(frozen=True)
class PtxInstruction:
    """One instruction; its guard is the predicate without which it does nothing."""

    name: str
    operands: tuple[PtxOperand, ...]
    line: int
    guard: PtxWord | None = None


@dataclass(frozen=True)
class PtxLabel:
    """The place of a label; `name` is unique in the statement."""

    name: str
    line: int


@dataclass
class PtxScope:
    """The registers and labels that a pair of braces declares, by the names that they have in it."""

    outer: "PtxScope | None" = None
    names: dict[str, str] = field(default_factory=dict)
    vectors: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The names of the parts of each register that is a vector."""

    def find(self, name: str) -> str | None:
        """The unique name of what is declared here or further out."""
        return self.names.get(name) or (self.outer.find(name) if self.outer else None)

    def find_vector(self, name: str) -> tuple[str, ...]:
        """The parts of a register that is a vector; none if it is no such register."""
        return self.vectors.get(name) or (self.outer.find_vector(name) if self.outer else ())


@dataclass(frozen=True)
class PtxRegister:
    """A register of the statement by its unique name; `type` is PTX's, without its dot."""

    name: str
    type: str


@dataclass(frozen=True)
class PtxProgram:
    """The instructions and labels in order; words that name registers or labels have unique names."""

    registers: tuple[PtxRegister, ...]
    items: tuple[PtxInstruction | PtxLabel, ...]
    variables: tuple[PtxVariable, ...] = ()
    """With their unique names."""
    tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The labels to which a branch by a number goes, by the label of the table."""


@dataclass(frozen=True)
class _Piece:
    text: str
    line: int
    scope: PtxScope


def read_program(text: str, lines: Sequence[int]) -> PtxProgram:
    """The program of the text of an asm statement or a function; AsmError says what is not understood."""
    text = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    registers: list[PtxRegister] = []
    variables: list[PtxVariable] = []
    pieces: list[_Piece] = []
    for piece in _pieces(text, lines):
        if piece.text.endswith(":"):
            name = f"{_plain(piece.text[:-1])}_{len(pieces)}"
            piece.scope.names[_label(piece.text[:-1])] = name
            pieces.append(_Piece(f"{name}:", piece.line, piece.scope))
        elif piece.text.startswith(".reg"):
            registers += _declare(piece, len(registers))
        elif DECLARED.match(piece.text):
            variables += _declare_variables(piece, {one.name for one in variables})
        elif not piece.text.startswith(_HINTS):
            pieces.append(piece)
    items: list[PtxInstruction | PtxLabel] = []
    tables: dict[str, tuple[str, ...]] = {}
    for piece in pieces:
        if piece.text.startswith(_TABLES):
            targets = split_commas(piece.text.partition(" ")[2])
            tables[items.pop().name] = tuple(piece.scope.find(one) or one for one in targets)
        else:
            is_label = piece.text.endswith(":")
            items.append(PtxLabel(piece.text[:-1], piece.line) if is_label else _instruction(piece))
    return PtxProgram(tuple(registers), tuple(items), tuple(variables), tables)


def _pieces(text: str, lines: Sequence[int]) -> Iterator[_Piece]:
    """What stands between semicolons and the braces of scopes."""
    scope: PtxScope = PtxScope()
    at = 0
    while at < len(text):
        char = text[at]
        if char.isspace() or char == ";":
            at += 1
        elif char == "{":
            scope = PtxScope(scope)
            at += 1
        elif char == "}":
            if scope.outer is None:
                raise AsmError("a brace that nothing opens", lines[at])
            scope = scope.outer
            at += 1
        elif label := _LABEL.match(text, at):
            yield _Piece(f"{label[1]}:", lines[at], scope)
            at = label.end()
        else:
            end = _end_of(text, at)
            yield _Piece(" ".join(text[at:end].split()), lines[at], scope)
            at = end
    if scope.outer is not None:
        raise AsmError("braces that stay open", lines[-1])


def _end_of(text: str, start: int) -> int:
    depth = 0
    for at in range(start, len(text)):
        if text[at] == ";" or (text[at] == "}" and depth == 0):
            return at
        depth += (text[at] in _OPENS) - (text[at] in _CLOSES)
    return len(text)


def _label(name: str) -> str:
    """A label without `%=`, which makes it unique, and the escapes of asm."""
    return name.strip().replace("%=", "").replace("%%", "%")


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", _label(name))


def _declare(piece: _Piece, number: int) -> list[PtxRegister]:
    match = _REGISTERS.fullmatch(piece.text)
    if not match:
        raise AsmError(f"the declaration {piece.text}", piece.line)
    made = list[PtxRegister]()
    for one in match["names"].split(","):
        name = _label(one)
        many = _MANY.fullmatch(name)
        every = [f"{many[1]}{i}" for i in range(int(many[2]))] if many else [name]
        if match["size"]:
            every = [f"{name}.{part}" for part in "xyzw"[: int(match["size"])]]
            piece.scope.vectors[name] = tuple(every)
        for each in every:
            unique = f"{_plain(each)}_{number + len(made)}"
            piece.scope.names[each] = unique
            made.append(PtxRegister(unique, match["type"]))
    return made


def _declare_variables(piece: _Piece, taken: set[str]) -> Iterator[PtxVariable]:
    """The variables of a function; the spaces for the parameters of its calls share one place for each name."""
    for one in read_variables(piece.text, piece.line):
        unique = f"{_plain(one.name)}_of_call" if one.space == "param" else _plain(one.name)
        while one.space != "param" and unique in taken:
            unique += "_"
        taken.add(unique)
        piece.scope.names[one.name] = unique
        yield replace(one, name=unique)


def _instruction(piece: _Piece) -> PtxInstruction:
    rest = piece.text
    guard = None
    if match := _GUARD.match(rest):
        guard = _word(f"{match[1]}{match[2]}", piece)
        rest = rest[match.end() :]
    name = _NAME.match(rest)
    if not name:
        raise AsmError(f"the PTX text {piece.text[:60]}", piece.line)
    operands = tuple(_operand(one, piece) for one in split_commas(rest[name.end() :]))
    return PtxInstruction(re.sub(r"\s", "", name[0]), operands, piece.line, guard)


def split_commas(text: str) -> list[str]:
    """The parts between the commas that are outside of all brackets."""
    found, depth, start = list[str](), 0, 0
    for at, char in enumerate(text):
        depth += (char in _OPENS) - (char in _CLOSES)
        if char == "," and depth == 0:
            found.append(text[start:at].strip())
            start = at + 1
    return [one for one in (*found, text[start:].strip()) if one]


def _operand(text: str, piece: _Piece) -> PtxOperand:
    if text.startswith("{") and text.endswith("}"):
        return PtxVector(tuple(_word(one, piece) for one in split_commas(text[1:-1])))
    if text.startswith("(") and text.endswith(")"):
        return PtxVector(tuple(_word(one, piece) for one in split_commas(text[1:-1])))
    if parts := piece.scope.find_vector(text):
        return PtxVector(tuple(_word(one, piece) for one in parts))
    if text.startswith("[") and text.endswith("]"):
        first, *more = split_commas(text[1:-1]) or [""]
        words = [one for part in more for one in split_commas(part.strip("{}"))]
        base, offset = _place(first, piece)
        return PtxAddress(base, offset, tuple(_word(one, piece) for one in words))
    if "|" in text:
        first, _, second = text.partition("|")
        return PtxPair(_word(first, piece), _word(second, piece))
    return _word(text, piece)


def _place(text: str, piece: _Piece) -> tuple[PtxWord, PtxWord | None]:
    """The base and the offset of an address."""
    match = re.fullmatch(r"\s*([\w$%]+)\s*(?:(\+|-)\s*(-?\s*[\w$%]+)\s*)?", text)
    if not match:
        raise AsmError(f"the address [{text}]", piece.line)
    offset = f"{'-' if match[2] == '-' else ''}{match[3].replace(' ', '')}" if match[3] else None
    return _word(match[1], piece), _word(offset, piece) if offset else None


def _word(text: str, piece: _Piece) -> PtxWord:
    text = text.strip()
    negated = text.startswith("!")
    name, plus, offset = re.sub(r"\s*\+\s*", "+", text.removeprefix("!").strip()).partition("+")
    return PtxWord(f"{piece.scope.find(_label(name)) or name}{plus}{offset}", negated)
