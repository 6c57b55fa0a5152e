"""What only the cpu device can be asked of a job, beside its answers. Each question takes one run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CpuQuestion:
    """`watch`: an array and the index of an element in it: which line stored it?

    `returned`: what does a function of tensors return?
    """

    watch: tuple[str, int] | None = None
    returned: bool = False
