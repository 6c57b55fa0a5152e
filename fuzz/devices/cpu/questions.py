"""Questions about a job that only the cpu device answers. Each takes one run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CpuQuestion:
    """`watch`, an array and an index: which line stores this element?

    `returned`: which tensors does a function return?
    `launches`: the same, at sizes that may be those of a whole GPU: which launches are refused? Arrays hold nothing.
    """

    watch: tuple[str, int] | None = None
    returned: bool = False
    launches: bool = False
