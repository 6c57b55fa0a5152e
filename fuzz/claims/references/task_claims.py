"""The claim of a submission to a task of GPU MODE: what `generate_input` hands over, with its types and sizes.

Knows claims and what the tracer says of a task; it starts no tracer.
"""

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kfuzz.claims.language.arrays import show_order
from kfuzz.claims.language.axes import Axis
from kfuzz.claims.language.callables import axes_of, in_claims_language, with_arrays
from kfuzz.claims.language.keys import WrittenClaim
from kfuzz.claims.language.roles import roles_of
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import F32, F64
from kfuzz.oracle.numbers.layout import storage_of
from kfuzz.oracle.op.shapes import is_derived
from kfuzz.oracle.words.scaling import TILES


def with_task(claim: WrittenClaim, answer: Mapping[str, Any]) -> WrittenClaim:
    """The claim with what a task hands over: its own types and sizes, and arrays for the answer."""
    known = names_in_trace(answer)
    home, multiples = home_in(answer), {known[name]: size for name, size in answer["multiples"].items()}
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
    claim = with_some_places(claim)
    return replace(claim, axes=axes, call=replace(call, library=call.library or "torch"))


def array_text(element: str, text: str) -> str:
    """An array of this type; of one with several numbers in a word, the last size counts words."""
    storage, after = storage_of(element), text[text.index("[") :]
    per = storage.per if storage else 1
    return f"{element}{after if per == 1 else after.replace(']', f' / {per}]', 1)}"


def with_some_places(claim: WrittenClaim) -> WrittenClaim:
    """The claim with a rule for each size of an answer that may be none, as that after a window: it is 1 or more."""
    op = str(claim.op)
    derived = (d for one in find(op).outputs.values() for d in one.dimensions if is_derived(d) and "-" in d)
    rules = (f"{in_claims_language(d, op, claim.scalars)} >= 1" for d in derived)
    return replace(claim, where=tuple(dict.fromkeys((*claim.where, *rules))))


def names_in_trace(answer: Mapping[str, Any]) -> dict[str, str]:
    """The names of sizes in the formula, by those in the problem; a size that is fixed there is a number."""
    return {
        declared: size
        for name, dims in answer["inputs"].items()
        for declared, size in zip(answer.get("dims", {}).get(name, dims), dims, strict=True)
        if declared.isidentifier()
    }


def home_in(answer: Mapping[str, Any]) -> dict[str, int]:
    """The problem's own sizes, by their names in the formula."""
    known = names_in_trace(answer)
    return {known[name]: size for name, size in answer.get("home", {}).items() if known.get(name, "").isidentifier()}


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
