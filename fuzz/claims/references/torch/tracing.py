"""Traces a torch reference and writes its operations as a formula over a number system, in a separate process.

A folder holds question.json; the process leaves answer.json and arrays.npz there. The file of the reference runs here,
and never in a process that judges an answer. Sizes stay symbols, so one trace serves all sizes. Long, since it chooses
among all ways to trace a reference.
"""

import ast
import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch._decomp import decomposition_table
from torch.fx.experimental.proxy_tensor import make_fx

from kfuzz.claims.references.torch.declared import CannotError, Declared, DrawsError, OneSizeError
from kfuzz.claims.references.torch.gradient_text import gradients_text
from kfuzz.claims.references.torch.inputs import (
    error_without_numbers,
    sizes_to_run,
    tensors_for,
    tensors_of,
    ways_to_vary,
    with_fixed,
)
from kfuzz.claims.references.torch.integers import ABSENT, structure_of, with_limits
from kfuzz.claims.references.torch.model_functions import Forward
from kfuzz.claims.references.torch.reference_answers import (
    Narrowings,
    answers_of,
    any_nan,
    in_double,
    least_sizes,
    widen_inputs,
)
from kfuzz.claims.references.torch.run_formula import file_of_runs, shown
from kfuzz.claims.references.torch.runnable import Runnable, runnable_of
from kfuzz.claims.references.torch.sizes import (
    BOOLEAN,
    MOST_WEIGHTS,
    Below,
    Dims,
    elements_of,
    length_of,
    prime_sizes,
    sizes_in,
    sizes_to_compare,
)
from kfuzz.claims.references.torch.trace_reader import LostWriteError, TraceReader, check_writes
from kfuzz.claims.references.torch.weights import Chosen, as_one_object
from kfuzz.devices.python.raising import words_of
from kfuzz.devices.python.torch.packed import PACKED, as_numbers
from kfuzz.oracle.op.shapes import is_derived

KEPT = ("path", "source", "reference", "inputs", "integers", "narrow", "task", "config", "is_function", "draws_weights")
"""What a question says that each further run has to know."""
GRADIENTS = {of: by for of, by in decomposition_table.items() if "backward" in str(of)}
"""torch's own definitions of gradients by other operations: there are no rules for most of them."""
MOST_TO_RUN = 1 << 20
"""Elements of inputs with which a reference runs in seconds: a transposed convolution makes 16 times as many."""
LARGER = (1, 20, 70)
"""Least sizes at which a reference is traced: one with windows does not run at the smallest."""


def answer_folder(folder: Path) -> None:
    """Answer the question that lies in a folder."""
    asked = json.loads((folder / "question.json").read_text(encoding="utf-8"))
    try:
        answer, arrays = answer_question(asked)
    except CannotError as error:
        answer, arrays = {"error": str(error)}, {}
    except Exception as error:  # any error of the user's file or of torch's tracer: reported as it is
        answer, arrays = {"error": f"the reference cannot be traced: {words_of(error)}"}, {}
    np.savez(folder / "arrays.npz", **arrays)
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")


