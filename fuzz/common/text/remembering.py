"""Finds, from its text, whether a file has variables that outlive a call of a host function.

Knows C++ only as text; if it misses a variable, the search tests for its effect less often.
"""

import re

from kfuzz.common.text.cuda_text import blank_non_code

KEPT = re.compile(
    r"\b(?:static|thread_local)\b[^;{}()=]*[;={\[]|"
    r"\b__(?:device|managed|constant)__\b[^;{}()]*[;=\[]|"
    r"^(?!using|typedef|extern|template|const|return|namespace|struct|class|enum)"
    r"\w[\w:<>, *&]*[\s*&>]\w+\s*(?:=[^;]*|\[[^;]*\]\s*)?;",
    re.MULTILINE,
)
"""A static variable, one of the device, or one that begins a line, as those of the whole file do."""


def has_lasting_variables(source: str) -> bool:
    """Whether the file has a variable that keeps its value from one call to the next."""
    return bool(KEPT.search(blank_non_code(source)))
