"""Numbers with their nouns: one helper for every message, so that none says "1 trials"."""


def plural(count: int, noun: str, several: str = "") -> str:
    """`1 trial`, `2 trials`; `several` is the plural of a noun that takes more than an s."""
    return f"{count} {noun if count == 1 else several or f'{noun}s'}"
