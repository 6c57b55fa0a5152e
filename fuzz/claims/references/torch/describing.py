"""Describes a torch reference as an op, in a separate process: its inputs, its outputs, and the sizes that they have.

A folder holds question.json; the process leaves answer.json there. The file of the reference runs here, and never in a
process that judges an answer. Long, since each thing that is asked of a reference has a way that takes less time.
"""

import json
import signal
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from kfuzz.claims.references.torch.array_inputs import names_of_sizes
from kfuzz.claims.references.torch.changed_integers import FEW_ELEMENTS
from kfuzz.claims.references.torch.declared import CannotError, Declared, NeverJudgedError
from kfuzz.claims.references.torch.drawn import DrawnInputs
from kfuzz.claims.references.torch.inputs import (
    error_without_numbers,
    sizes_to_run,
    tensors_for,
    ways_to_vary,
    with_fixed,
)
from kfuzz.claims.references.torch.integers import ABSENT, with_limits
from kfuzz.claims.references.torch.odd_numbers import inputs_always_finite
from kfuzz.claims.references.torch.op_file import makers_of, op_file, outputs_of, returned_at, shown
from kfuzz.claims.references.torch.origins import origins_of
from kfuzz.claims.references.torch.reference_answers import does_run, least_sizes
from kfuzz.claims.references.torch.runnable import Runnable, runnable_of
from kfuzz.claims.references.torch.same_numbers import same_numbers
from kfuzz.claims.references.torch.sizes import (
    Dims,
    elements_of,
    length_of,
    sizes_in,
    with_fixed_names,
    with_fixed_sizes,
)
from kfuzz.claims.references.torch.storage import BESIDE_COMPILER
from kfuzz.claims.references.torch.twins.leaves import CHANGED, reused_by
from kfuzz.claims.references.torch.twins.sets import UnstableError
from kfuzz.claims.references.torch.twins.three_runs import Answered, DisagreementError, UnfollowedError
from kfuzz.devices import cache
from kfuzz.devices.python.raising import does_ask_for_gpu, words_of
from kfuzz.devices.python.torch.elements import OF_RETURNED
from kfuzz.oracle.op.shapes import names_in

KEPT = (
    "path", "source", "reference", "inputs", "integers", "narrow", "task", "config", "is_function", "draws_weights",
    "as_on_gpu", "drawn", "given",
)  # fmt: skip
"""What a question says that each further run has to know."""
AS_MADE = "sizes, integers and objects are those of get_inputs, under another seed in each trial"
MOST_TO_RUN = 1 << 20
"""Elements of inputs with which a reference runs in seconds: a transposed convolution makes 16 times as many."""
MOST_OF_ALL = 1 << 24
"""With more a convolution takes longer than all that is asked of it may."""
LARGER = (1, 6, 20, 70)
"""Least sizes at which a reference runs: one with windows does not run at the smallest. Six is enough for windows of 3,
and a convolution in three dimensions with sizes of more than 20 takes a minute.
"""
MOST_SECONDS = 10
"""After so long the sizes of a reference are those that its file has."""
MOST_SECONDS_OF_ALL = 20
"""After so long its integers, too."""
BUSY = 5.0
"""How much longer than the processor's time it may take: the one who asked waits no longer than for a compilation."""
STEPS = (1, 2, 3, 5, 7, 10, 12, 17, 22, 29, 33, 44)
"""How far each size moves alone, in its multiples, so that a size that follows from it is seen: of one after a window
that moves by 32 places, too."""
MOST_TOLD_APART, MOST_TRIED = 64, 16
"""How far a size moves, in its multiples, to tell expressions apart that an output's size may be, and at how many sizes
the reference is tried for it."""
OTHER_SEEDS = (2, 3)
"""Of other values, for which outputs must have the same shapes."""
FEW_STEPS = 4
"""The steps after the first one of a reference that needs its numbers, or that takes many operations."""
WIDE_STEP = 8
"""Of multiples of so many a few steps pass each window."""
MANY_OPERATIONS = 400
"""So many take a tenth of a second without numbers, at each of a hundred sizes."""


