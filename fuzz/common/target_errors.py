"""The error for a target that names nothing."""


class TargetError(ValueError):
    """The target names no kernel file."""
