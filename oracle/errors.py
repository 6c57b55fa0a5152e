"""The error that the oracle raises when it is asked a wrong question."""


class OracleError(ValueError):
    """The question itself is wrong: the message names the value, what was expected, and what to do."""