def answer_folder(folder: Path) -> None:
    """Answer the question that lies in a folder."""
    asked, before = json.loads((folder / "question.json").read_text(encoding="utf-8")), set(sys.modules)
    answer = described(asked)
    if "error" in answer and does_ask_for_gpu(answer["error"]):
        answer = described({**asked, "as_on_gpu": True})
    answer["imports"] = {str(file): cache.file_digest(file) for file in files_imported(before | BESIDE_COMPILER)}
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")


def files_imported(before: Collection[str]) -> list[Path]:
    """The files of the modules that were not there before, without those of Python and torch."""
    known = {*sys.stdlib_module_names, torch.__name__}
    modules = [one for name, one in sys.modules.items() if name not in before and name.partition(".")[0] not in known]
    files = [Path(getattr(getattr(one, "__spec__", None), "origin", None) or "") for one in modules]
    return [file for file in files if file.is_file()]


def described(asked: Mapping[str, Any], seconds: float = MOST_SECONDS_OF_ALL) -> dict[str, Any]:
    """The answer to a question, or why there is none.

    Whatever stops kfuzz from varying sizes and integers in so many seconds, the inputs can be what get_inputs makes: a
    last way.
    """
    try:
        with limited(seconds):
            known = runnable_of(asked)
            if not (asked["inputs"] or asked["task"]):
                check_integers(known.declared)
                if not asked.get("are_floats_free"):
                    check_floats(known, Path(asked["path"]))
            answer = answer_for(known, asked)
        if answer["runs_at_home"] or asked["inputs"] or asked["task"]:
            return answer
        words, are_bound = "with other integers and numbers it does not run at its own sizes", False
    except (Exception, TooSlowError) as error:  # any error of the user's file, or of torch: reported as it is
        is_own = isinstance(error, CannotError | TooSlowError)
        words = str(error) if is_own else f"the reference cannot be run: {words_of(error)}"
        are_bound = isinstance(error, BoundFloatsError)
        answer = {"error": words}
        is_asked_again = does_ask_for_gpu(words) and not asked.get("as_on_gpu")
        if isinstance(error, NeverJudgedError) or asked["inputs"] or asked["task"] or is_asked_again:
            return answer
    with suppress(Exception):  # as above
        try:
            with limited(MOST_SECONDS_OF_ALL):
                drawn = drawn_answer(asked)
                return {**drawn, "kept": "\n".join(filter(None, [f"{AS_MADE}: {words}", drawn.get("kept")]))}
        except (CannotError, TooSlowError) as last:
            if "error" in answer:
                is_all = isinstance(last, NeverJudgedError) or str(last) == words
                answer = {"error": str(last) if is_all else f"{words}; {last}"}
    return described({**asked, "are_floats_free": True}, seconds) if are_bound else answer


class BoundFloatsError(CannotError):
    """The numbers of a float input follow from others, or have a rule."""


class TooSlowError(BaseException):
    """It takes longer than it may. No `except Exception` of what tries sizes takes it for a size that does not run."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise a TooSlowError after so long, by the processor's time; on a busy machine after some times as much."""

    def end(*_: object) -> None:
        for timer, _limit in limits.values():
            signal.setitimer(timer, 0)
        raise TooSlowError(f"to try its sizes takes more than {seconds:g} s")

    limits = {signal.SIGPROF: (signal.ITIMER_PROF, seconds), signal.SIGALRM: (signal.ITIMER_REAL, BUSY * seconds)}
    before = {which: signal.signal(which, end) for which in limits}
    for timer, limit in limits.values():
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for which, (timer, _) in limits.items():
            signal.setitimer(timer, 0)
            signal.signal(which, before[which])


def drawn_answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The answer where inputs are what get_inputs makes; its floats, too, if the reference takes no others together."""
    known = runnable_of({**asked, "drawn": None})
    if asked.get("is_cuda"):
        return answer_for(known, asked)
    drawn = DrawnInputs.read(known.beside["drawn"])
    try:
        return answer_for(known, {**asked, "drawn": drawn.as_json()})
    except Exception:  # of their code, or of torch
        own = drawn.with_own_numbers.as_json()
        return answer_for(runnable_of({**asked, "drawn": own}), {**asked, "drawn": own})


def answer_for(known: Runnable, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The op's file, with the names of its sizes and the types of its outputs."""
    multiples = known.beside.get("multiples", {})
    asked = {**asked, "axes": {name: (by, 0, by) for name, by in multiples.items()} | asked["axes"]}
    asked["narrow"] = known.beside.get("narrow", asked.get("narrow", ()))
    asked |= {key: known.beside[key] for key in ("given",) if key in known.beside}
    known = with_same_numbers(known, Path(asked["path"]))
    if any(below in ("", ABSENT) for below in known.declared.below.values()):
        found = with_limits(known.call, known.declared, sizes_to_run(known.declared, asked), tensors_for)
        known = replace(known, declared=found)
    ways = iter([known.declared]) if asked["inputs"] else ways_to_vary(known.declared, known.call, multiples)
    return {**known.beside, **first_of(known, asked, islice(ways, 1) if asked["task"] else ways, multiples)}


