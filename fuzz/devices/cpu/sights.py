"""The sights of the C++ runtime, read from runtime/sights.def."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from kfuzz.devices.cpu.toolchain import HOME
from kfuzz.kinds import Kind, Severity

Doubt = Literal["schedule", "poison", "lane", "late", "reads", "copies"]
"""What an experiment has to change to see whether the result depends on a sight; two are of programs (tiles.py)."""
COMMENT = re.compile(r"^\s*//.*", re.MULTILINE)


@dataclass(frozen=True)
class SightType:
    """One entry of sights.def; `doubt` is None where the sight is certain."""

    name: str
    kind: Kind
    severity: Severity
    doubt: Doubt | None
    traits: frozenset[str]
    message: str


def read_sights(path: Path) -> tuple[SightType, ...]:
    """Read the entries, whose syntax is that of a call in Python too. ValueError names a malformed entry."""
    return tuple(map(_read_entry, ast.parse(COMMENT.sub("", path.read_text(encoding="utf-8"))).body))


def _read_entry(entry: ast.stmt) -> SightType:
    match entry:
        case ast.Expr(
            ast.Call(
                ast.Name("SIGHT"),
                [
                    ast.Name(name),
                    ast.Constant(str(kind)),
                    ast.Name(severity),
                    ast.Name(doubt),
                    traits,
                    ast.Constant(str(message)),
                ],
            )
        ) if severity in get_args(Severity) and doubt in ("certain", *get_args(Doubt)):
            words = frozenset(one.id for one in ast.walk(traits) if isinstance(one, ast.Name)) - {"plain"}
            grave: Severity = "error" if severity == "error" else "warning"
            doubts: dict[str, Doubt] = {one: one for one in get_args(Doubt)}
            return SightType(name, kind, grave, doubts.get(doubt), words, message)
    raise ValueError(f"sights.def: malformed entry: {ast.unparse(entry)}")


SIGHTS = read_sights(HOME / "runtime" / "sights.def")


def sight_type(number: int) -> SightType:
    """The entry with this number, as abi.h's Kind counts them from 1."""
    return SIGHTS[number - 1]
