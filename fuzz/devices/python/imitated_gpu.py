"""The GPU that a process without one imitates: an H200, a B200 once a file has asked for one, or that of a target.

Knows the words in which files and compilers ask; it knows no library.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

A100, H200, B200 = (8, 0), (9, 0), (10, 0)
"""Their compute capabilities."""
BY_TARGET = {"sm_80": A100, "sm_90": H200, "sm_100": B200}
"""By what compilers call their code; the oldest first, since it differs most from that for an H200."""
NAMES_H200 = re.compile(r"sm_?90|\b9\.0\b", re.IGNORECASE)
NAMES_B200 = re.compile(r"sm_?100|\b10\.[0x]\b", re.IGNORECASE)
ONLY = re.compile(r"\bonly\b|\brequire|\bneed", re.IGNORECASE)
A_GPU = re.compile(r"\bsm_?\s?\d+(?:\.[\dx]+|x)?\b|compute capability", re.IGNORECASE)
"""A generation of GPUs, in an error of a file that takes only some: it is no fault that it does not take this one."""
LACKS_INSTRUCTION = re.compile(r"not\s+supported\s+on\s+\.target\s+'sm_90a?'|Failed\s+to\s+generate\s+PTX")
"""What ptxas says of code for an H200, and libNVVM, which does not say why."""


class AsksForB200Error(Exception):
    """A file runs on a B200, and not on the GPU that it has seen."""


@dataclass
class ImitatedGpu:
    """Which GPU this process imitates, and what is called when it is another one."""

    capability: tuple[int, int] = H200
    changed: list[Callable[[], None]] = field(default_factory=list)

    @property
    def architecture(self) -> str:
        """As a compiler calls it, with the instructions of this generation alone."""
        return f"{self.target}a"

    @property
    def target(self) -> str:
        """As a compiler calls the code for it and for later ones."""
        return "sm_{}{}".format(*self.capability)

    @property
    def shared_memory(self) -> int:
        """Bytes that a block may have at most."""
        return (163 if self.capability == A100 else 227) << 10

    def does_ask_for_b200(self, words: str) -> bool:
        """Whether an error says that this is an H200, and that it takes a B200 or an instruction that an H200 lacks."""
        if self.capability != H200:
            return False
        is_of_these = NAMES_H200.search(words) or ONLY.search(words)
        return bool((is_of_these and NAMES_B200.search(words)) or LACKS_INSTRUCTION.search(words))

    def is_another_asked(self, words: str) -> bool:
        """Whether an error says that a file takes other GPUs alone."""
        return bool(ONLY.search(words) and A_GPU.search(words))

    def become(self, capability: tuple[int, int]) -> None:
        """Imitate this one from now on."""
        self.capability = capability
        for act in self.changed:
            act()


GPU = ImitatedGpu()
"""That of this process."""
