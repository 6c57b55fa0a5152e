"""SOL-ExecBench: `solution.json` holds the sources, and `definition.json` beside it the arrays and the problem.

A definition also says how inputs may be made, and which axes follow from others. Knows JSON and files.
"""

from pathlib import Path

from kfuzz.claims.language.reference import Reference
from kfuzz.claims.references.format import Format, FormatNames
from kfuzz.claims.references.solutions import definition_beside, is_unpacked_by, unpack

TITLE = "SOL-ExecBench"
MADE_BY, FOLLOWS = "custom_inputs_entrypoint", "expr"
"""A key of its definitions, and the type of an axis, which those of flashinfer-bench do not have."""


def recognises(path: Path, text: str) -> bool:
    """Whether the definition beside a solution is one of this benchmark."""
    definition = definition_beside(path)
    axes = definition.get("axes")
    types = [one.get("type") for one in axes.values() if isinstance(one, dict)] if isinstance(axes, dict) else []
    return MADE_BY in definition or FOLLOWS in types


def unpack_solution(path: Path) -> Path:
    return unpack(path, TITLE)


def poses(reference: Reference) -> bool:
    return is_unpacked_by(TITLE, reference.source)


FORMAT = Format(
    title=TITLE, names=FormatNames(entries={"run": 4}), recognises=recognises, unpack=unpack_solution, poses=poses
)
