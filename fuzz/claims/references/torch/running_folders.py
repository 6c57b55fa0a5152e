"""Runs references for the processes that judge: answers the folders that `reference_server` is asked to run.

A folder has run.json and inputs.npz. It gets sets.npz, or words.json if answer.npz asks what explains it, or what
get_inputs makes for an answer, or made.npz with the arrays that it makes for a kernel; error.txt, or raised.txt if the
reference raises. The references' files run here, and never in a process that judges.
"""

import functools
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kfuzz.claims.references.running import DRAW, arrays_of_set
from kfuzz.claims.references.torch.array_inputs import arrays_at
from kfuzz.claims.references.torch.declared import CannotError
from kfuzz.claims.references.torch.drawn import draws_of
from kfuzz.claims.references.torch.inputs import in_declared_types, tensors_for
from kfuzz.claims.references.torch.runnable import Runnable, runnable_of
from kfuzz.claims.references.torch.sizes import BOOLEAN, sizes_in
from kfuzz.claims.references.torch.twins.as_arrays import reference_sets
from kfuzz.claims.references.torch.twins.changed import Explaining
from kfuzz.claims.references.torch.twins.leaves import leaves, named_outputs, reused_by
from kfuzz.claims.references.torch.twins.odd_inputs import are_finite
from kfuzz.claims.references.torch.twins.steps import steps_of
from kfuzz.claims.references.torch.twins.three_runs import Answered
from kfuzz.devices.python.making import DATA, DRAWS, KEEPS_OUT, NO_DATA, RAISED
from kfuzz.devices.python.raising import words_of
from kfuzz.devices.python.torch.drawn_inputs import inputs_of_draw
from kfuzz.devices.python.torch.elements import TYPES
from kfuzz.devices.python.torch.handed_inputs import NoDataError, pack_inputs
from kfuzz.oracle.diagnosis.mutated import WrongAnswer
from kfuzz.oracle.numbers.elements import E4M3, ELEMENTS, NARROW, TF32
from kfuzz.oracle.op.backward import DERIVATIVE


def answer_run(folder: Path) -> None:
    """Run a reference on the numbers that lie in a folder: for their sets, or to explain an answer."""
    asked = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    kernel, operands, explain = (asked.pop(name, "") for name in ("kernel", "operands", "explain"))
    try:
        if asked.pop("steps", False):
            save_steps(folder, asked)
            return
        if (draw := asked.pop(DRAW, None)) is not None:
            save_arrays(folder, known_reference(json.dumps(asked)), asked["path"], draw)
            return
        if draws := asked.pop(DRAWS, ()):
            keeps_out = asked.pop(KEEPS_OUT)
            save_inputs(folder, known_reference(json.dumps(asked)), asked["path"], draws, keeps_out=keeps_out)
            return
        narrow, of_operands = (TYPES[NARROW[one]] if one else None for one in (kernel, operands))
        is_of_reuse, multiplied = asked.pop("reused", False), asked.pop("multiplied", "")
        answered = answered_in(folder, asked, narrow, of_operands, is_exact=kernel is not None, multiplied=multiplied)
        if is_of_reuse:
            save_reused(folder, answered)
        elif explain:
            explain_answer(folder, answered, explain)
        else:
            save_sets(folder, answered, of_values=kernel is None)
    except CannotError as error:
        (folder / "error.txt").write_text(str(error), encoding="utf-8")
    except Exception as error:  # any error of the user's file at these sizes: reported as it is
        (folder / "raised.txt").write_text(f"the reference ends with {words_of(error)}", encoding="utf-8")


@dataclass(frozen=True)
class AskedRun:
    """A reference at the inputs of a case. `names`: those of its inputs. `is_gradient`: it computes gradients.

    `sizes`: the names of the inputs' sizes. `finite`: the inputs of which only finite numbers are promised.
    """

    answered: Answered
    names: Sequence[str]
    is_gradient: bool
    sizes: Collection[str] = ()
    finite: Collection[str] = ()

    @property
    def outputs(self) -> list[str]:
        return named_outputs([name for name, _ in self.answered.own], self.names, self.sizes)


