"""What the process that describes a reference says of its sizes, in the names of the formula.

Knows that answer; it starts no process.
"""

from collections.abc import Mapping
from typing import Any


def names_in_description(answer: Mapping[str, Any]) -> dict[str, str]:
    """The names of sizes in the formula, by those in the problem; a size that is fixed there is a number."""
    return {
        declared: size
        for name, dims in answer["inputs"].items()
        for declared, size in zip(answer.get("dims", {}).get(name, dims), dims, strict=True)
        if declared.isidentifier()
    }


def home_in(answer: Mapping[str, Any]) -> dict[str, int]:
    """The problem's own sizes, by their names in the formula."""
    known = names_in_description(answer)
    return {known[name]: size for name, size in answer.get("home", {}).items() if known.get(name, "").isidentifier()}


def multiples_in(answer: Mapping[str, Any]) -> dict[str, int]:
    """The number that divides every size of a name in the formula."""
    known = names_in_description(answer)
    return {known[name]: by for name, by in answer.get("multiples", {}).items() if name in known}
