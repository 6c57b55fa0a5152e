"""The sets of a reference that kfuzz runs, for the numbers of one case.

A process of its own, which stays up, runs the reference with a set beside each number. Knows files and processes; torch
is not imported.
"""

import functools
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.common import serving
from kfuzz.common.errors import OutOfTimeError
from kfuzz.devices import cache
from kfuzz.oracle.diagnosis.formulas import describe_elements
from kfuzz.oracle.diagnosis.mutated import MOST_ELEMENTS, WrongAnswer
from kfuzz.oracle.numbers.elements import BY_DTYPE, NARROW, Element, values
from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure, Index, Mask
from kfuzz.oracle.numbers.errors import NothingRightError, OracleError
from kfuzz.oracle.numbers.label import Diagnosis
from kfuzz.oracle.op.answer_sets import AnswerSet, Asked
from kfuzz.oracle.sets.reference_sets import ReferenceSet, SoughtPlaces
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

SERVER = "kfuzz.claims.references.torch.reference_server"
QUESTION = ".run.json"
"""The ending of the file beside an op's that says how to run its reference."""
DRAW = "draw"
"""In a question: the draw whose arrays are wanted."""
KEPT = 4
MIX = 0x9E3779B1
"""Of nearly equal bits it makes draws that differ."""
PARTS = ("x", "proved", "loosest")
SOUGHT = ("among", "among_radius", "row", "wanted", "wanted_radius", "element")
ArraysOfSets = Mapping[str, NDArray[Any]]
FrozenArrays = tuple[tuple[str, tuple[int, ...], str, bytes], ...]


class ReferenceEndsError(NothingRightError):
    """The reference raises at these numbers: no answer to them is right or wrong."""


def sets_at(file: str, asked: Asked) -> dict[str, AnswerSet]:
    """The right answers of each output for the numbers of a case: any, where the reference itself raises."""
    stored = asked.stored
    kernel, operands = narrowest(stored.values()), narrowest((*stored.values(), *asked.given.values()))
    try:
        every = sets_of_run(file, frozen(asked.inputs), kernel, operands, asked.accuracy.operand or "")
    except ReferenceEndsError:
        if not asked.written:
            raise
        every = {name: open_set(np.shape(one)) for name, one in asked.written.items()}
    for name, one in every.items():
        shape = np.shape(asked.written.get(name, one.x))
        if shape != one.x.shape:
            raise OracleError(f"the reference's {name} has the shape {list(one.x.shape)}, and not {list(shape)}")
    any_place, special = asked.special.ties == "any", asked.special
    if special.nan or special.pos_inf or special.all_neg_inf:  # the claim speaks of infinities
        every = {name: replace(one, is_odd=None) for name, one in every.items()}
    every = {name: one.with_odd_nans(asked.written.get(name)) for name, one in every.items()}
    every = {name: one.with_any_of_equal_places if any_place else one for name, one in every.items()}
    return {name: AnswerSet(one.enclosure(stored.get(name))) for name, one in every.items()}


def narrowest(every: Collection[Element]) -> str:
    """The narrowest type of 16 bits among some, if there is any."""
    halves = (one for one in every if one.name in NARROW and not one.is_narrow)
    found = max(halves, key=lambda one: one.u, default=None)
    return found.name if found is not None else ""


def open_set(shape: tuple[int, ...]) -> ReferenceSet:
    """A set in which anything lies."""
    return ReferenceSet(np.zeros(shape), np.full(shape, np.inf), np.full(shape, np.inf))


def exact_at(file: str, N: Exact, given: Mapping[str, Any]) -> dict[str, Quantity]:
    """The exact outputs for the numbers of a case."""
    numbers = {name: np.asarray(one.x if isinstance(one, Quantity) else one) for name, one in given.items()}
    every = sets_of_run(file, frozen(numbers), None, "")
    return {name: N.value(one.x) for name, one in every.items()}


