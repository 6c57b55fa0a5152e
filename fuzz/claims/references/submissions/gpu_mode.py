"""GPU MODE: `custom_kernel(data)` gets what `generate_input(**args, seed)` of a task makes, with the args of task.yml.

task.yml names the files that lie beside a submission when it is tested. Knows its text, and what the tracer says of a
task; it imports no library.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from kfuzz.claims.language.front_matter import FrontMatter
from kfuzz.claims.language.keys import WrittenClaim
from kfuzz.claims.language.python_text import read_text
from kfuzz.claims.language.reference import Reference
from kfuzz.claims.references.format import Format, Names, TracerAnswer
from kfuzz.claims.references.task_claims import with_task

ENTRY, REFERENCE = "custom_kernel", "ref_kernel"
INPUTS, TEST = "generate_input", "check_implementation"
TASK = "task.yml"
"""Beside a reference: the arguments with which its inputs are made, and its files."""
FILE = re.compile(r"""["']?source["']?:\s*["']?([^"'@,}\s]+\.py)""")
DATA = "data"
"""What the tracer says of a task alone: how its data is handed over."""


def recognises(path: Path, text: str) -> bool:
    """Whether a file has the function of a submission."""
    known = read_text(text)
    return ENTRY in (*known.functions, *known.assigned)


def files_beside(reference: Path) -> Mapping[str, str]:
    """The file with the arguments of a task."""
    return {"task": TASK}


def task_of(reference: Path) -> str:
    """The text of a reference's task; empty if it has none."""
    path = reference.resolve().with_name(TASK)
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def poses(reference: Reference) -> bool:
    """Whether a reference has a task, and makes its inputs."""
    return bool(task_of(reference.path)) and read_text(reference.source).names >= {INPUTS, TEST}


def folders(reference: Path) -> tuple[str, ...]:
    """The folders of the files of a task, if a reference has one."""
    task = task_of(reference)
    return tuple(folders_of(task, reference.parent)) if task else ()


def folders_of(task: str, folder: Path) -> list[str]:
    """The folders of the files that a task in this folder names, its own one first."""
    folder = folder.resolve()
    return list(
        dict.fromkeys(str(one) for one in (folder, *((folder / name).resolve().parent for name in FILE.findall(task))))
    )


def complete(front: FrontMatter, claim: WrittenClaim, answer: TracerAnswer) -> WrittenClaim:
    """The claim with what a task hands over."""
    return with_task(claim, answer) if DATA in answer else claim


def why_not_cuda(answer: TracerAnswer) -> str:
    return "a task of GPU MODE hands its data to a Python function, not to CUDA" if DATA in answer else ""


FORMAT = Format(
    title="GPU MODE",
    rank=2,  # `--reference` explains KernelBench's problems first
    names=Names(entries={ENTRY: 3}, references={REFERENCE: 1}, helpers=(INPUTS, TEST, REFERENCE)),
    recognises=recognises,
    poses=poses,
    beside=files_beside,
    folders=folders,
    complete=complete,
    why_not_cuda=why_not_cuda,
    help=f"GPU MODE's reference.py beside its {TASK}",
)
