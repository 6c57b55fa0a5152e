"""Definitions of problems in JSON: the claim and the reference that they make.

`definition.json` has axes (a number, a variable, an expression over others), arrays and scalars, rules, and a function
`run` in torch. Knows JSON and the text of a claim; it knows no torch.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from kfuzz.claims.language.axes import MAX_ELEMENTS
from kfuzz.common.errors import TargetError
from kfuzz.oracle.numbers.elements import BOOL, BY_LIBRARY, Element

LONGEST = 4096
TOTAL = re.compile(r"(\w+)\[-1\](?:\.item\(\))?")
"""How a rule names the end of the last segment."""
LAST_PAGE, PAGE = "last_page_len", "page_size"
LENGTH, COUNTS = "len_", ("batch_size", "num_seqs")
"""The length of an array of offsets, and the names of a number of segments, which is one less."""
ABSENT = "-1"
"""In the description of an array of integers: it may hold this for an absent one."""
SCALARS: Mapping[str, object] = {"eps": 1e-6, "float": 0.125, "int": 0, "bool": False}
"""The value of a scalar by its name, else by its type. 0.125 is exact in each type of floats, and no usual default."""


DRAWS = "multinomial("
"""A reference that calls this draws: it cannot be followed, and says what may come by an op of our own."""
SAMPLING, PROBS, TOKEN = "sampling_from_probs", "probs", "token"


@dataclass(frozen=True)
class Problem:
    """A problem. `axes`: the claim's, as TOML. `sizes`: a claim's expression for each axis that is not one of them.

    `inputs`, `outputs`: their types and dimensions. `numbers`: the scalars' values. `integers`: structures that are
    known. `parameters`: what a solution is handed, in this order. `where`: rules over sizes.
    """

    axes: Mapping[str, str]
    sizes: Mapping[str, str]
    inputs: Mapping[str, tuple[Element, tuple[str, ...]]]
    outputs: Mapping[str, tuple[Element, tuple[str, ...]]]
    numbers: Mapping[str, object]
    integers: Mapping[str, str]
    where: tuple[str, ...]
    parameters: tuple[str, ...]
    source: str

    def claim(self, entry: str, takes_outputs: bool) -> str:
        """The claim in TOML, for a solution's function."""
        roles = {name: "y" if len(self.outputs) == 1 else f"y{number}" for number, name in enumerate(self.outputs)}
        roles = {name: f"{one}_out" if one in self.inputs else one for name, one in roles.items()}
        if self.draws:
            roles = dict.fromkeys(self.outputs, TOKEN)
        taken = {name: f"{name}_out" if name in self.inputs else name for name in self.outputs}
        arrays = [f'{name} = "{self.array(one)} -> {name}"' for name, one in self.inputs.items()]
        arrays += [f'{taken[name]} = "{self.array(one)} <- {roles[name]}"' for name, one in self.outputs.items()]
        used = {name for _, dims in self.inputs.values() for d in dims for name in names_in(self.sizes.get(d, d))}
        args = [repr(self.numbers[name]) if name in self.numbers else name for name in self.parameters]
        args += [*(taken.values() if takes_outputs else ())]
        lines = [
            f'op     = "{SAMPLING if self.draws else "reference"}"',
            f"axes   = {{ {', '.join(f'{name} = {one}' for name, one in self.axes.items() if name in used)} }}",
            f"arrays = {{ {', '.join(arrays)} }}",
            *([f"where  = {json.dumps(list(self.where))}"] if self.where else ()),
            "",
            "[call]",
            f'entry = "{entry}"',
            f"args  = {json.dumps(args)}",
        ]
        written = ", ".join(f'{name} = "{one}"' for name, one in self.integers.items())
        if self.draws:  # by torch's own numbers
            return "\n".join([*lines, "", "[claims]", "deterministic = false"])
        return "\n".join([*lines, *([f"integers = {{ {written} }}"] if written else ())])

    @property
    def draws(self) -> bool:
        """Whether it draws a token of each row of probabilities."""
        return DRAWS in self.source and PROBS in self.inputs and len(self.outputs) == 1

    def array(self, one: tuple[Element, tuple[str, ...]]) -> str:
        element, dims = one
        return f"{element}[{', '.join(self.sizes.get(d, d) for d in dims) or '1'}]"

    def reference(self, mark: str) -> str:
        """The reference's file: its text, and a function of its arrays alone below the line `mark`."""
        tree = ast.parse(self.source)
        own = next((one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "run"), None)
        known = {arg.arg for arg in (*own.args.args, *own.args.kwonlyargs)} if own else set()
        scalar = {name: f"{name}.reshape(())" for name, (_, dims) in self.inputs.items() if not dims}
        values = {**{name: name for name in self.inputs}, **scalar, **{n: repr(v) for n, v in self.numbers.items()}}
        by_name = set(self.parameters) <= known
        named = [f"{name}={values[name]}" if by_name else values[name] for name in self.parameters]
        call = f"{mark}\ndef reference({', '.join(self.inputs)}):\n    return run({', '.join(named)})\n"
        return f"{self.source}\n\n\n{call}"