def answered_in(
    folder: Path, asked: Mapping[str, Any], narrow: torch.dtype | None, operands: torch.dtype | None, *, is_exact: bool,
    multiplied: str,
) -> AskedRun:  # fmt: skip
    """The reference and the inputs that lie in a folder: in the kernel's type, if it answers in 16 bits.

    `is_exact`: the inputs are those of a kernel, which may have another type than the reference's. `multiplied`: the
    type in which its tensor cores take operands, if that decides how they round.
    """
    known = known_reference(json.dumps(asked))
    with np.load(folder / "inputs.npz") as held:
        numbers = {name: torch.from_numpy(held[name]) for name in held.files}
    given = as_given(known, {name: numbers.pop(name) for name in known.names}, is_exact=is_exact)
    if narrow is not None and does_take(known, narrower := in_kernels_type(given, narrow)):
        given = narrower
    upstream = [one.float() for one in numbers.values()]
    call = partial(gradients, known, list(given)) if upstream else known.call
    changed = [list(given).index(name) for name in asked.get("changed", ())] if not upstream else ()
    if operands is None and known.halves:
        operands = TYPES[NARROW[known.halves]]
    every, is_measured = [*given.values(), *upstream], asked.get("is_measured", False)
    in_tf32, in_8_bits = multiplied == TF32.name, multiplied == E4M3.name
    answered = Answered(call, every, asked["path"], operands, changed, is_measured, in_tf32, in_8_bits)
    sizes = sizes_in(known.declared.dims)
    return AskedRun(answered, list(given), bool(upstream) or known.forward is not None, sizes, asked.get("finite", ()))


def save_steps(folder: Path, asked: Mapping[str, Any]) -> None:
    """Leave the steps of one run at the reference's own inputs."""
    known = known_reference(json.dumps(asked))
    torch.manual_seed(0)
    given = tensors_for(known.declared, known.declared.sizes)
    made = [asdict(one) for one in steps_of(Answered(known.call, list(given.values()), asked["path"]))]
    (folder / "steps.json").write_text(json.dumps(made), encoding="utf-8")


def save_inputs(folder: Path, known: Runnable, path: str, draws: Sequence[int], *, keeps_out: bool) -> None:
    """Leave what get_inputs makes under each of these draws, or why it does not."""
    assert known.module is not None, "its inputs have a maker"
    for draw in draws:
        try:
            made = inputs_of_draw(known.module.get_inputs, Path(path), draw)
        except Exception as error:  # of their code, under this seed
            (folder / f"{draw}{RAISED}").write_text(words_of(error), encoding="utf-8")
            continue
        try:
            (folder / f"{draw}{DATA}").write_bytes(pack_inputs(made, known.module, keeps_out=keeps_out))
        except NoDataError as error:
            (folder / NO_DATA).write_text(str(error), encoding="utf-8")


def save_arrays(folder: Path, known: Runnable, path: str, draw: int) -> None:
    """Leave the arrays that get_inputs makes under a draw: those of narrow floats as float32, which holds all."""
    assert known.module is not None, "its inputs have a maker"
    made = arrays_at(draws_of(known.module, Path(path)), known.declared, draw)
    is_narrow = {name: one.is_floating_point() and one.dtype != torch.float64 for name, one in made.items()}
    arrays = {name: (one.float() if is_narrow[name] else one).numpy() for name, one in made.items()}
    np.savez(folder / "made.npz", **arrays)


def save_sets(folder: Path, asked: AskedRun, *, of_values: bool) -> None:
    """Leave the sets of each output, or of exact values alone."""
    finite = [place for place, name in enumerate(asked.names) if name in asked.finite]
    may_be_nan = asked.is_gradient and not all(map(are_finite, asked.answered.given))
    made = reference_sets(asked.answered, finite, of_values=of_values)
    sets = [replace(one, may_be_nan=may_be_nan) for one in made]
    names = asked.outputs
    arrays = {
        key: part for name, one in zip(names, sets, strict=True) for key, part in arrays_of_set(name, one).items()
    }
    np.savez(folder / "sets.npz", names=np.asarray(names), **arrays)  # type: ignore[arg-type]  # numpy's stubs know no such dict


