"""What there is to say of ops: docs/ops.md lists them, a line each, and a section has all of one, from its own file."""

import inspect

from kfuzz.oracle.judging.find_op import find, op_names
from kfuzz.oracle.op.names import names_of
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.role import Role

BAR = "\\|"
"""A bar within a cell of a table."""
HEAD = """# The ops

These are the ops that a kernel may claim, each with a link to its file. `kfuzz op NAME` prints its arrays, forms,
scalars, special values and formula. There `float` is f32, f16, bf16 or f64, each with its own type;
`float32` is f32 alone; `uniform` is a float from 0 to below 1; `int` is i32 or i64, and `bool` is bool or u8.
[formulas.md](formulas.md) explains formulas and how to write one.
`backward of NAME` is [the op of its gradients](formulas.md#gradients). This page is written by
`python -m kfuzz.ui.reports.ops_page > docs/ops.md`.

Special values follow from the formula: infinities and NaN pass through it, step by step. There are
three exceptions. In an op that subtracts the maximum, a row of only -inf is NaN, or 0 if a claim says
`all_neg_inf = "zero"`; in attention both are right if the claim does not choose one. NaN and +inf are judged only if
the op or the claim mentions them. An answer that depends on the
order of a sum, as with an overflow on the way or +inf beside -inf, is not judged.
"""


def page() -> str:
    """The list of all ops."""
    rows = "".join(map(line, map(find, op_names())))
    return f"{HEAD}\n| op | what it computes | arrays |\n|---|---|---|\n{rows}"


def line(op: Op) -> str:
    """The line of an op in the list."""
    words = op.about.partition("\n")[0].removeprefix(f"{op.name}: ")
    others = f" Also {', '.join(f'`{name}`' for name in op.also)}." if op.also else ""
    arrays = f"{', '.join(op.inputs)} -> {', '.join(op.outputs)}"
    return f"| [{op.name}](../oracle/ops/{op.name}.py) | {words.replace('|', BAR)}{others} | {arrays} |\n"


def section(op: Op, source: str | None = None) -> str:
    """All there is to say of one op, and its formula, or another source."""
    source = inspect.getsource(op.formula) if source is None else source
    rows = [f"| {name} | {_array(role)} |" for name, role in op.inputs.items()]
    rows += [f"| {name} | {_array(role)}, the answer |" for name, role in op.outputs.items()]
    lines = [f"## {op.name}", "", op.about, "", "| role | array |", "|---|---|", *rows, ""]
    if op.scalars:
        lines += ["Scalars: " + ", ".join(f"`{k} = {v}`" for k, v in op.scalars.items()) + ".", ""]
    if op.optional:
        lines += ["May be left out: " + ", ".join(f"`{name}`" for name in op.optional) + ".", ""]
    if op.also:
        lines += ["Other names: " + ", ".join(f"`{name}` is `{text}`" for name, text in op.also.items()) + ".", ""]
    if op.forms:
        said = "Forms, of which a claim names one: " if op.needs_form else "Forms: "
        lines += [said + ", ".join(f"`{form}`" for form in op.forms) + ".", ""]
    if op.seldom:
        ways = ", ".join(f"`{form}`" + (f" (`{called}`)" if called else "") for form, called in op.seldom.items())
        source_too = " or a call in the text" if any(op.seldom.values()) else ""
        lines += [f"Only if a claim{source_too} says so: {ways}.", ""]
    if names := _names(op):
        lines += [f"A claim may name: {names}.", ""]
    if op.special:
        lines += ["Special values: " + ", ".join(f"`{k}` is `{v}`" for k, v in op.special.items()) + ".", ""]
    if op.where:
        lines += ["Sizes: " + ", ".join(f"`{rule}`" for rule in op.where) + ".", ""]
    for rule in filter(None, (op.answers, op.sets)):
        lines += [f"{inspect.getdoc(rule)}", ""]
    return "\n".join([*lines, *("    " + line if line else "" for line in source.rstrip().split("\n")), ""])


def _names(op: Op) -> str:
    """The sums, narrow values and functions that a formula has names for."""
    kinds = (
        ("sums", names_of(op).sums),
        ("narrow values", names_of(op).narrow_values),
        ("functions", names_of(op).functions),
    )
    return "; ".join(f"{kind} " + ", ".join(f"`{name}`" for name in own) for kind, own in kinds if own)


def _array(role: Role) -> str:
    """An array as the op's file declares it."""
    kinds = {"grid": role.is_grid, "uniform": role.is_uniform, "share": role.is_share,
             "float32": role.is_only_float32, "float": role.is_float, "bool": role.is_truth}  # fmt: skip
    kind = next((name for name, is_so in kinds.items() if is_so), "int")
    below = f" {role.structure}" if role.structure else f" < {role.below}" if role.below and not role.is_truth else ""
    return f"`{kind}[{', '.join(role.dimensions)}]{below}`"


if __name__ == "__main__":
    print(page(), end="")
