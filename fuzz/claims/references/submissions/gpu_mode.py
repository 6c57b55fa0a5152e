"""GPU MODE: `custom_kernel(data)` gets what `generate_input(**args, seed)` of a task makes, with the args of task.yml.

task.yml names the files that lie beside a submission when it is tested. Knows its text, and what the tracer says of a
task; it imports no library.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kfuzz.claims.language.arrays import show_order
from kfuzz.claims.language.axes import Axis
from kfuzz.claims.language.callables import axes_of, with_arrays
from kfuzz.claims.language.front_matter import FrontMatter
from kfuzz.claims.language.keys import WrittenClaim
from kfuzz.claims.language.python_text import read_text
from kfuzz.claims.language.reference import Reference
from kfuzz.claims.language.roles import roles_of
from kfuzz.claims.references.described import home_in, multiples_in, names_in_description
from kfuzz.claims.references.format import Format, FormatNames, TracerAnswer
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import F32, F64
from kfuzz.oracle.numbers.layout import storage_of
from kfuzz.oracle.words.scaling import TILES

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


def files(reference: Path) -> tuple[str, ...]:
    """The files that the task of a reference names, if it has one."""
    return tuple(str((reference.parent / name).resolve()) for name in FILE.findall(task_of(reference)))


def complete(front: FrontMatter, claim: WrittenClaim, answer: TracerAnswer) -> WrittenClaim:
    """The claim with what a task hands over."""
    return with_task(claim, answer) if DATA in answer else claim


def with_task(claim: WrittenClaim, answer: TracerAnswer) -> WrittenClaim:
    """The claim with what a task hands over: its own types and sizes, and arrays for the answer."""
    known = names_in_description(answer)
    home, multiples = home_in(answer), multiples_in(answer)
    written = claim.arrays
    if claim.arrays is None:
        own = with_arrays(claim, roles_of(claim.op))
        arrays = dict(own.arrays or {})
        answers = dict(zip(find(claim.op).outputs, map(narrowed, answer["results"]), strict=False))
        elements = answer["elements"] | answers
        arrays = {name: array_text(elements.get(name, F32.name), text) for name, text in arrays.items()}
        tiled = {name: f"{arrays[of]}{show_order(TILES)}" for name, of in answer.get("tiled", {}).items()}
        scratch = {
            name: f"{elements[name]}[{', '.join(rename(d, known).replace('//', '/') for d in dims)}]"
            for name, dims in answer["scratch"].items()
        }
        claim = replace(own, arrays=arrays | tiled | scratch)
    axes = claim.axes or {
        name: Axis(multiples.get(name, axis.lo), axis.hi - axis.hi % multiples.get(name, 1), multiples.get(name, 1))
        for name, axis in axes_of(written, roles_of(claim.op)).items()
    }
    returns = tuple(find(claim.op).outputs)
    data = tuple(rename(text, known) for text in answer["data"])
    call = replace(claim.call, args=claim.call.args or data, returns=returns)
    if call.home is None and axes.keys() <= home.keys():
        call = replace(call, home={name: home[name] for name in axes})
    return replace(claim, axes=axes, call=replace(call, library=call.library or "torch"))


def array_text(element: str, text: str) -> str:
    """An array of this type; of one with several numbers in a word, the last size counts words."""
    storage, after = storage_of(element), text[text.index("[") :]
    per = storage.per if storage else 1
    return f"{element}{after if per == 1 else after.replace(']', f' / {per}]', 1)}"


def narrowed(element: str) -> str:
    """The type of an answer that a reference computes in double to be on the safe side: no kernel has to."""
    return F32.name if element == F64.name else element


def rename(data: str, names: Mapping[str, str]) -> str:
    """The text of a task's data with other names for its sizes, or with the numbers that they are."""
    tree = ast.parse(data, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return ast.unparse(tree)


def why_not_cuda(answer: TracerAnswer) -> str:
    return "a task of GPU MODE hands its data to a Python function, not to CUDA" if DATA in answer else ""


FORMAT = Format(
    title="GPU MODE",
    rank=2,  # `--reference` explains KernelBench's problems first
    names=FormatNames(entries={ENTRY: 3}, references={REFERENCE: 1}, helpers=(INPUTS, TEST, REFERENCE)),
    recognises=recognises,
    poses=poses,
    beside=files_beside,
    folders=folders,
    files=files,
    complete=complete,
    why_not_cuda=why_not_cuda,
    help=f"GPU MODE's reference.py beside its {TASK}",
)
