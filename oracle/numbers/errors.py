"""The errors that the oracle raises for wrong arguments."""


class OracleError(ValueError):
    """The arguments are wrong: the message names the value, what was expected, and what to do."""


class NothingRightError(OracleError):
    """An op has no answer to these numbers, or at these sizes: none is right or wrong."""
