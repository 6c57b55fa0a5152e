"""Report documents without what changes from run to run."""

CHANGES = {"seconds", "started", "command", "path"}
"""What depends on the machine, and on what was typed."""


def settled(value: object) -> object:
    """A document without what changes from run to run."""
    if isinstance(value, dict):
        return {name: settled(item) for name, item in value.items() if name not in CHANGES}
    return [settled(item) for item in value] if isinstance(value, list) else value
