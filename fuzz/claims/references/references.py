"""`op = "reference"`: the op of a torch reference, which a separate process describes.

The op's file says which arrays it has, and asks another process for the sets of each case. `resolve` is the only step
of reading a claim that starts a process or uses the cache. Knows files and processes; torch is not imported.
Long, since what is asked, kept and read again is one question.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from kfuzz.claims.language.axes import Axis
from kfuzz.claims.language.callables import ANY_SIZE, axes_of, read_entry, rules_of_places, with_arrays
from kfuzz.claims.language.front_matter import FrontMatter
from kfuzz.claims.language.keys import WrittenCall, WrittenClaim
from kfuzz.claims.language.languages import language_of
from kfuzz.claims.language.loaded import UsedLibraries, has_unknown, used_libraries
from kfuzz.claims.language.python_text import read_text
from kfuzz.claims.language.reference import OP, Reference
from kfuzz.claims.language.roles import roles_of
from kfuzz.claims.references import running
from kfuzz.claims.references.described import home_in, multiples_in
from kfuzz.claims.references.formats import formats, is_object, read_submission, texts_beside
from kfuzz.claims.references.reference_files import name_of_reference, reference_of
from kfuzz.common import serving
from kfuzz.common.phases import Phase, Stage, announce
from kfuzz.common.printable import shown_path
from kfuzz.devices import ClaimError, cache, is_literal
from kfuzz.devices.python import torch as torch_device
from kfuzz.devices.python.init_values import names_of_sizes
from kfuzz.devices.python.installed import installed_release
from kfuzz.devices.python.libraries import libraries, libraries_used_by
from kfuzz.oracle.numbers.elements import BOOL, I32, I64, NARROW, U8
from kfuzz.oracle.op.backward import GRADIENT, PREFIX
from kfuzz.oracle.op.shapes import is_derived, longer_by, read_dimension
from kfuzz.oracle.op.spelling import name_in

CHANGED = "_out"
"""The ending of the role of an input that is also an output."""
FOLDER = "references"
FRAME = "frame #"
"""How a line of torch's C++ stack begins, which follows the words of an error."""
MADE_FROM = ".reference.json"
"""The ending of the file beside a formula that says which reference it was made from, for CUDA: it has no [call]."""
INPUT = re.compile(r"\s*(?P<element>\w+)\s*\[(?P<dims>[^\]]*)\]\s*->\s*(?P<role>\w+)")
ARRAY = re.compile(r"\s*(?P<element>\w+)\s*\[")
REFUSED: dict[tuple[str, int], bytes] = {}
"""The refusals in this process, by the question and the time of the reference's folder: many submissions ask once. The
next process asks again, since what was missing may be there.
"""
NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
WHOLE = {I32.name: "", I64.name: "", BOOL.name: "bool", U8.name: "bool"}
"""The types of integers and truths, with what an array holds if the claim does not say; nothing: kfuzz looks."""


def resolve(front: FrontMatter, claim: WrittenClaim) -> WrittenClaim:
    """The claim with what the files around it say: its functions, its libraries, and the formula of its reference."""
    if not front.language.names_reference:
        return replace(claim, reference=reference_behind(front.path, claim.op or ""))
    claim = with_reference(front, replace(claim, text=read_submission(front.source)))
    return replace(claim, libraries=libraries_of(front, claim.reference))


def libraries_of(front: FrontMatter, reference: Reference | None) -> UsedLibraries:
    """The libraries of a file; those of its reference, if it imports none: `return x.abs()` takes any arrays. Where it
    takes torch's arrays, too, it gets those that its reference gets.
    """
    packages = read_text(front.source).packages
    if reference is None or has_unknown(packages) or libraries_used_by(packages):
        used = used_libraries(front.path, front.source)
        if reference is None or not libraries()[used.arrays].takes_torch:
            return used
        return replace(used, arrays=used_libraries(reference.path, reference.source).arrays)
    return used_libraries(reference.path, reference.source)


