"""The formula of a task's gradients: the formula of the function that was traced, walked backwards.

Torch's own gradients are traced only where that fails: of many of its operations there is no rule. Knows the text of a
formula; it knows no trace.
"""

import ast
import re
from collections.abc import Mapping, Sequence

from kfuzz.claims.references.torch.declared import CannotError
from kfuzz.claims.references.torch.model_functions import GRADIENT
from kfuzz.claims.references.torch.sizes import Dims

LEFT_OUT = re.compile(r"^(?:STEPS|SPECIAL|INPUTS|OUTPUTS) = .*\n", re.MULTILINE)
WALK = "from kfuzz.oracle.op.backward import gradients_of"
NUMPY = "import numpy as np"


def gradients_text(forward: str, inputs: Dims, taken: Dims, wanted: Sequence[str]) -> tuple[str, list[str]]:
    """The text of the gradients of a formula, and their names.

    `inputs`: what a submission is handed, with its sizes; `taken`: what the formula takes, of which the rest is zeros.
    """
    declared: Mapping[str, str] = ast.literal_eval(value_of("INPUTS", forward))
    names = ["y"] if len(wanted) == 1 else [f"y{number}" for number in range(len(wanted))]
    outputs = [name if name not in inputs else f"{name}_out" for name in names]
    incoming = f"float[{', '.join(inputs[GRADIENT])}]"
    texts = {name: declared[name] if name != GRADIENT else incoming for name in inputs}
    sizes = {size: f"{name}.shape[{axis}]" for name, dims in inputs.items() for axis, size in enumerate(dims)}
    given = {
        name: name if name in inputs else f"N.input(np.zeros([{shape(dims, sizes)}]))" for name, dims in taken.items()
    }
    handed = ", ".join(f'"{name}": {one}' for name, one in given.items())
    shapes = {output: f"float[{', '.join(taken[name])}]" for output, name in zip(outputs, wanted, strict=True)}
    results = ", ".join(f'"{output}": made["{name}"]' for output, name in zip(outputs, wanted, strict=True))
    imports = [NUMPY] if NUMPY not in forward and any("np." in one for one in given.values()) else []
    head, formula, rest = LEFT_OUT.sub("", forward).partition("def formula(")
    lines = [
        f"INPUTS = {texts!r}",
        f"OUTPUTS = {shapes!r}",
        "GRADIENT = True",
        "",
        "",
        f"def forward({rest.rstrip()}",
        "",
        "",
        f"{formula}N, {', '.join(inputs)}):",
        f"    given = {{{handed}}}",
        f'    made = gradients_of(N, forward, given, {{"y": {GRADIENT}}}, {list(wanted)!r})',
        f"    return {{{results}}}",
        "",
    ]
    title, _, more = head.partition("\n")
    return "\n".join([title, "", *imports, WALK, more.strip("\n"), "", *lines]), outputs


def shape(dims: Sequence[str], sizes: Mapping[str, str]) -> str:
    """The sizes of an array of zeros, over those of what is handed over."""
    if unknown := [one for one in dims if not one.isdigit() and one not in sizes]:
        raise CannotError(f"nothing that its backward takes has the size {unknown[0]}")
    return ", ".join(one if one.isdigit() else sizes[one] for one in dims)


def value_of(name: str, formula: str) -> str:
    """The text of a constant of a formula's file."""
    found = re.search(rf"^{name} = (.*)$", formula, re.MULTILINE)
    assert found is not None
    return found[1]
