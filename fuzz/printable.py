"""Text of strangers, made safe to print: file names, source lines and cases may hold what moves a cursor or lies.

Knows characters alone. What is not printable is spelled out, as `\\x1b`, and so are marks that turn the direction of
writing, and halves of characters that no stream takes.
"""


def printable(text: str) -> str:
    """The text with its lines and tabs, and all else that is not printable spelled out."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else repr(letter)[1:-1] for letter in text)


def one_line(text: str) -> str:
    """The text in one line: its line ends are spelled out as well."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
