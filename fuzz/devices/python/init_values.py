"""What an object of a class is made with: literals, some of which follow from the sizes of a call.

Knows texts and sizes; it knows no object.
"""

import ast
from collections.abc import Mapping, Sequence
from typing import Any


def init_values(texts: Sequence[str], sizes: Mapping[str, int]) -> list[Any]:
    """The values of these texts at some sizes."""
    return [value_at(one, sizes) for one in texts]


def value_at(text: str, sizes: Mapping[str, int]) -> Any:  # noqa: ANN401  any literal
    """The value of one text. kfuzz has written those that are no literals: containers, and whole numbers of sizes."""
    if not names_of_sizes((text,)):
        return ast.literal_eval(text)
    return eval(text, {"__builtins__": {}}, dict(sizes))  # noqa: S307  see above


def names_of_sizes(texts: Sequence[str]) -> list[str]:
    """The sizes in these texts."""
    nodes = (node for one in texts for node in ast.walk(ast.parse(one.strip(), mode="eval")))
    return list(dict.fromkeys(node.id for node in nodes if isinstance(node, ast.Name)))
