"""The settings that the compiler flags of a claim make.

Knows nvcc's flags by name, not how a device uses them.
"""


def settings_of(flags: tuple[str, ...]) -> dict[str, str]:
    """Each setting and its value; as in nvcc, a setting of its own wins over what -use_fast_math brings."""
    written = dict(flag.lstrip("-").partition("=")[::2] for flag in flags)
    fast = {"ftz": "true", "prec-div": "false", "prec-sqrt": "false"} if "use_fast_math" in written else {}
    return {**fast, **written}
