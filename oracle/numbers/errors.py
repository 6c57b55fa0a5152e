"""The error that the oracle raises for wrong arguments."""


class OracleError(ValueError):
    """The arguments are wrong: the message names the value, what was expected, and what to do."""
