"""flashinfer-bench: `solution.json` holds the sources, and `definition.json` beside it the arrays and the problem.

Knows JSON and files.
"""

from pathlib import Path

from kfuzz.claims.language.reference import Reference
from kfuzz.claims.references.format import Format, FormatNames
from kfuzz.claims.references.solutions import is_unpacked_by, unpack

TITLE = "flashinfer-bench"


def recognises(path: Path, text: str) -> bool:
    """Whether a file is in JSON: if it is no solution, its error says what is missing."""
    return path.suffix == ".json"


def unpack_solution(path: Path) -> Path:
    return unpack(path, TITLE)


def poses(reference: Reference) -> bool:
    return is_unpacked_by(TITLE, reference.source)


FORMAT = Format(
    title=TITLE,
    rank=3,  # any other format in JSON is asked first
    names=FormatNames(entries={"run": 4}),
    recognises=recognises,
    unpack=unpack_solution,
    poses=poses,
)