def with_reference(front: FrontMatter, claim: WrittenClaim) -> WrittenClaim:
    """The claim with its reference, and with the op made from it."""
    if claim.op not in (OP, PREFIX + OP):
        return claim
    reference = reference_of(front, claim.call.reference)
    formula, answer = formula_for(front, claim, reference)
    if claim.op != OP:
        return replace(claim, op=PREFIX + str(formula), reference=reference)
    overwrites, shares, doubles = (tuple(answer[name]) for name in ("overwrites", "shares", "doubles"))
    is_strict = any(one.compares_shapes for one in formats() if one.title == reference.format)
    numbers = tuple(answer["numbers"]) if is_strict else None
    reference = replace(
        reference, overwrites=overwrites, shares=shares, doubles=doubles, numbers=numbers, kept=answer.get("kept", ""),
        server=running.SERVER, question=json.dumps(answer["run"]),
    )  # fmt: skip
    claim = replace(claim, op=str(formula), reference=reference)
    for one in formats():
        claim = one.complete(front, claim, answer)
    claim = with_changed(with_whole(claim, {**answer.get("whole", {}), **answer["types"]}), answer["changed"])
    claim = with_home(with_some_places(claim), home_in(answer), multiples_in(answer))
    if claim.call.home is None and names_of_sizes(claim.call.init or ()):
        claim = replace(claim, call=replace(claim.call, init=tuple(answer["init"])))
    return with_args(claim, answer)


@dataclass(frozen=True)
class ReferenceOp:
    """The op of a reference, as the file of a formula, and the shape of its problem.

    `exported`: the name by which a benchmark calls a submission, if it is known. `given`: the literals of the arguments
    that are no tensors, in their order; None for a tensor. `numbers`: those that are numbers, by their names.
    """

    op: str
    home: Mapping[str, int]
    exported: str
    given: tuple[str | None, ...]
    numbers: Mapping[str, str]


def op_by_reference(path: Path, source: str, file: Path) -> ReferenceOp:
    """The op of a reference for a CUDA file without a claim."""
    front = FrontMatter(path, source, "", 1, "", {"op": OP}, language_of(path), f"--reference {shown_path(file)}")
    call = WrittenCall(reference=name_of_reference(file))
    reference = reference_of(front, call.reference)
    formula, answer = formula_for(front, WrittenClaim(op=OP, call=call), reference)
    if reason := next(filter(None, (one.why_not_cuda(answer) for one in formats())), ""):
        raise ClaimError(f"{shown_path(path)}: {reason}")
    record = {**asdict(reference), "path": str(reference.path.resolve()), "kept": answer.get("kept", "")}
    cache.save(f"{FOLDER}/{formula.parent.name}/{formula.stem}{MADE_FROM}", json.dumps(record).encode())
    return ReferenceOp(str(formula), home_in(answer), answer.get("exported", ""), given_in(answer), numbers_in(answer))


def given_in(answer: Mapping[str, Any]) -> tuple[str | None, ...]:
    """For each argument the literal of a number, or None for a tensor; nothing if all are tensors."""
    return tuple(one if is_literal(one) else None for one in answer.get("args", ()))


def numbers_in(answer: Mapping[str, Any]) -> dict[str, str]:
    """The numbers that get_inputs hands over, by the names of the parameters that take them."""
    pairs = zip(answer.get("parameters", ()), answer.get("args", ()), strict=False)
    return {name: text for name, text in pairs if NUMBER.fullmatch(text)}


def reference_behind(path: Path, op: str) -> Reference | None:
    """The reference of a claim in CUDA, which names the file of the formula that was made from it."""
    formula = Path(os.path.normpath(path.resolve().parent / name_in(op)))
    if os.sep not in op or not formula.is_relative_to(cache.folder() / FOLDER):
        return None
    raw = cache.fetch(str(formula.with_suffix(MADE_FROM).relative_to(cache.folder())))
    known = None if raw is None else json.loads(raw)
    lists = {name: tuple(one) for name, one in (known or {}).items() if isinstance(one, list)}
    return known and Reference(**{**known, **lists, "path": Path(known["path"])})


