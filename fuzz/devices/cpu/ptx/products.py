"""What the products of a kernel make of their operands, by its text: tensor cores take numbers of float32 in TF32.

Knows the names of instructions and of C++; it knows no claim. A name that is there counts, whether it is reached or
not.
"""

import re
from functools import lru_cache

from kfuzz.common.text.cuda_text import KEPT_TEXTS
from kfuzz.devices import Call, Entry, Job
from kfuzz.devices.cpu.ptx.module import read_module

TF32 = "tf32"
_INSTRUCTION = re.compile(r"(?<![\w.])(?:mma|wmma|wgmma|tcgen05)\.[\w.:]*\btf32\b")
_IN_CUDA = re.compile(rf"\bprecision\s*::\s*tf32\b|{_INSTRUCTION.pattern}")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def operand_of(job: Job) -> str:
    """The format to which the kernels of a job round operands of float32 products, as a claim calls it; empty if they
    do not.
    """
    if job.through != "ptx":
        return operand_in_cuda(job.source)
    return next(filter(None, (operand_in_module(job.source, _function_of(one.entry)) for one in job.steps)), "")


def _function_of(entry: Entry) -> str:
    return entry.function if isinstance(entry, Call) else str(entry)


@lru_cache(maxsize=KEPT_TEXTS)
def operand_in_module(text: str, kernel: str) -> str:
    """The same of a kernel of a PTX module, and of all functions that it may call."""
    if TF32 not in text:
        return ""
    module = read_module(text)
    bodies = (one.body for one in module.functions if one.body and (not one.is_entry or one.name == kernel))
    return TF32 if any(_INSTRUCTION.search(module.text[body]) for body in bodies) else ""


@lru_cache(maxsize=KEPT_TEXTS)
def operand_in_cuda(text: str) -> str:
    """The same of a text of CUDA."""
    return TF32 if TF32 in text and _IN_CUDA.search(_COMMENT.sub(" ", text)) else ""
