"""The report as JSON: the document itself, as docs/formats.md describes it."""

import json
from collections.abc import Sequence

from kfuzz.ui.reports.document import Document
from kfuzz.ui.reports.format import FileFormat


def as_json(documents: Sequence[Document]) -> str:
    """The only document as text; it holds no NaN and no infinity, for which JSON has no number."""
    (document,) = documents
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


FORMAT = FileFormat(
    option="json",
    help="Write the report to FILE as JSON (docs/formats.md).",
    commands=("fuzz", "check"),
    render=as_json,
)