def formula_for(front: FrontMatter, claim: WrittenClaim, reference: Reference) -> tuple[Path, dict[str, Any]]:
    """The op of a claim's reference, described or from the cache, and what else the process says of it."""
    question = question_for(front, claim, reference)
    torch = installed_release(libraries()["torch"])
    key = cache.key("reference 7", describer_text(), torch, json.dumps(question, sort_keys=True))
    refused = (key, reference.path.resolve().parent.stat().st_mtime_ns)
    raw = cache.fetch(f"{FOLDER}/{key}.json") or REFUSED.get(refused)
    answer = None if raw is None else json.loads(raw)
    if answer is None or not has_same_imports(answer):
        raw = described(front, question)
        answer = json.loads(raw)
        if "error" in answer:
            REFUSED[refused] = raw
        else:
            cache.save(f"{FOLDER}/{key}.json", raw)
    if "error" in answer:
        raise front.error(("op",), f"{reference.name} in {shown_path(reference.path)}: {answer['error']}")
    return write_formula(front, answer), answer


def has_same_imports(answer: Mapping[str, Any]) -> bool:
    """Whether the files that a reference imported are as they were when it was described."""
    with suppress(OSError):
        return all(cache.file_digest(Path(file)) == digest for file, digest in answer["imports"].items())
    return False


def with_home(claim: WrittenClaim, home: Mapping[str, int], multiples: Mapping[str, int]) -> WrittenClaim:
    """The claim with the sizes of its problem as the shape that the function was written for, however large."""
    if claim.call.home is not None or claim.axes is not None or not home:
        return claim
    axes = axes_of(claim.arrays, roles_of(claim.op))
    if axes.keys() != home.keys():
        return claim
    axes |= {name: Axis(by, ANY_SIZE.hi - ANY_SIZE.hi % by, by) for name, by in multiples.items() if name in axes}
    wide = {name: replace(axis, hi=max(axis.hi, home[name])) for name, axis in axes.items()}
    of_object = names_of_sizes(claim.call.init or ())  # weights grow with their product
    wide |= {name: replace(axes[name], hi=home[name]) for name in of_object if name in axes}
    own = {name: home[name] for name in axes}
    return replace(claim, axes=wide, call=replace(claim.call, home=own))


def with_some_places(claim: WrittenClaim) -> WrittenClaim:
    """The claim with a rule for each size of an answer that may be none."""
    rules = rules_of_places(str(claim.op), claim.scalars)
    return replace(claim, where=tuple(dict.fromkeys((*claim.where, *rules))))


def with_args(claim: WrittenClaim, answer: Mapping[str, Any]) -> WrittenClaim:
    """The claim with what get_inputs hands over, if that is more than its tensors in their order."""
    if claim.call.args is not None or claim.call.given is not None or not answer.get("args"):
        return claim
    return replace(claim, call=replace(claim.call, args=tuple(answer["args"])))


def with_whole(claim: WrittenClaim, whole: Mapping[str, str]) -> WrittenClaim:
    """The claim with integers of the types that get_inputs makes, and that the reference returns.

    torch takes few others for a class or a place.
    """
    if claim.arrays is not None or not whole:
        return claim
    own = with_arrays(claim, roles_of(claim.op))
    arrays = {
        name: f"{whole[name]}{text[text.index('[') :]}" if name in whole else text
        for name, text in (own.arrays or {}).items()
    }
    return replace(own, arrays=arrays)


def with_changed(claim: WrittenClaim, changed: Sequence[str]) -> WrittenClaim:
    """The claim with the inputs that a reference changes as outputs in place."""
    if (claim.arrays is not None and set(changed) - claim.arrays.keys()) or not changed:
        return claim
    own = with_arrays(claim, roles_of(claim.op))
    every = dict(own.arrays or {})
    for name in changed:
        if every.pop(f"{name}{CHANGED}", None) is not None:
            every[name] = f"{every[name]} <- {name}{CHANGED}"
    return replace(own, arrays=every)


