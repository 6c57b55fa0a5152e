"""The steps of one run of the reference in a file. Knows files, and the process that runs them; it imports no torch."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kfuzz.claims.language.python_text import read_text
from kfuzz.claims.language.reference import Reference
from kfuzz.claims.references import running
from kfuzz.claims.references.formats import reference_names, texts_beside
from kfuzz.common.errors import ClaimError
from kfuzz.common.printable import shown_path
from kfuzz.oracle.numbers.errors import OracleError


def reference_in_file(path: Path) -> Reference | None:
    """The reference with a usual name in a Python file, if there is one."""
    if path.suffix != ".py":
        return None
    source = path.read_text(encoding="utf-8-sig")
    known = read_text(source).names
    return next((Reference(path, source, name) for name in reference_names() if name in known), None)


def steps_of(reference: Reference) -> list[dict[str, Any]]:
    """Every step of one run at the reference's own inputs."""
    question: Mapping[str, object] = {
        **texts_beside(reference.path), "path": str(reference.path.resolve()), "source": reference.source,
        "reference": reference.name, "inputs": {}, "integers": {}, "is_function": True,
    }  # fmt: skip
    try:
        return running.steps_of(question)
    except OracleError as error:
        raise ClaimError(f"{shown_path(reference.path)}: {error}") from None
