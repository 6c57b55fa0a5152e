"""The kinds of findings: every word by which a device or the oracle names what is wrong.

There is no other list: claims say in these words what must be found, devices and trials what was, views what it means.
"""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]
Kind = Literal[
    "numeric",
    "special",
    "unwritten",
    "out-of-bounds",
    "uninitialised",
    "race",
    "divergent-barrier",
    "inactive-lane",
    "misaligned",
    "illegal-address",
    "use-after-free",
    "launch-refused",
    "wrong-shape",
    "trap",
    "input-changed",
    "hang",
    "exception",
    "stale",
    "stateful",
    "late-write",
    "lazy",
    "ignores-stream",
    "nondeterministic",
    "suspect",
    "aliased",
    "thread",
    "out-of-memory",
]


@dataclass(frozen=True)
class Meaning:
    """What a kind says of a kernel, and the gravest that it is told as."""

    severity: Severity
    words: str


KINDS: dict[Kind, Meaning] = {
    "numeric": Meaning("error", "an answer outside the interval that the claim allows"),
    "special": Meaning("error", "a NaN, an infinity or a number where another of these three is right"),
    "unwritten": Meaning("error", "an element of an output that nobody writes"),
    "out-of-bounds": Meaning("error", "an access beside its array"),
    "uninitialised": Meaning("error", "a read of memory that nobody has written"),
    "race": Meaning("error", "two accesses of one address, a write among them, that nothing orders"),
    "divergent-barrier": Meaning("error", "threads that wait for one another at different barriers"),
    "inactive-lane": Meaning("error", "a warp collective that reads from a lane which takes no part in it"),
    "misaligned": Meaning("error", "an access at an address that is no multiple of its width"),
    "illegal-address": Meaning("error", "an access of memory that is in no array"),
    "use-after-free": Meaning("error", "an access of memory that the host has freed"),
    "launch-refused": Meaning("error", "a launch that no GPU takes, and nobody asks whether it was taken"),
    "wrong-shape": Meaning("error", "an output of another shape or type than the claim's"),
    "trap": Meaning("error", "an end by __trap(), an assertion, a fault or an exit"),
    "input-changed": Meaning("error", "an input that is no output, and is written all the same"),
    "hang": Meaning("error", "a launch that does not come to its end"),
    "exception": Meaning("error", "an error that a Python callable raises for an input that it claims"),
    "stale": Meaning("error", "the answer to another input, which was asked for before"),
    "stateful": Meaning("error", "an answer that depends on what was called before, or on where its arrays lie"),
    "late-write": Meaning("error", "an answer that changes when the call has returned"),
    "lazy": Meaning("error", "an object that is derived from an array in the place of one"),
    "ignores-stream": Meaning("error", "work in another stream than the current one, which waits for nobody"),
    "nondeterministic": Meaning("warning", "the same input, and other bits in another order of threads"),
    "suspect": Meaning("warning", "an answer outside of what the reference's own steps allow"),
    "aliased": Meaning("warning", "an answer that lies in the memory of an input"),
    "thread": Meaning("warning", "a thread that a call leaves running"),
    "out-of-memory": Meaning("warning", "a case that is too large for this device; it says nothing of the kernel"),
}