def save_reused(folder: Path, asked: AskedRun) -> None:
    """Leave the names of the inputs that a call changes, and of the outputs that it returns in their memory."""
    given = [one for one in asked.answered.given if isinstance(one, torch.Tensor)]
    changed, shared = reused_by(asked.answered.function, [one.clone() for one in given])
    named, outputs = list(asked.names), asked.outputs
    made = [[named[place] for place in changed], [outputs[place] for place in shared]]
    (folder / "reused.json").write_text(json.dumps(made), encoding="utf-8")


def explain_answer(folder: Path, asked: AskedRun, output: str) -> None:
    """Leave the changes of the reference that give an answer, in words."""
    run = asked.answered
    with np.load(folder / "answer.npz") as held:
        answer = WrongAnswer(*(held[name] for name in WrongAnswer._fields))
    explaining = Explaining(run.function, run.given, run.file, asked.outputs.index(output), run.changed)
    (folder / "words.json").write_text(json.dumps(explaining.explain(answer)), encoding="utf-8")


def in_kernels_type(given: Mapping[str, torch.Tensor], narrow: torch.dtype) -> dict[str, torch.Tensor]:
    """The inputs in the type of the kernel's arrays, where it has their numbers: torch then rounds each step to it."""
    return {
        name: one.to(narrow) if one.dtype == torch.float32 and one.equal(one.to(narrow).float()) else one
        for name, one in given.items()
    }


def does_take(known: Runnable, given: Mapping[str, torch.Tensor]) -> bool:
    """Whether a reference takes these types."""
    try:
        known.call(*(one.clone() for one in given.values()))
    except Exception:  # of torch, or of their code
        return False
    return True


def as_given(known: Runnable, numbers: Mapping[str, torch.Tensor], *, is_exact: bool) -> dict[str, torch.Tensor]:
    """The numbers of a case as the reference takes them: of floats in the declared types, if these have them, or do not
    have to.
    """
    below = known.declared.below
    plain = {
        name: one.float() if one.is_floating_point() else one != 0 if below.get(name) == BOOLEAN else one.long()
        for name, one in numbers.items()
    }
    whole = known.declared.whole
    floats = {name: TYPES[ELEMENTS[one]] for name, one in whole.items() if plain[name].is_floating_point()}
    if not is_exact or all(plain[name].equal(plain[name].to(kind).float()) for name, kind in floats.items()):
        return in_declared_types(known.declared, plain)
    integers = {name: one for name, one in whole.items() if name not in floats}
    return in_declared_types(replace(known.declared, whole=integers), plain)


def gradients(known: Runnable, names: Sequence[str], *tensors: torch.Tensor) -> dict[str, torch.Tensor]:
    """The gradients of a reference's inputs of floats, by those of its outputs."""
    own, upstream = tensors[: len(names)], tensors[len(names) :]
    own = tuple(one.detach().requires_grad_() if one.is_floating_point() else one for one in own)
    made = [one for _, one in leaves(known.call(*own)) if isinstance(one, torch.Tensor) and one.is_floating_point()]
    wanted = {name: one for name, one in zip(names, own, strict=True) if one.is_floating_point()}
    back = [one.reshape(of.shape).to(of.dtype) for one, of in zip(upstream, made, strict=True)]
    found = torch.autograd.grad(made, list(wanted.values()), back, allow_unused=True)
    every = zip(wanted.items(), found, strict=True)
    return {f"{DERIVATIVE}{name}": torch.zeros_like(of) if one is None else one for (name, of), one in every}


@functools.lru_cache(maxsize=8)
def known_reference(asked: str) -> Runnable:
    """A reference, whose file is executed once."""
    return runnable_of(json.loads(asked))
