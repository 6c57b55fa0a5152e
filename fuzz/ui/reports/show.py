"""The text of a kernel's claim.

Knows how to put a claim into words; it does not know whether the claim holds.
"""

import difflib
from collections.abc import Iterator

from rich.text import Text

from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.axes import Axis
from kfuzz.claims.language.callables import lines_of
from kfuzz.claims.language.expression import Expression, show_sizes
from kfuzz.claims.language.formula_claims import ClaimedCounts
from kfuzz.common.text.exhibits import Exhibit
from kfuzz.kinds import KINDS
from kfuzz.oracle.accuracy.rounding import Accuracy, ExpModel
from kfuzz.ui.reports.claims import claim_notes
from kfuzz.ui.reports.inferred import inferred_parts
from kfuzz.ui.reports.listing import size_text, values_text

Section = tuple[str, list[tuple[str, str]]]


def sections(kernel: Kernel) -> Iterator[Section]:
    """Every part of the claim: a heading, then pairs of a name and what the claim says about it."""
    yield "axes", [(name, sizes_of(axis)) for name, axis in kernel.axes.items()]
    yield "tune", [(name, f"any of {values_text(values)}") for name, values in kernel.tune.items()]
    yield "where", [("", condition.text) for condition in kernel.where.conditions]
    yield "let", [(name, value.text) for name, value in kernel.let.items()]
    yield "arrays", [(name, f"{array}{role_of(array)}") for name, array in kernel.arrays.items()]
    if kernel.align < 256:
        yield "align", [("", f"bases may be aligned to no more than {kernel.align} bytes")]
    if kernel.warp_synchronous:
        yield "warps", [("", "the lanes of a warp run in step, as before Volta")]
    for number, launch in enumerate(kernel.launches, 1):
        if launch.called:
            yield "call", [*lines_of(launch.called).items(), *home_line(kernel)]
            continue
        if launch.on_host:
            yield "host", [("entry", launch.entry), ("args", launch.shown_args), *home_line(kernel)]
            continue
        lines = [
            ("entry", launch.entry),
            ("grid", ", ".join(size.text for size in launch.grid)),
            ("block", ", ".join(size.text for size in launch.block)),
            ("shared", f"{launch.shared.text} bytes"),
            ("args", launch.shown_args),
        ]
        if launch.cluster:
            lines.insert(2, ("cluster", f"{', '.join(size.text for size in launch.cluster)} blocks"))
        if launch.cooperative:
            lines.insert(2, ("cooperative", "all blocks run at once"))
        if launch.when:
            lines.insert(0, ("when", launch.when.text))
        yield f"launch {number}" if len(kernel.launches) > 1 else "launch", lines
    yield "accuracy", accuracy_lines(kernel)
    yield "values", values_lines(kernel)
    yield "claims", claims_lines(kernel)
    if kernel.broken:
        kind = kernel.broken.kind
        yield "broken", [("kind", f"{kind}: {KINDS[kind].sentence}"), ("why", kernel.broken.why)]


def home_line(kernel: Kernel) -> list[tuple[str, str]]:
    """The shape that the kernel was written for, if the claim names one."""
    return [("home", show_sizes(kernel.home, kernel.home))] if kernel.home else []


def sizes_of(axis: Axis) -> str:
    if axis.listed:
        return f"any of {values_text(axis.listed)}"
    by = f", multiples of {axis.multiple}" if axis.multiple > 1 else ""
    return f"{size_text(axis.lo)} to {size_text(axis.hi)}{by}"


def role_of(array: object) -> str:
    """A mark for scratch arrays, which have no arrow."""
    text = str(array)
    if "->" in text or "<-" in text:
        return ""
    return "  (scratch)" if "=" in text else "  (scratch, poisoned)"


def accumulators(models: Accuracy) -> str:
    """`f32; dw: bf16`."""
    return "; ".join([models.accumulate, *(f"{name}: {word}" for name, word in models.accumulators.items())])