def diagnosis_at(
    file: str, inputs: ArraysOfSets, output: str, got: Doubles, enclosure: Enclosure, wrong: Mask, worst: Index
) -> Diagnosis:
    """The lines of the reference whose change explains an answer, or what its wrong elements look like."""
    if got.size <= MOST_ELEMENTS:
        answer = WrongAnswer(got, enclosure.want, enclosure.lo, enclosure.hi, enclosure.judged, wrong)
        numbers = {name: one if is_whole(one) else values(one) for name, one in inputs.items()}
        asked = asked_at(file, frozen(numbers), explain=output, **answer._asdict())
        with suppress(OracleError, OutOfTimeError), asked as folder:
            words = json.loads((folder / "words.json").read_text(encoding="utf-8"))
            if words:
                return Diagnosis(words[0].partition(" ")[2], f"explained by: {', or '.join(words)}")
    return describe_elements(got, enclosure, wrong, worst)


def is_whole(one: NDArray[Any]) -> bool:
    """Whether an array has integers or truths."""
    element = BY_DTYPE.get(one.dtype)
    return element is None or (element.is_native and not element.is_float)


def frozen(arrays: ArraysOfSets) -> FrozenArrays:
    """ArraysOfSets as a key."""
    return tuple((name, one.shape, one.dtype.str, np.ascontiguousarray(one).tobytes()) for name, one in arrays.items())


@functools.lru_cache(maxsize=KEPT)
def sets_of_run(
    file: str, inputs: FrozenArrays, kernel: str | None, operands: str, multiplied: str = ""
) -> Mapping[str, ReferenceSet]:
    """The set of each output; `kernel`: the type of 16 bits in which the kernel answers, if any, None without a kernel;
    `operands`: in which it has its inputs, or answers. `multiplied`: in which tensor cores of its take their operands,
    if that decides how they round.
    """
    with (
        asked_at(file, inputs, kernel, operands, multiplied=multiplied) as folder,
        np.load(folder / "sets.npz") as held,
    ):
        return {name: read_set(name, held) for name in map(str, held["names"])}


@contextmanager
def asked_at(
    file: str,
    inputs: FrozenArrays,
    kernel: str | None = "",
    operands: str = "",
    explain: str = "",
    multiplied: str = "",
    **answer: NDArray[Any],
) -> Iterator[Path]:
    """A folder with what the process answers: the sets, or what explains an answer."""
    question = Path(file).with_suffix(QUESTION).read_text(encoding="utf-8")
    arrays = {name: np.frombuffer(raw, dtype=kind).reshape(shape) for name, shape, kind, raw in inputs}
    asked = {**json.loads(question), "kernel": kernel, "operands": operands, "explain": explain}
    asked |= {"multiplied": multiplied} if multiplied else {}
    with asked_process(asked, arrays, answer) as folder:
        yield folder


@functools.lru_cache(maxsize=KEPT)
def inputs_always_finite(file: str) -> tuple[str, ...]:
    """The inputs in which the problem's get_inputs makes no infinity and no NaN."""
    return tuple(json.loads(Path(file).with_suffix(QUESTION).read_text(encoding="utf-8")).get("finite", ()))


def inputs_at(file: str, given: ArraysOfSets, made: Mapping[str, Any]) -> ArraysOfSets:
    """The arrays of a case's draw that get_inputs makes: all but those that kfuzz draws, which it makes in every other
    draw only.
    """
    draw = draw_in(given[made["holder"]], made["most"])
    arrays = arrays_of_draw(file, draw)
    free = made["free"] if draw % made["per_seed"] else ()
    return {name: one for name, one in arrays.items() if name not in free}


def draw_in(holder: NDArray[Any], most: int) -> int:
    """The number of the draw that an array of a case holds: its first integer, or the bits of its first number."""
    first = values(holder.reshape(-1)[:1]).astype(np.float32)
    number = float(first[0])
    if number.is_integer():
        return int(abs(number)) % most
    return (int(first.view(np.uint32)[0]) * MIX >> 16) % most


@functools.lru_cache(maxsize=KEPT)
def arrays_of_draw(file: str, draw: int) -> ArraysOfSets:
    """What get_inputs makes under a draw, by the names of the op's inputs."""
    question = Path(file).with_suffix(QUESTION).read_text(encoding="utf-8")
    with asked_process({**json.loads(question), DRAW: draw}, {}, {}) as folder, np.load(folder / "made.npz") as held:
        made = {name: held[name] for name in held.files}
    for one in made.values():
        one.flags.writeable = False
    return made