def with_same_numbers(known: Runnable, path: Path) -> Runnable:
    """The reference with the numbers that are the same in every draw of get_inputs. What they are at other sizes only
    get_inputs knows: those of their arrays are fixed.
    """
    same = same_numbers(known, path)
    names = sizes_in({name: known.declared.dims[name] for name in same})
    return replace(known, declared=known.declared.with_fixed(names), same=same)


def first_of(
    known: Runnable, asked: Mapping[str, Any], ways: Iterator[Declared], multiples: Mapping[str, int]
) -> dict[str, Any]:
    """The first of these ways to vary sizes in which the reference runs; the error is the first one's."""
    first: Exception | None = None
    started = time.process_time()
    for declared, least in ((one, least) for one in ways for least in LARGER):
        is_late = time.process_time() - started > MOST_SECONDS
        tried = with_fixed(declared.with_fixed(declared.sizes) if is_late else declared, asked)
        try:
            return describe(replace(known, declared=tried), asked, least, multiples)
        except NeverJudgedError:
            raise  # not at any size
        except Exception as error:  # any error of torch for such dimensions
            first = first or error
    assert first is not None
    raise first


def describe(known: Runnable, asked: Mapping[str, Any], least: int, multiples: Mapping[str, int]) -> dict[str, Any]:
    """The op of a reference whose inputs have these dimensions, at sizes that are no smaller."""
    declared = known.declared
    steps = {name: asked["axes"].get(name, (1, 0, 1)) for name in sizes_in(declared.dims)}
    wide = {name: (max(low, least * by), high, by) for name, (low, high, by) in steps.items()}
    sizes, larger = sizes_to_run(declared, {**asked, "axes": wide})
    check_sizes(known, sizes)
    if least > LARGER[0]:
        check_is_small(known, sizes)
    free = [name for name in sizes if name not in declared.fixed]
    make = partial(tensors_for, declared)
    fixed = {name: size for name, size in declared.fixed.items() if name in steps}
    bounds = {name: (low, by) for name, (low, _, by) in steps.items()}
    rules = [f"{name} % {by} == 0" for name, by in multiples.items() if name in free]
    means_first, is_long = False, False
    answered = Answered(known.call, list(make(sizes).values()), asked["path"])
    if known.is_module or asked["task"]:  # what it returns is all that a caller wants
        answered.changed = ()
    changed = [int(name[len(CHANGED) : -1]) for name, _ in answered.own if name.startswith(CHANGED)]
    answered.changed = changed
    try:
        is_long = answered.notes.count > MANY_OPERATIONS
        answered.check_repeats()
        means_first = answered.means_first
        if not is_long:  # its sets are those of many runs
            answered.check_agrees()
    except UnstableError:
        pass  # at these numbers
    except (UnfollowedError, DisagreementError):
        answered.is_measured = True
        answered.check_repeats()
    moved = [each for name in free for each in moved_alone(known, sizes, name, steps[name][2], is_long=is_long)]
    home = home_if_small(known, sizes)
    runs_at_home = not home or does_run(known.call, declared, home)
    every = [sizes, larger, *moved, *([home] if home and runs_at_home else [])]
    every = list({tuple(one.items()): one for one in every}.values())
    returned, shapes = outputs_of(known.call, every, make, changed, partial(telling_sizes, known, steps, sizes))
    if not asked["inputs"] and not asked["task"]:
        check_shapes(known, sizes, returned, changed)
    if not asked["inputs"] and not asked.get("where"):
        limits = least_sizes(known.call, declared, sizes, bounds, fixed, shapes)
        rules += [f"{name} >= {limit}" for name, limit in limits.items()]
    if declared.made is not None:
        declared, shapes = with_named_sizes(known, asked["source"], declared, shapes)
        rules += [f"{name} == {size}" for name, size in declared.sizes.items()]
    text = op_file(
        known.call, declared, returned, shapes, asked["title"], rules, means_first,
        makers_of(known.beside.get("made"), known.same),
    )  # fmt: skip
    whole = {
        name: OF_RETURNED[one.dtype].name
        for name, one in returned.items()
        if one.dtype in OF_RETURNED and is_named(one)
    }
    names = {name: [with_fixed_sizes(d, declared.fixed) for d in dims] for name, dims in declared.dims.items()}
    changes = [name for place, name in enumerate(names) if place in changed]
    overwritten, shared = reused_by(known.call, list(make(sizes).values())) if not known.is_module else ((), ())
    return {
        **({"kept": "\n".join(one.words(name) for name, one in known.same.items())} if known.same else {}),
        "formula": text, "runs_at_home": runs_at_home, "inputs": names, "is_module": known.is_module, "types": whole,
        "home": dict(declared.sizes), "dims": dict(declared.dims), "changed": changes,
        "overwrites": [name for place, name in enumerate(names) if place in overwritten and place not in changed],
        "shares": [name for place, name in enumerate(returned) if place in shared],
        "doubles": [name for name, one in returned.items() if one.dtype == torch.float64],
        "numbers": [name for name, one in returned.items() if not one.dim()],
        "sized_init": [with_fixed_names(one, declared.fixed) for one in known.beside.get("sized_init", ())],
        "args": [with_fixed_names(one, declared.fixed) for one in known.beside.get("args", ())],
        "run": {**{key: asked[key] for key in KEPT if key in asked}, "changed": changes,
                "is_measured": answered.is_measured,
                "finite": sorted(inputs_always_finite(known, Path(asked["path"]), sizes))},
    }  # fmt: skip


