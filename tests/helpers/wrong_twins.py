"""Right and wrong files of tests/data/extensions: which lie in a folder, and what a wrong one must be found as."""

import re
from pathlib import Path

from kfuzz.claims.language.front_matter import text_of
from kfuzz.common.text.exhibits import description_of, list_kernel_files, read


def list_extensions(folder: Path) -> list[Path]:
    """The extensions in a folder, exhibits among them."""
    return _list_files(folder, ".cu")


def list_callables(folder: Path) -> list[Path]:
    """The Python callables in a folder, exhibits among them."""
    return _list_files(folder, ".py")


def _list_files(folder: Path, ending: str) -> list[Path]:
    return [path for path in list_kernel_files(folder, ending) if path.parent == folder]


def list_exhibits(folder: Path) -> list[Path]:
    """The extensions, kernels and Python callables in a folder."""
    return sorted([*list_extensions(folder), *list_callables(folder)])


def words_of(path: Path, what: str) -> list[str]:
    """The words after `// what: ` at the top of a file; none if there is no such line."""
    match = re.search(rf"^(?://|#) {what}: (.*)$", text_of(path), re.MULTILINE)
    return match[1].split() if match else []


def kinds_of(path: Path) -> set[str]:
    """The findings of which one must be reported; none for a right file."""
    description = description_of(path)
    return set(read(description).kinds if description else words_of(path, "bug"))


def without_confession(path: Path) -> str:
    """The text of an exhibit without its table `[broken]`: a user's own kernel, with a bug."""
    return re.sub(r"^//\n// \[broken\]\n(?:// .+\n)*?(?=// ///\n)", "", text_of(path), flags=re.MULTILINE)