def question_for(front: FrontMatter, claim: WrittenClaim, reference: Reference) -> dict[str, object]:
    """The question to the process: the file, and the shapes of the inputs if the claim has some."""
    inputs, integers = dict[str, list[str]](), dict[str, str]()
    for text in (claim.arrays or {}).values():
        array = INPUT.match(text)
        if array and not (claim.op != OP and array["role"].startswith(GRADIENT)):
            inputs[array["role"]] = [read_dimension(size) for size in array["dims"].split(",") if size.strip()]
            if array["element"] in WHOLE:
                integers[array["role"]] = claim.call.integers.get(array["role"], WHOLE[array["element"]])
    if wrong := [d for dims in inputs.values() for d in dims if is_derived(d) and not longer_by(d)]:
        raise front.error(("arrays",), f"a size of a reference's input is a name, a number or n + 1, not {wrong[0]}")
    if unknown := claim.call.integers.keys() - integers.keys():
        raise front.error(("call", "integers"), f"{min(unknown)} is no input of integers")
    is_object_alone = claim.arrays is None and calls_object(front, claim)
    says_sizes = claim.axes is not None or claim.call.home is not None or claim.call.init is not None
    return {
        **texts_beside(reference.path), "is_function": not calls_object(front, claim),
        "is_cuda": not language_of(front.path).names_reference,
        "path": str(reference.path.resolve()), "source": reference.source, "reference": reference.name,
        "inputs": inputs, "integers": integers, "narrow": narrow_types(claim),
        "where": [rule.replace("/", "//") for rule in claim.where],
        "title": f"{reference.name} of {reference.path.name}",
        "draws_weights": is_object_alone, "is_remade": is_object_alone and not says_sizes,
        "axes": {name: (axis.lo, axis.hi, axis.multiple) for name, axis in (claim.axes or {}).items()},
    }  # fmt: skip


def calls_object(front: FrontMatter, claim: WrittenClaim) -> bool:
    """Whether what is called is an object, whose weights kfuzz may draw."""
    if not language_of(front.path).names_reference:
        return False
    text = read_submission(front.source)
    if not any(map(is_object, text.functions)):
        return False
    entry = read_entry(front, claim.call.entry, text)
    return is_object(entry) and entry in text.functions


def describer_text() -> str:
    """The texts, besides the reference's own, on which the op depends."""
    folders = Path(__file__).parent / "torch", Path(torch_device.__file__).parent
    files = sorted(file for folder in folders for file in folder.rglob("*.py"))
    return "".join(path.read_text(encoding="utf-8") for path in files)


def last_words(printed: str) -> str:
    """The last line of what a process has printed before it ended, but for torch's C++ stack."""
    said = (one for one in reversed(printed.strip().splitlines()) if one and not one.startswith(FRAME))
    return next(said, "it ended")[:200]


def described(front: FrontMatter, question: Mapping[str, object]) -> bytes:
    """The answer of the process, as cached; ClaimError without torch."""
    announce(Phase(Stage.DESCRIBING, front.path.name))
    with cache.scratch() as folder:
        (folder / "question.json").write_text(json.dumps(question), encoding="utf-8")
        try:
            serving.ask(running.SERVER, folder)
        except serving.NoAnswerError as error:
            missing = "; pip install torch" if "No module named 'torch'" in str(error) else ""
            raise front.error(("op",), f"the reference cannot be run: {str(error)[:200]}{missing}") from None
        if not (folder / "answer.json").is_file():
            said = last_words((folder / "errors.txt").read_text(errors="replace"))
            raise front.error(("op",), f"the reference cannot be run: {said}")
        return (folder / "answer.json").read_bytes()


def write_formula(front: FrontMatter, answer: Mapping[str, str]) -> Path:
    """The op as a file named by its content, so an edit of the kernel beside the reference does not change it."""
    text, run = answer["formula"], json.dumps(answer["run"])
    folder = cache.folder() / FOLDER / cache.key(text, run)[:12]
    path = folder / f"{front.path.stem.partition(':')[0]}.py"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(running.QUESTION).write_text(run, encoding="utf-8")
        path.with_suffix(f".{os.getpid()}").write_text(text, encoding="utf-8")
        path.with_suffix(f".{os.getpid()}").replace(path)
    return path


def narrow_types(claim: WrittenClaim) -> list[str]:
    """The types of its arrays that are narrower than float32."""
    elements = {array["element"] for text in (claim.arrays or {}).values() if (array := ARRAY.match(text))}
    return sorted(elements & NARROW.keys())