def with_named_sizes(known: Runnable, source: str, declared: Declared, shapes: Dims) -> tuple[Declared, Dims]:
    """Inputs of one size, and what is returned for them, with names for their sizes."""
    assert known.module is not None, "get_inputs makes them"
    names = names_of_sizes(known.module, source, declared.dims, shapes, declared.below)
    return replace(declared, dims=names.inputs, sizes=names.sizes), names.outputs


def home_if_small(known: Runnable, sizes: Mapping[str, int]) -> dict[str, int]:
    """The problem's own sizes, if it runs there soon: a part of a row may have elements there alone."""
    declared = known.declared
    home = {name: declared.fixed.get(name, declared.sizes.get(name, 0)) for name in sizes}
    is_small = all(home.values()) and elements_of(declared.dims, home) <= MOST_TO_RUN
    return home if is_small else {}


def check_integers(declared: Declared) -> None:
    """Refuse integers that get_inputs makes by rules of its own: offsets, lengths, or rows that differ. A reference
    takes others too, and a right kernel writes out of bounds for them.
    """
    if declared.own:
        raise CannotError(f"what the integers of {' and '.join(declared.own)} may be is known to get_inputs alone")


def check_floats(known: Runnable, path: Path) -> None:
    """Refuse floats that get_inputs computes: a squared norm, shares of a softmax, a matrix that is symmetric, a mask.
    A reference takes others too, for which a right kernel that relies on what they are has other answers.
    """
    make = getattr(known.module, "get_inputs", None)
    if callable(make) and (bound := origins_of(make, path, ("meta", "cpu")).names(known.names)):
        raise BoundFloatsError(f"what the numbers of {' and '.join(bound)} may be is known to get_inputs alone")


def check_shapes(
    known: Runnable, sizes: Mapping[str, int], returned: Mapping[str, torch.Tensor], changed: Collection[int]
) -> None:
    """Refuse outputs that have other shapes for other values of the inputs: their sizes are no sizes of an input."""
    is_small = elements_of(known.declared.dims, sizes) <= FEW_ELEMENTS
    if not is_small and error_without_numbers(known.call, known.declared, sizes) is None:
        return  # the shapes are known without values
    for seed in OTHER_SEEDS:
        try:
            others = returned_at(known.call, tensors_for(known.declared, sizes, seed), sizes, changed)
        except CannotError:  # it may refuse these values
            continue
        if [one.shape for one in others.values()] != [one.shape for one in returned.values()]:
            raise CannotError("the shapes of its outputs depend on the values of its inputs")


