"""KernelBench: `class ModelNew` does what `class Model` of the problem does, with the same `get_inputs()`.

`get_init_inputs()` says what objects of both are made with.

Knows the names in such a file; it imports no library.
"""

from dataclasses import replace
from pathlib import Path

from kfuzz.claims.language.front_matter import FrontMatter
from kfuzz.claims.language.keys import WrittenClaim
from kfuzz.claims.language.python_text import read_text
from kfuzz.claims.language.reference import Reference
from kfuzz.claims.references.format import Format, FormatNames, TracerAnswer

SUBMISSION, PROBLEM = "ModelNew", "Model"
INPUTS, INIT = "get_inputs", "get_init_inputs"


def recognises(path: Path, text: str) -> bool:
    """Whether a file has a class of a submission."""
    known = read_text(text)
    return SUBMISSION in (*known.functions, *known.objects, *known.assigned)


def poses(reference: Reference) -> bool:
    """Whether a reference is a model with its inputs."""
    return reference.name == PROBLEM and read_text(reference.source).names >= {INPUTS, INIT}


def complete(front: FrontMatter, claim: WrittenClaim, answer: TracerAnswer) -> WrittenClaim:
    """The claim with what the problem makes its model with, if the submission does not say it, or if sizes are in it:
    as in the benchmark, a model for other sizes is made with what these are there.
    """
    if claim.call.init is not None or "init" not in answer:
        return claim
    has_sizes = answer["init"] != answer["sized_init"]
    if INIT in read_text(front.source).names and not has_sizes:
        return claim
    return replace(claim, call=replace(claim.call, init=tuple(answer["sized_init" if has_sizes else "init"])))


FORMAT = Format(
    title="KernelBench",
    rank=1,  # a task of robust-kbench has a Model, too
    names=FormatNames(
        entries={SUBMISSION: 1, PROBLEM: 5}, references={PROBLEM: 2}, helpers=(INPUTS, INIT), objects=PROBLEM
    ),
    recognises=recognises,
    poses=poses,
    compares_shapes=True,
    complete=complete,
    help="KernelBench's",
)
