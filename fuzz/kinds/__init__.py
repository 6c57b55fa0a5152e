"""What each kind of finding means: a page a kind, the same text for `kfuzz explain`, SARIF and the documentation."""

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent


def names() -> tuple[str, ...]:
    """Every kind that has a page, by the folder listing."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.md")))


@cache
def page(kind: str) -> str:
    """The page of a kind, in Markdown; KeyError where there is none."""
    if kind not in names():
        raise KeyError(kind)
    return (FOLDER / f"{kind}.md").read_text(encoding="utf-8")