def check_is_small(known: Runnable, sizes: Mapping[str, int]) -> None:
    """Refuse sizes at which a reference cannot be run often."""
    elements = elements_of(known.declared.dims, sizes)
    if elements > MOST_OF_ALL or (elements > MOST_TO_RUN and does_need_numbers(known)):
        raise CannotError(f"inputs of {shown(sizes)} are too large to run it often")


def does_need_numbers(known: Runnable) -> bool:
    """Whether a reference runs with numbers alone, at its own sizes."""
    declared = known.declared
    return bool(declared.sizes) and error_without_numbers(known.call, declared, declared.sizes) is not None


def is_named(one: torch.Tensor) -> bool:
    """Whether a claim has to name the type of an output: it is not the one of the arrays, or of a place."""
    return one.dtype not in (torch.float32, torch.float64, torch.int32, torch.bool)


def moved_alone(
    known: Runnable, sizes: Mapping[str, int], name: str, by: int, *, is_long: bool
) -> list[dict[str, int]]:  # fmt: skip
    """The same sizes with another value of one, at which the reference runs; the first step has to."""
    declared = known.declared
    first, *others = ({**sizes, name: sizes[name] + step * by} for step in STEPS)
    others = others[:FEW_STEPS] if is_long or by >= WIDE_STEP else others
    few = [one for one in others if elements_of(declared.dims, one) <= FEW_ELEMENTS]
    if len(few) >= FEW_STEPS:
        return [first, *(one for one in few if does_run(known.call, declared, one))]
    if is_long or error_without_numbers(known.call, declared, sizes) is not None:
        small = (one for one in others[:FEW_STEPS] if elements_of(declared.dims, one) <= MOST_TO_RUN)
        return [first, *(one for one in small if does_run(known.call, declared, one))]
    return [first, *(one for one in others if error_without_numbers(known.call, declared, one) is None)]


def telling_sizes(
    known: Runnable, steps: Mapping[str, tuple[int, int, int]], first: Mapping[str, int], texts: Sequence[str]
) -> dict[str, int] | None:  # fmt: skip
    """Sizes at which some of these expressions differ, and the reference runs; None if there are none near the first.

    (rows - window) // 16 + 1 is (rows - 22) // 15 wherever one of them moves alone from a window of 37 and 41 rows.
    """
    names = sorted(set[str]().union(*map(names_in, texts)) - known.declared.fixed.keys())
    moves = [{name: step} for name in names for step in range(1, MOST_TOLD_APART + 1)]
    moves += [{one: MOST_TOLD_APART, **move} for one in names for move in moves if one not in move]
    made = ({**first, **{name: first[name] + by * steps[name][2] for name, by in move.items()}} for move in moves)
    some = dict.fromkeys(texts)
    apart = [(len({length_of(text, one) for text in some}), place, one) for place, one in enumerate(made)]
    best = sorted((-count, place, one) for count, place, one in apart if count > 1)[:MOST_TRIED]
    return next((one for _, _, one in best if does_run_soon(known, one)), None)


def does_run_soon(known: Runnable, sizes: Mapping[str, int]) -> bool:
    """Whether the reference runs at these sizes, of large ones without numbers."""
    if elements_of(known.declared.dims, sizes) <= FEW_ELEMENTS:
        return does_run(known.call, known.declared, sizes)
    return error_without_numbers(known.call, known.declared, sizes) is None


def check_sizes(known: Runnable, sizes: Mapping[str, int]) -> None:
    """Raise what a copy of the reference raises at these sizes, sooner than its own run does.

    A layer norm behind a transposed convolution took 300 s and 35 GB to say that it takes no images of 79 x 83 places:
    large inputs are tried without numbers first, if the reference runs so at its own sizes.
    """
    declared = known.declared
    if declared.sizes and elements_of(declared.dims, sizes) > MOST_TO_RUN:
        error = error_without_numbers(known.call, declared, sizes)
        if error is not None and error_without_numbers(known.call, declared, declared.sizes) is None:
            raise error
