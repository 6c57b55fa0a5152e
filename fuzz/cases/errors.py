"""The error for a case that is wrong."""


class CaseError(Exception):
    """A case or its file is wrong: one line that says where, what is there, and what is expected."""
