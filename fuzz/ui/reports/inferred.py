"""What kfuzz inferred of a claim because the user has not written it, and what of it would change the verdict.

Knows kernels, kinds of findings and the report's fields; no layout.
"""

import tomllib
from collections.abc import Collection, Iterator

from kfuzz.claims.kernel import Kernel
from kfuzz.kinds import KINDS, Kind
from kfuzz.ui.reports.document import InferredClaim

OF_FUNCTIONS = ("exp", "divide", "functions")
"""Keys of [accuracy] that a Python library's functions imply."""
ORACLE = "oracle"
BY_ANSWERS = (
    "wrong answers are judged by these: if one is not what you mean, write it into a claim, and the verdict may change"
)
BY_DEVICE = "the findings do not depend on these, unless the kernel is never called with such sizes or arguments"
IF_KEPT = "a claim that allows less, such as fewer additions, may find more: kfuzz claim counts them"


def inferred_claim(kernel: Kernel, kinds: Collection[Kind]) -> InferredClaim | None:
    """The inferred parts of a kernel's claim, and what would change the verdict on it; None if you wrote all.

    `kinds`: those of its errors.
    """
    parts = list(inferred_parts(kernel))
    if not parts:
        return None
    would_change = BY_ANSWERS if depends_on_answers(kinds) else BY_DEVICE if kinds else IF_KEPT
    return {"parts": parts, "would_change": would_change}


def depends_on_answers(kinds: Collection[Kind]) -> bool:
    """Whether one of these errors is a wrong answer, and not what a device saw."""
    return any(ORACLE in KINDS[kind].devices for kind in kinds)


def inferred_parts(kernel: Kernel) -> Iterator[str]:
    """Each part in a few words, with its source."""
    front, accuracy = kernel.front, kernel.written.accuracy
    written = {} if front.said else tomllib.loads(front.toml)
    is_op_said = kernel.op == written.get("op", kernel.op)
    if front.said:
        yield f"arrays, sizes and call of {kernel.op}, from {front.said} and the text"
        yield from (f"{name} = {value:g}" for name, value in kernel.scalars.items() if not isinstance(value, str))
    elif not is_op_said and "(" in kernel.op:
        yield f"op = {kernel.op}, from the arrays"
    missing = [key for key in front.language.may_leave_out if key not in written and not front.said]
    if missing:
        yield f"{' and '.join(missing)} of {kernel.op}"
    for one in kernel.rounding.read_off:
        value = one.value if one.value.startswith("[") else f'"{one.value}"'
        yield f"{one.key} = {value}, {one}"
    is_said = any(getattr(accuracy, key) for key in OF_FUNCTIONS)
    if not is_said and (libraries := kernel.written.libraries):
        yield f"functions as accurate as those of {libraries.language}"


def inferred_texts(name: str, found: InferredClaim | None) -> Iterator[str]:
    """The line of one kernel; none if nothing is inferred."""
    if found:
        yield f"{name}: inferred, not written: {'; '.join(found['parts'])}. {_sentence(found['would_change'])}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
