"""Changes of a text, which an operator of `fuzz/measure/mutants/operators` proposes: places and the new text for each.

Knows nodes and bytes; never why a change is made.
"""

from tree_sitter import Node

Change = tuple[tuple[int, int, str], ...]
"""(first byte, byte after the last, new text), none of which overlap."""


def put(node: Node, text: str) -> Change:
    """Text in place of a node."""
    return ((node.start_byte, node.end_byte, text),)


def put_all(nodes: list[Node], text: str) -> Change:
    """The same text in place of each node."""
    return tuple(one for node in nodes for one in put(node, text))