def read_definition(document: Mapping[str, Any]) -> Problem:
    """The definition in a JSON document; an error names what kfuzz cannot say."""
    axes, sizes = dict[str, str](), dict[str, str]()
    for axis, one in document["axes"].items():
        if "value" in one:
            axes[axis] = f"[{one['value']}]"
        elif "expression" in one:
            sizes[axis] = f"({in_claims_words(one['expression'])})"
        else:
            axes[axis] = f'"1..{LONGEST}"'
    optional = left_out(document["reference"])
    inputs = {n: one for n, one in document["inputs"].items() if not (one.get("optional") and n in optional)}
    numbers = {n: scalar_of(n, one) for n, one in inputs.items() if one["shape"] is None}
    arrays = {n: (element_of(n, one), tuple(one["shape"])) for n, one in inputs.items() if one["shape"] is not None}
    check_fit(arrays, {axis: one["value"] for axis, one in document["axes"].items() if "value" in one})
    results = {n: (element_of(n, one), tuple(one["shape"] or ())) for n, one in document["outputs"].items()}
    rules = [str(one) for one in document.get("constraints") or ()]
    integers = dict(segments_in(rules, arrays))
    sizes |= counts_of(rules, axes, arrays)
    for axis in sizes:
        axes.pop(axis, None)
    for axis in {arrays[n][1][-1] for n in integers} & axes.keys():
        axes[axis] = f'"2..{LONGEST}"'  # offsets of one segment
    where = tuple(found for one in rules if (found := rule_over_sizes(one, axes)))
    for n, (element, dims) in arrays.items():
        if element.is_float or element == BOOL or n in integers or not dims:
            continue
        if n.endswith(LAST_PAGE) and PAGE in document["axes"]:
            integers[n] = f"1..{PAGE}"
        elif (slots := at_least(rules, dims[0])) and len(dims) == 1:
            absent = " or -1" if ABSENT in document["inputs"][n].get("description", "") else ""
            integers[n] = f"distinct < {slots}{absent}"
        elif ABSENT in document["inputs"][n].get("description", ""):
            integers[n] = "or -1"
    return Problem(axes, sizes, arrays, results, numbers, integers, where, tuple(inputs), document["reference"])


def check_fit(arrays: Mapping[str, tuple[Element, tuple[str, ...]]], known: Mapping[str, int]) -> None:
    """Raise a TargetError if no case can have one of the arrays: its fixed sizes are too many elements."""
    for name, (_, dims) in arrays.items():
        if (least := prod(known.get(d, 1) for d in dims)) > MAX_ELEMENTS:
            raise TargetError(
                f"{name} has at least {least:,} elements; an array of a case has at most {MAX_ELEMENTS:,}"
            )


def left_out(source: str) -> frozenset[str]:
    """The parameters of `run` that have a default."""
    for one in ast.parse(source).body:
        if isinstance(one, ast.FunctionDef) and one.name == "run":
            return frozenset(arg.arg for arg in one.args.args[len(one.args.args) - len(one.args.defaults) :])
    return frozenset()


def scalar_of(name: str, one: Mapping[str, Any]) -> object:
    """A value for a scalar."""
    kind = re.sub(r"\d+|^b(?=float)", "", one["dtype"])
    return SCALARS["eps"] if "eps" in name.lower() else SCALARS.get(kind, 0)


def element_of(name: str, tensor: Mapping[str, Any]) -> Element:
    if tensor["dtype"] not in BY_LIBRARY:
        raise TargetError(f"{name}: a tensor of {tensor['dtype']}; kfuzz has {', '.join(BY_LIBRARY)}")
    return BY_LIBRARY[tensor["dtype"]]


def segments_in(rules: Sequence[str], arrays: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Arrays that rise from 0 to a size: `total == offsets[-1].item()`."""
    for rule in rules:
        left, equal, right = (part.strip() for part in rule.partition("=="))
        for total, end in ((left, right), (right, left)):
            if equal and total.isidentifier() and (found := TOTAL.fullmatch(end)) and found[1] in arrays:
                yield found[1], f"rises 0..{total}"


def counts_of(
    rules: Sequence[str], axes: Mapping[str, str], arrays: Mapping[str, tuple[Element, tuple[str, ...]]]
) -> dict[str, str]:
    """Axes that are one more than another: by a rule, or by their names."""
    found = {}
    for rule in rules:
        if match := re.fullmatch(r"(\w+) == (\w+) \+ (\d+)", rule.strip()):
            found[match[1]] = f"{match[2]} + {match[3]}"
    used = {d for _, dims in arrays.values() for d in dims}
    for axis in axes:
        count = next((one for one in COUNTS if one in used), None)
        if axis.startswith(LENGTH) and axis not in found and count:
            found[axis] = f"{count} + 1"
    return {axis: one for axis, one in found.items() if axis in axes and names_in(one) <= axes.keys()}


def at_least(rules: Sequence[str], count: str) -> str:
    """The axis that is at least as long as this one, by a rule: places for each of its elements."""
    every = (re.fullmatch(rf"(\w+) >= {re.escape(count)}", rule.strip()) for rule in rules)
    return next((found[1] for found in every if found), "")


def rule_over_sizes(rule: str, axes: Mapping[str, str]) -> str:
    """A rule over axes in a claim's words; empty if it speaks of elements, or of constants alone."""
    names = names_in(rule)
    varies = any(not axes[name].startswith("[") for name in names if name in axes)
    return in_claims_words(rule) if names <= axes.keys() and varies and not re.search(r"[\[.]", rule) else ""


def in_claims_words(text: str) -> str:
    return text.replace("//", "/")


def names_in(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[A-Za-z_]\w*", text))
