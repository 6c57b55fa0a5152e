"""docs/ops.md: every op that is a formula, its forms, scalars and special values, from the files themselves."""

import inspect

from kfuzz.oracle.find import find
from kfuzz.oracle.formula import FormulaOp
from kfuzz.oracle.op import op_names

HEAD = """# The ops

Every op that kernels may claim. A formula is judged in f32, f16, bf16 and f64, each input and output in a type of its
own; integers are i32 or i64. Ops without a formula are judged in f32, but argmax and top_k in any type. What a formula
is, and how to write one, stands in [formulas.md](formulas.md). `python -m kfuzz.views.ops_page > docs/ops.md` writes
this.

Special values follow from the formula: what an infinity or NaN comes to in it, step by step, is what may be answered.
Three things are said beside it. A row of nothing but -inf below a maximum is NaN, or 0 where a claim says
`all_neg_inf = "zero"`. NaN and +inf are judged only where the op or the claim speaks of them. What the order of a sum
decides, an overflow on the way or +inf beside -inf, is not judged.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for name in op_names():
        op = find(name)
        parts.append(_formula(op) if isinstance(op, FormulaOp) else _by_hand(name))
    return "\n".join(parts)


def _formula(op: FormulaOp) -> str:
    source = inspect.getsource(op.calls)
    about = inspect.getdoc(op.source) or ""
    rows = [f"| {role} | {_role(op, role)} |" for role in (*op.roles, *op.outputs)]
    lines = [f"## {op.name}", "", about, "", "| role | array |", "|---|---|", *rows, ""]
    if op.scalars:
        lines += ["Scalars: " + ", ".join(f"`{k} = {v}`" for k, v in op.scalars.items()) + ".", ""]
    if op.forms:
        lines += ["Forms: " + ", ".join(f"`{form}`" for form in op.forms) + ".", ""]
    if op.seldom:
        ways = ", ".join(f"`{form}` (`{called}`)" for form, called in op.seldom.items())
        lines += [f"Seldom, where a claim or a call in the text says so: {ways}.", ""]
    if said := _names(op):
        lines += [f"A claim may name: {said}.", ""]
    if op.special:
        lines += ["Special values: " + ", ".join(f"`{k}` is `{v}`" for k, v in op.special.items()) + ".", ""]
    if op.where:
        lines += ["Sizes: " + ", ".join(f"`{rule}`" for rule in op.where) + ".", ""]
    return "\n".join([*lines, *("    " + line if line else "" for line in source.rstrip().split("\n")), ""])


def _names(op: FormulaOp) -> str:
    """The sums, narrow values and functions that a formula has names for."""
    kinds = (("sums", op.names.sums), ("kept", op.names.kept), ("functions", op.names.functions))
    return "; ".join(f"{kind} " + ", ".join(f"`{name}`" for name in names) for kind, names in kinds if names)


def _role(op: FormulaOp, role: str) -> str:
    given = op.roles.get(role)
    known = given or op.outputs[role]
    kind = "float" if known.is_float else "int"
    below = f" < {known.below}" if known.below else ""
    return f"`{kind}[{', '.join(known.dimensions)}]{below}`" + ("" if given else ", the answer")


def _by_hand(name: str) -> str:
    op = find(name)
    arrows = [f"`{role}[{', '.join(dims)}]`" for role, dims in op.INPUTS.items()]
    answers = [f"`{role}[{', '.join(dims)}]`" for role, dims in op.OUTPUTS.items()]
    about = inspect.getdoc(op) or ""
    arrays = f"Inputs {', '.join(arrows)}; answers {', '.join(answers)}. Its bounds are derived by hand."
    return f"## {name}\n\n{about}\n\n{arrays}\n"


if __name__ == "__main__":
    print(page(), end="")
