"""What the products of a kernel make of their operands, by its text: tensor cores take numbers of float32 in TF32, and
add products of 8 bits with 13.

Knows the names of instructions and of C++; it knows no claim. A name that is there counts, whether it is reached or
not.
"""

import re
from functools import lru_cache

from kfuzz.common.text.cuda_text import KEPT_TEXTS
from kfuzz.devices import Call, Entry, Job
from kfuzz.devices.cpu.ptx.module import read_module

TF32 = "tf32"
_BY = {
    "e4m3": re.compile(r"(?<![\w.])wgmma\.[\w.:]*\b(?:e4m3|e5m2)\b"),
    TF32: re.compile(r"(?<![\w.])(?:mma|wmma|wgmma|tcgen05)\.[\w.:]*\btf32\b"),
}
"""By what a claim calls the format: its instructions. Sums of 8 bits lose more than operands in TF32 do."""
_FRAGMENT = re.compile(r"\bprecision\s*::\s*tf32\b")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def operand_of(job: Job) -> str:
    """The format in which tensor cores take the operands of a job's products, where that decides how these round, as a
    claim calls it; empty if none does.
    """
    if job.through != "ptx":
        return operand_in_cuda(job.source)
    return next(filter(None, (operand_in_module(job.source, _function_of(one.entry)) for one in job.steps)), "")


def _function_of(entry: Entry) -> str:
    return entry.function if isinstance(entry, Call) else str(entry)


def _operand_in(text: str) -> str:
    return next((name for name, pattern in _BY.items() if pattern.search(text)), "")


@lru_cache(maxsize=KEPT_TEXTS)
def operand_in_module(text: str, kernel: str) -> str:
    """The same of a kernel of a PTX module, and of all functions that it may call."""
    if not _operand_in(text):
        return ""
    module = read_module(text)
    bodies = (one.body for one in module.functions if one.body and (not one.is_entry or one.name == kernel))
    return _operand_in("\n".join(module.text[body] for body in bodies))


@lru_cache(maxsize=KEPT_TEXTS)
def operand_in_cuda(text: str) -> str:
    """The same of a text of CUDA."""
    plain = _COMMENT.sub(" ", text) if TF32 in text or "wgmma" in text else ""
    return _operand_in(plain) or (TF32 if _FRAGMENT.search(plain) else "")