def accuracy_lines(kernel: Kernel) -> list[tuple[str, str]]:
    claimed, models = kernel.rounding, kernel.rounding.models
    lines = [
        ("adds", count_text(claimed.adds, "as many as the sum has terms")),
        ("rescales", count_text(claimed.rescales, "as many as adds")),
        ("exp", exp_model(models.exp)),
        ("divide", models.divide),
        ("accumulate", accumulators(models)),
        ("atomics", "global, where denormals are flushed" if models.atomics == "global" else "none"),
        ("additions", "directed: each errs as two do" if models.additions == "directed" else "to nearest"),
        ("denominator", f"one for each {models.denominator}"),
    ]
    if models.shift != "any":
        lines.append(("shift", models.shift))
    if models.shift_slack:
        lines.append(("shift_slack", f"{models.shift_slack:g}"))
    lines += [("", f"inferred, not written: {part}") for part in inferred_parts(kernel)]
    lines += [("", note) for note in claim_notes(kernel)]
    if claimed.flags:
        denormals = "; denormals are flushed" if models.ftz else ""
        lines.append(("flags", " ".join(claimed.flags) + denormals))
    return lines


def count_text(claimed: ClaimedCounts, silent: str) -> str:
    """One count, or one for each named sum of a formula."""
    if claimed is None:
        return f"left out: {silent}"
    if isinstance(claimed, Expression):
        return f"at most {claimed.text}"
    return ", ".join(f"{name}: at most {each.text}" for name, each in claimed.items())


def exp_model(model: ExpModel) -> str:
    far = f" + {model.kappa:g} |t|" if model.kappa else ""
    scaled = "; of x log2(e) - m log2(e), in base 2" if model.base_two else ""
    return f"error at most {model.a0:g}{far} units of 2^-24{scaled}"


def values_lines(kernel: Kernel) -> list[tuple[str, str]]:
    special = kernel.special
    lines: list[tuple[str, str]] = []
    if kernel.finite:
        lines.append(("finite", "-inf is left out"))
    if kernel.value_range:
        lines.append(("range", "finite values from {:g} to {:g}".format(*kernel.value_range)))
    if special.all_neg_inf == "zero":
        lines.append(("all_neg_inf", "a row of nothing but -inf is zero"))
    words = {
        "row": "the whole row is NaN", "ieee": "as the op defines it", "ignore": "left out, as fmaxf does",
        "propagate": "as the op defines it, and a maximum over it is NaN",
    }  # fmt: skip
    for name, said in (("nan", special.nan), ("pos_inf", special.pos_inf)):
        if said:
            lines.append((name, words[said]))
    if special.ties != "any":
        lines.append(("ties", f"among equal elements, the {special.ties} is the answer"))
    return lines or [("", f"left out: what {kernel.shown_op} claims by default")]


def claims_lines(kernel: Kernel) -> list[tuple[str, str]]:
    """What users may rely on besides the answer to one input."""
    claims = kernel.claims
    every = [
        ("batches", "a row has the same bits in any batch", claims.batch_invariant),
        ("bits", "the same input gives the same bits in every run", claims.deterministic),
        ("bits", "the same input may give other bits in another run", claims.deterministic is False),
        ("graphs", "a call can be captured in a CUDA graph and replayed", claims.graphs),
        ("rounds", f"{' and '.join(claims.rounds)} must be rounded, in every answer", bool(claims.rounds)),
        ("streams", "calls on several streams do not disturb each other", claims.streams),
        ("indices", "one out of range is not followed, and changes no other answer", claims.checks_indices),
        ("rows", "it may write to rows that are not there", claims.writes_absent_rows),
    ]
    return [(name, said) for name, said, is_claimed in every if is_claimed]


def edits_text(exhibit: Exhibit) -> str:
    """The edits that make a right kernel wrong, as lines taken out and put in."""
    lines: list[str] = []
    for edit in exhibit.edits:
        old, new = edit.old.splitlines(), edit.new.splitlines()
        changes = list(difflib.unified_diff(old, new, lineterm="", n=1))[3:]
        lines += [f"edit of {exhibit.base.name}:", *changes]
    return "".join(f"{line}\n" for line in lines)


def as_text(kernel: Kernel, path: str) -> Text:
    """The kernel's prose, then its claim, one line a statement."""
    text = Text.assemble((kernel.name, "bold"), f"  {kernel.shown_op}  {path}\n\n{kernel.prose}\n")
    for heading, statements in sections(kernel):
        for index, (name, said) in enumerate(statements):
            text.append(f"\n{heading if index == 0 else '':<10} ", "bold")
            text.append(f"{name:<12} {said}" if name else said)
    return text
