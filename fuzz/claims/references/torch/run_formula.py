"""The formula of a reference that kfuzz runs: a file for all sizes, and a text for each set of sizes and integers.

Knows the sizes of torch's tensors and the lines of a formula; it does not know how these lines come about.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import torch

from kfuzz.claims.references.aten.norms import MOMENTS
from kfuzz.claims.references.aten.term import HELPERS, Term, number_of
from kfuzz.claims.references.torch.declared import CannotError, Declared
from kfuzz.claims.references.torch.integers import declared_as
from kfuzz.claims.references.torch.running import Running, run_traced
from kfuzz.claims.references.torch.sizes import BOOLEAN
from kfuzz.claims.references.torch.trace_reader import names_in
from kfuzz.claims.references.torch.weights import Chosen
from kfuzz.oracle.op.names import MANY_SUMS

SizesOfRun = Mapping[str, int]
Makes = Callable[[SizesOfRun], dict[str, torch.Tensor]]
"""Makes the inputs at some sizes."""


def text_of_run(running: Running, outputs: Mapping[str, Term], inputs: Mapping[str, object]) -> str:
    """The lines that one run left, as a function `formula`; it finds its arrays in CONSTANTS."""
    wanted = set().union(*(names_in(one.text) for one in outputs.values()))
    made = {name for name, _ in running.to.lines}
    lines: list[str] = []
    for name, text in reversed(running.to.lines):
        if name in wanted:
            used = names_in(text)
            if last := sorted((used & made) - wanted):  # each value of a loop would stay until the end
                lines.append(f"    del {', '.join(last)}")
            wanted |= used
            lines.append(f"    {name} = {text}")
    imports = [(module, [one for one in helpers if one in wanted]) for module, helpers in HELPERS.items()]
    head = ["import numpy as np", *(f"from {module} import {', '.join(some)}" for module, some in imports if some)]
    results = ", ".join(f'"{name}": {number_of(one) if one.is_mask else one.text}' for name, one in outputs.items())
    body = [f"def formula(N, {', '.join(inputs)}):", *reversed(lines), f"    return {{{results}}}"]
    return "\n".join([*head, "", "", *body, ""])


def names_wanted(running: Running, outputs: Mapping[str, Term]) -> set[str]:
    """The names on which the outputs depend."""
    wanted = set().union(*(names_in(one.text) for one in outputs.values()))
    for name, text in reversed(running.to.lines):
        wanted |= names_in(text) if name in wanted else set()
    return wanted


def file_of_runs(
    reference: Callable[..., Any],
    file: Path,
    declared: Declared,
    at: tuple[SizesOfRun, SizesOfRun],
    make: Makes,
    title: str,
    narrow: Sequence[str] = (),
) -> tuple[str, list[str], list[str]]:
    """The formula's file, its outputs, and the operations without a rule, from runs at two sets of sizes."""
    first, second = (run_traced(reference, file, make(sizes), narrow) for sizes in at)
    running, outputs = first
    shapes = {
        name: [output_size(name, *both, at) for both in zip(one.shape, second[1][name].shape, strict=True)]
        for name, one in outputs.items()
    }
    named = {role: ", ".join(str(declared.fixed.get(d, d)) for d in dims) for role, dims in declared.dims.items()}
    inputs = {role: f"{'grid' if role in declared.narrow else 'float'}[{text}]" for role, text in named.items()}
    inputs |= {role: declared_as(below, named[role], declared.fixed) for role, below in declared.below.items()}
    sizes = {name: ", ".join(str(declared.fixed.get(d, d)) for d in dims) or "1" for name, dims in shapes.items()}
    results = {name: f"{'float' if outputs[name].is_number else 'int'}[{text}]" for name, text in sizes.items()}
    forms = tuple(map(", ".join, product(*sorted(running.to.forms.values(), key=MOMENTS.__ne__))))
    lines = [f'"""{title}: kfuzz runs it for each set of sizes and integers."""', ""]
    lines += ["from kfuzz.claims.references.running import formula_at", ""]
    lines += [f"INPUTS = {inputs!r}", f"OUTPUTS = {results!r}", "WHOLE = True"]
    if isinstance(reference, Chosen):
        weights = reference.weights()
        lines += [f"WEIGHTS = {{{weights.role!r}: {weights.digests!r}}}"]
    lines += [f"DEEP = {max(second[0].to.behind.values(), default=0) >= MANY_SUMS}"]
    lines += [f"FORMS = {forms!r}"] if running.to.forms else []
    lines += [f"STEPS = {steps!r}"] if (steps := tuple({**running.to.kept, **second[0].to.kept})) else []
    wanted = names_wanted(running, outputs)
    lines += [f"SPECIAL = {json.dumps(special)}"] if (special := running.to.special(wanted)) else []
    truths = {name for name, below in declared.below.items() if below == BOOLEAN}
    given = ", ".join(f'"{name}": {name}{" != 0" if name in truths else ""}' for name in declared.dims)
    lines += ["", "", f"def formula(N, {', '.join(declared.dims)}):"]
    lines += [f"    return formula_at(__file__, {{{given}}})(N, {', '.join(declared.dims)})", ""]
    unknown = dict.fromkeys(op for name, op in running.without_rule.items() if name in wanted)
    return "\n".join(lines), list(outputs), list(unknown)


def output_size(output: str, one: str, other: str, at: tuple[SizesOfRun, SizesOfRun]) -> str:
    """The dimension of the inputs that an output's size is at both sets of sizes, or a number."""
    names = [name for name in at[0] if str(at[0][name]) == one and str(at[1][name]) == other]
    if not names and one != other:
        found = f"a size of its output {output} is {one} at {shown(at[0])} and {other} at {shown(at[1])}"
        raise CannotError(f"{found}, which is no size of an input")
    return names[0] if names else one


def shown(sizes: SizesOfRun) -> str:
    return " ".join(f"{name}={size}" for name, size in sizes.items())