def answer_question(asked: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The formula's text with its names, and the reference's own answers for some inputs."""
    known = runnable_of(asked)
    try:
        return answer_for(known, asked)
    except OwnWeightsError:
        return answer_question({**asked, "draws_weights": False})


def answer_for(known: Runnable, asked: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The formula's text with its names, and the reference's own answers."""
    multiples = known.beside.get("multiples", {})
    asked = {**asked, "axes": {name: (by, 0, by) for name, by in multiples.items()} | asked["axes"]}
    asked["narrow"] = known.beside.get("narrow", asked.get("narrow", ()))
    if any(below in ("", ABSENT) for below in known.declared.below.values()):
        found = with_limits(known.call, known.declared, sizes_to_run(known.declared, asked), tensors_for)
        known = replace(known, declared=found)
    answer, arrays = formula_for(known, asked)
    sizes = {size for dims in answer["inputs"].values() for size in dims}
    rules = [f"{name} % {by} == 0" for name, by in multiples.items() if name in sizes]
    answer["formula"] = with_rules(answer["formula"], rules)
    return {**answer, **known.beside}, arrays


class OwnWeightsError(CannotError):
    """With drawn weights the reference is another formula."""


def formula_for(known: Runnable, asked: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The formula for all sizes, else one that runs the reference at each; of gradients, a walk backwards."""
    if known.forward is not None and not asked["inputs"]:
        try:
            return trace_gradients(known, known.forward, asked)
        except Exception:  # any error of torch's tracer: torch's own gradients may be traced  # noqa: S110
            pass
    if goes_by_integers(known.declared) or PACKED.keys() & set(known.declared.narrow.values()):
        return trace_by_runs(known, asked)
    try:
        if asked["inputs"]:
            found = trace_reference(known.call, known.is_module, asked, known.declared)
        else:
            ways = ways_to_vary(known.declared, known.call)
            found = trace_first_of(known.call, known.is_module, asked, islice(ways, 1) if asked["task"] else ways)
        return found if not found[0]["unknown"] else with_fewer_unknown(found, known, asked)
    except CannotError as error:
        if not isinstance(error, OneSizeError) or not asked["inputs"]:
            raise
        return trace_by_runs(known, asked)  # a loop over a size
    except Exception as symbolic:  # any error of torch's tracer: it may go by integers, or write into slices
        try:
            return trace_by_runs(known, asked)
        except Exception as error:  # of the reference itself, or one that says where it is not understood
            raise (error if isinstance(error, CannotError) else symbolic) from error


def trace_gradients(
    known: Runnable, forward: Forward, asked: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The formula of the function whose gradients are asked for, walked backwards, and the reference's own answers."""
    declared = known.declared
    taken = replace(forward.declared, below={**forward.declared.below, **declared.below})
    traced, _ = trace_first_of(forward.call, False, asked, iter([taken]))
    if traced["unknown"] or "CONSTANTS" in traced["formula"]:
        raise CannotError(f"there is no rule for torch's {', '.join(traced['unknown']) or 'constants'}")
    fixed = {d: str(n) for d, n in taken.fixed.items()}
    inputs = {name: [fixed.get(d, d) for d in dims] for name, dims in declared.dims.items()}
    text, outputs = gradients_text(traced["formula"], inputs, traced["inputs"], forward.wanted)
    arrays: dict[str, Any] = {}
    steps = dict.fromkeys(sizes_in(declared.dims), (1, 1))
    numbers = {int(name) for dims in declared.dims.values() for name in dims if name.isdigit()}
    held = {name: size for name, size in declared.fixed.items() if name in steps}
    for number, some in enumerate(sizes_to_compare(prime_sizes(steps, held, numbers), steps, held, declared.dims)):
        given = tensors_of(declared.dims, some, declared.below)
        arrays |= {f"input {number} {name}": one.numpy() for name, one in given.items()}
        arrays |= answers_of(f"single {number}", outputs, known.call, given, some)
    return {"formula": text, "inputs": inputs, "unknown": [], "is_module": False}, arrays


def with_fewer_unknown(
    found: tuple[dict[str, Any], dict[str, Any]], known: Runnable, asked: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A formula that knows all operations, if there is one: by parts of them, without its writes, or by runs."""
    asked_by_parts = {**asked, "by_parts": asked.get("by_parts", []) + found[0]["unknown"]}
    ways = [partial(formula_for, known, asked_by_parts)] if "by_parts" not in asked else []
    ways += [partial(formula_for, known, {**asked, "is_pure": True})] if not asked.get("is_pure") else []
    for way in (*ways, partial(trace_by_runs, known, asked)):
        try:
            other = way()
        except Exception:  # of the reference at other sizes, or one that a run does not follow  # noqa: S112
            continue
        if not other[0]["unknown"]:
            return other
    return found


def with_rules(text: str, rules: Sequence[str]) -> str:
    """A formula's text with these conditions on its sizes, besides those that it has."""
    known = re.search(r"^WHERE = (.*)\n", text, re.MULTILINE)
    every = (*(ast.literal_eval(known[1]) if known else ()), *rules)
    without = text.replace(known[0], "", 1) if known else text
    return without.replace("\nOUTPUTS = ", f"\nWHERE = {every!r}\nOUTPUTS = ", 1) if every else without


def trace_by_runs(known: Runnable, asked: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A formula that runs the reference again at the sizes and integers of each case; answers to compare it with."""
    path = Path(asked["path"])
    declared = with_fixed(known.declared, asked)
    sizes, larger = sizes_to_run(declared, asked)
    make = partial(tensors_for, declared)
    text, outputs, unknown = file_of_runs(
        known.call, path, declared, (sizes, larger), make, asked["title"], asked.get("narrow", ())
    )
    arrays: dict[str, Any] = {}
    for number, some in enumerate((sizes, larger)):
        arrays |= {f"input {number} {name}": as_numbers(one) for name, one in make(some).items()}
        arrays |= answers_of(f"single {number}", outputs, known.call, make(some), some)
    names = {name: [str(declared.fixed.get(d, d)) for d in dims] for name, dims in declared.dims.items()}
    answer = {"formula": text, "inputs": names, "unknown": unknown, "is_module": known.is_module}
    return answer | {"run": {key: asked[key] for key in KEPT if key in asked}}, arrays


def goes_by_integers(declared: Declared) -> bool:
    """Whether its inputs are of a kind that no reference takes without a loop over their elements."""
    given = [structure_of(one, declared.dims[name][-1]) for name, one in declared.below.items() if one != BOOLEAN]
    return any(one.is_segments for one in given) or any(is_derived(d) for dims in declared.dims.values() for d in dims)


def trace_first_of(
    reference: Callable[..., Any], is_module: bool, asked: Mapping[str, Any], ways: Iterator[Declared]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The first of these traces that succeeds; the error is the first one's."""
    first: Exception | None = None
    for declared in ways:
        try:
            return trace_reference(reference, is_module, asked, declared)
        except (LostWriteError, DrawsError):
            raise  # it does so at all sizes
        except Exception as error:  # any error of torch for such dimensions
            first = first or error
    assert first is not None
    raise first


def trace_reference(
    reference: Callable[..., Any], is_module: bool, asked: Mapping[str, Any], declared: Declared
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The formula and answers for inputs of these dimensions, at the smallest sizes at which the reference runs."""
    for number, least in enumerate(LARGER, 1):
        try:
            return trace_at(reference, is_module, asked, declared, least)
        except (CannotError, LostWriteError):
            raise
        except Exception:  # any error of torch for such sizes
            if number == len(LARGER):
                raise
    raise AssertionError


def trace_at(
    reference: Callable[..., Any], is_module: bool, asked: Mapping[str, Any], declared: Declared, larger: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The formula and answers, traced at sizes that are no smaller than `larger`."""
    inputs, below = declared.dims, declared.below
    fixed = declared.fixed | {name: least for name, (least, most, _) in asked["axes"].items() if least == most}
    given_axes = {name: asked["axes"].get(name, (1, 0, 1)) for name in sizes_in(inputs)}
    steps = {name: (least, multiple) for name, (least, _, multiple) in given_axes.items()}
    if asked["task"] or asked.get("config"):  # a window is smaller than its image at home, and then at other sizes, too
        steps = dict(sorted(steps.items(), key=lambda one: declared.sizes.get(one[0], 0)))
    fixed = {name: size for name, size in fixed.items() if name in steps}
    numbers = {int(name) for dims in inputs.values() for name in dims if name.isdigit()}
    sizes = prime_sizes(
        {name: (max(least, larger), multiple) for name, (least, multiple) in steps.items()}, fixed, numbers
    )
    check_sizes(reference, declared, sizes)
    given = tensors_of(inputs, sizes, below)
    write = partial(formula_of, inputs=inputs, below=below, sizes=sizes, fixed=set(fixed), title=asked["title"],
                    is_pure=asked.get("is_pure", False), by_parts=asked.get("by_parts", ()))  # fmt: skip
    text, outputs, constants, unknown, is_single = write(reference, given)
    if isinstance(reference, Chosen) and not is_same(constants, *write(reference, given, number=1)[0:3:2], text):
        raise OwnWeightsError("with drawn weights it is another formula")
    if (weights := sum(one.size for one in constants.values())) > MOST_WEIGHTS:
        raise CannotError(
            f"it has {weights:,} weights of its own; kfuzz judges by at most {MOST_WEIGHTS:,}, which take 1 GB in each "
            "of its processes. Give it smaller sizes"
        )
    wide = None if is_single else in_double(reference, given, text, constants, write)
    arrays = {f"constant {name}": value for name, value in constants.items()}
    if not asked["inputs"] and (limits := least_sizes(reference, declared, sizes, steps, fixed)):
        steps |= {name: (least, steps[name][1]) for name, least in limits.items()}
        rules = [f"{name} >= {least}" for name, least in limits.items()]
        text = with_rules(text, rules)
    for number, some in enumerate(sizes_to_compare(sizes, steps, fixed, inputs)):
        given = tensors_of(inputs, some, below)
        if isinstance(reference, Chosen):
            given[reference.role] = torch.tensor([number % len(reference.objects)])
        if any_nan(reference, given):  # of a logarithm or a root, where its inputs have to be positive
            given = {name: one.abs() if one.is_floating_point() else one for name, one in given.items()}
        arrays |= {f"input {number} {name}": one.numpy() for name, one in given.items()}
        answers = answers_of(f"single {number}", outputs, reference, given, some)
        check_shapes(text, answers, some, f"single {number} ")
        arrays |= answers
        if wide is not None:
            with Narrowings() as narrowings, suppress(CannotError):  # its own numbers may be in single precision
                found = answers_of(f"double {number}", outputs, wide, widen_inputs(given), some)
                arrays |= found if not narrowings.seen else {}
    names = {name: [size if size not in fixed else str(fixed[size]) for size in dims] for name, dims in inputs.items()}
    return {"formula": text, "inputs": names, "unknown": unknown, "is_module": is_module}, arrays


class ShapeError(Exception):
    """A trace has a size of the sizes at which it was made: torch takes a size that is 1 there for 1 everywhere."""


def check_shapes(text: str, answers: Mapping[str, Any], sizes: Mapping[str, int], prefix: str) -> None:
    """Raise a ShapeError if an answer has not the shape that the formula says."""
    found = re.search(r"^OUTPUTS = (.*)$", text, re.MULTILINE)
    assert found is not None
    for name, role in ast.literal_eval(found[1]).items():
        dims = [one.strip() for one in role[role.index("[") + 1 : -1].split(",")]
        shape = answers[f"{prefix}{name}"].shape
        if (shape or (1,)) != tuple(length_of(d, sizes) for d in dims):
            raise ShapeError(f"{name} is {list(shape)} at {shown(sizes)}, and by its trace [{', '.join(dims)}]")


def check_sizes(reference: Callable[..., Any], declared: Declared, sizes: Mapping[str, int]) -> None:
    """Raise what a copy of the reference raises at these sizes, sooner than a trace does.

    The trace of DenseNet201 took 20 s until its last pool had no place left. A layer norm behind a transposed
    convolution took 300 s and 35 GB to say that it takes no images of 79 x 83 places: large inputs are tried without
    numbers first, if the reference runs so at its own sizes.
    """
    if declared.sizes and elements_of(declared.dims, sizes) > MOST_TO_RUN:
        error = error_without_numbers(reference, declared, sizes)
        if error is not None and error_without_numbers(reference, declared, declared.sizes) is None:
            raise error
    with torch.no_grad():
        copied = copy.deepcopy(reference) if isinstance(reference, torch.nn.Module) else reference
        copied(*tensors_of(declared.dims, sizes, declared.below).values())


def formula_of(
    reference: Callable[..., Any],
    given: Mapping[str, torch.Tensor],
    *,
    inputs: Dims,
    below: Below,
    sizes: Mapping[str, int],
    fixed: set[str],
    title: str,
    is_pure: bool = False,
    by_parts: Sequence[str] = (),
    number: int = 0,
) -> tuple[str, list[str], dict[str, Any], list[str], bool]:
    """A formula's text, outputs, tensors and unknown operations, and whether it holds in float32 only.

    `is_pure`: its writes are traced as new tensors. `by_parts`: operations to trace by torch's own definitions of them.
    `number`: which of its sets of weights is traced.
    """
    named = tuple(f"aten.{one}." for one in by_parts)
    # Its own weights are not inputs: they are constants.
    traced = torch.func.functionalize(reference) if is_pure else reference
    with as_one_object(reference, number):
        parts = {of: by for of, by in decomposition_table.items() if str(of).startswith(named)}
        graph = make_fx(traced, GRADIENTS | parts, tracing_mode="symbolic", _allow_non_fake_inputs=True)(
            *given.values()
        )
        weights = reference.weights() if isinstance(reference, Chosen) else None
    check_writes(graph.graph)
    read = TraceReader(graph, inputs, below, sizes, fixed, weights)
    for node in graph.graph.nodes:
        read.read_node(node)
    return read.text(title), read.outputs, read.constants, list(dict.fromkeys(read.unknown)), read.to.is_single


def is_same(constants: Mapping[str, Any], other: str, held: Mapping[str, Any], text: str) -> bool:
    """Whether a formula and its tensors are those of the same reference with other weights."""
    return text == other and all(np.array_equal(one, held[name], equal_nan=True) for name, one in constants.items())