def reused_at(file: str, given: ArraysOfSets) -> tuple[list[str], list[str]]:
    """The inputs that the reference changes for the numbers of a case, and the outputs that it returns in their memory:
    none if it cannot be run.
    """
    question = json.loads(Path(file).with_suffix(QUESTION).read_text(encoding="utf-8"))
    asked = {**question, "kernel": "", "operands": "", "explain": "", "reused": True}
    with suppress(OracleError, OutOfTimeError), asked_process(asked, given, {}) as folder:
        changed, shared = json.loads((folder / "reused.json").read_text(encoding="utf-8"))
        return changed, shared
    return [], []


def steps_of(question: Mapping[str, object]) -> list[dict[str, Any]]:
    """The steps of one run of a reference at its own inputs, as `torch.twins.steps` has them."""
    with asked_process({**question, "steps": True}, {}, {}) as folder:
        made: list[dict[str, Any]] = json.loads((folder / "steps.json").read_text(encoding="utf-8"))
        return made


@contextmanager
def asked_process(asked: Mapping[str, object], arrays: ArraysOfSets, answer: ArraysOfSets) -> Iterator[Path]:
    """A folder in which the process has answered."""
    with cache.scratch() as folder:
        (folder / "run.json").write_text(json.dumps(asked), encoding="utf-8")
        np.savez(folder / "inputs.npz", **arrays)  # type: ignore[arg-type]  # numpy's stubs know no such dict
        if answer:
            np.savez(folder / "answer.npz", **answer)  # type: ignore[arg-type]  # as above
        try:
            serving.ask(SERVER, folder)
        except serving.TimeOverError as error:
            raise OutOfTimeError(f"not judged: the reference was still running: {error}") from None
        except serving.NoAnswerError as error:
            raise OracleError(f"the process that runs the reference: {error}") from None
        for name, error_type in (("error.txt", OracleError), ("raised.txt", ReferenceEndsError)):
            if (folder / name).is_file():
                raise error_type((folder / name).read_text(encoding="utf-8"))
        yield folder


def arrays_of_set(name: str, one: ReferenceSet) -> dict[str, NDArray[Any]]:
    """A set as arrays, by their names in a file."""
    made = {f"{part} {name}": np.atleast_1d(getattr(one, part)) for part in PARTS}
    if one.places is not None:
        made |= {f"{part} {name}": np.atleast_1d(getattr(one.places, part)) for part in SOUGHT}
        made[f"how {name}"] = np.asarray([one.places.is_once, one.places.is_first])
    if one.forms:
        made[f"forms {name}"] = np.asarray(one.forms)
    if one.shares is not None:
        made |= {f"axis {name}": np.asarray(one.shares[0]), f"missing {name}": one.shares[1]}
    if one.is_odd is not None:
        made[f"odd {name}"] = np.atleast_1d(one.is_odd)
    return {**made, f"truth {name}": np.asarray([one.is_truth, one.may_be_nan])}


def read_set(name: str, held: ArraysOfSets) -> ReferenceSet:
    """The set that lies in a file."""
    places = None
    if f"how {name}" in held:
        among, radius, row, wanted, its_radius, element = (held[f"{part} {name}"] for part in SOUGHT)
        places = SoughtPlaces(among, radius, row, wanted, its_radius, element, *map(bool, held[f"how {name}"]))
    x, proved, loosest = (held[f"{part} {name}"] for part in PARTS)
    is_truth, may_be_nan = map(bool, held[f"truth {name}"])
    forms = tuple((own, r) for own, r in held[f"forms {name}"]) if f"forms {name}" in held else ()
    shares = (int(held[f"axis {name}"]), held[f"missing {name}"]) if f"axis {name}" in held else None
    is_odd = held.get(f"odd {name}")
    return ReferenceSet(x, proved, loosest, places, is_truth, may_be_nan, shares, forms, is_odd)
