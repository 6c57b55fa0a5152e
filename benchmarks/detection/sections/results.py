"""How many planted bugs kfuzz finds, and, where rivals were asked, how many they find."""

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, Lines, heading, long_table, table, text
from kfuzz.measure.mutants.mutate import operators

COUNTS = ("compiled", "killed", "warned", "survived", "equivalent")
COLUMNS = ("compiled", "killed", "of them by a warning", "survived", "equivalent", "median trials")
RIVALS = """
Each rule judges the same mutants on the same device. The rules have tolerances for float32, so the kernels are those
that use float32 throughout. The rules are rebuilt from their published descriptions, and the sizes are cut down to what
a processor can simulate. Each rule is also credited for every launch that crashes or hangs, and gets only the sizes and
values that the kernel claims. A rule accuses a correct kernel if it rejects one of its answers; it finds a mutant if it
rejects the mutant on an input on which it accepts the correct kernel. A mutant that never ends is credited to each rule
without a run. The seconds of kfuzz include compiling, those of the rules do not. Where a description leaves something
open, we chose: the cases that LeetGPU's authors pick by hand, the tolerance that gpuemu gives an op, llm.c's 1e-1 for
matrices, and that flashinfer-bench rejects a NaN on one side."""
STATED = ("day", "machine", "device")
"""Facts of the provenance that the first line of the section has, or that never differ."""


def show(made: Measurement) -> Blocks:
    versions = "; ".join(value for name, value in made["provenance"].items() if name not in STATED)
    yield from text(
        f"Each mutant has up to {made['max_cases']} trials on the cpu device. Seed {made['seed']} and the sources",
        f"determine all figures but the seconds. {versions}.",
    )
    if made.table("rivals"):
        yield from heading("Compared with the rules of others")
        yield from show_rivals(made)
    yield from heading("Mutants")
    yield from show_summary(made)
    if made["without"]:
        yield from text(f"No mutant is made of {', '.join(made['without'])}: they only include other kernels here.")
    yield from heading("What killed them")
    yield from table("lrr", ("finding", "errors", "warnings"), (one.values() for one in made.table("findings")))
    yield from table("lr", ("trials to kill", "mutants"), (
        (one["first"] if one["first"] == one["last"] else f"{one['first']} to {one['last']}", one["mutants"])
        for one in made.table("spans")
    ))  # fmt: skip
    kernels, used = made.table("kernels"), [one for one in made.table("operators") if one["compiled"]]
    docs = {name: (operator.__doc__ or "").split("\n")[0] for name, operator in operators().items()}
    yield from heading("By kernel")
    yield from long_table(
        "lrrrrrr", ("kernel", *COLUMNS), kernels, cells, filter(has_survivor, kernels), "those with a survivor"
    )
    yield from heading("By operator")
    yield from long_table(
        "lrrrrrrl", ("operator", *COLUMNS, ""), used, lambda one: (*cells(one), docs.get(one["name"], "")),
        filter(has_survivor, used), "those with a survivor",
    )  # fmt: skip
    if left := made.table("survivors"):
        yield from text(
            f"`data/` lists the {sum(len(one['mutants']) for one in left)} mutants that survive or are equivalent,",
            "each with its reason.",
        )


def has_survivor(one: Record) -> bool:
    return bool(one["survived"])


def cells(one: Record) -> tuple[object, ...]:
    """The counts of a kernel or an operator."""
    return (one["name"], *(one[name] for name in COUNTS), f"{one['median']:g}")


def show_summary(made: Measurement) -> Lines:
    """The main figures."""
    most, left = made["per_operator"], made["compiled"] - made["equivalent"]
    killed = made["killed"] + made["warned"]
    some = (
        f"{made['mutants']} mutants, at most {most} of each sort and kernel,"
        if most
        else f"All {made['mutants']} mutants"
    )
    yield from text(
        f"{some} that {made['of_operators']} operators make of {made['of_kernels']} correct kernels;",
        f"{made['compiled']} of them compile ({made['stillborn']} are stillborn).",
    )
    yield from table("lr", ("", ""), (
        ("compiled, and not equivalent to their kernel", left),
        ("killed by an error", f"{made['killed']} ({made['killed'] / max(1, left):.2%})"),
        ("killed by a warning that the kernel itself never shows", made["warned"]),
        ("**killed**", f"**{killed} ({killed / max(1, left):.2%})**"),
        ("median trials to kill", f"{made['median']:g}"),
        ("survived, within the claim", made["within"]),
        ("survived, out of reach", made["out_of_reach"]),
        ("survived, unexplained", made["unexplained"]),
        ("equivalent: no bit differs where the claim speaks, and a reason is written down", made["equivalent"]),
        (f"unmutated kernels accused, in {made['trials']} trials", made["accused"]),
        ("seconds of one process, compiling included", f"{made['seconds']:.0f}"),
    ))  # fmt: skip
    yield from text(
        "A warning is a race in which all threads write the same value, or a barrier that threads reach at different",
        f"places. The mutation made it, and {made['identical']} of these {made['warned']} mutants gave their kernel's",
        "own answers, bit for bit, in every run. Mutants *within the claim* give only answers that the claim allows,",
        "as the reason shows; they count as not killed. So do those *out of reach*: they are wrong only where hardly",
        "any trial comes, or none.",
    )
    for mutant in made["wrongly_excused"]:
        yield from text(f"A reason says that it survives, and it does not: {mutant}")
    for why, names in made["idle"].items():
        yield from text(f"Operators that {why}: {', '.join(names)}.")


def show_rivals(made: Measurement) -> Lines:
    """Detection and false alarms of each rule, kfuzz first."""
    ours, *theirs = made.table("rivals")
    columns = ("", "mutants found", "", "rejected", "correct kernels accused", "trials", "seconds")
    yield from text(RIVALS)
    yield from table("lrrrrrr", columns, [
        (f"**{ours['name']}**", f"**{ours['found']}**", f"**{ours['share']:.1%}**", ours["rejected"],
         f"**{ours['accused']} of {ours['kernels']}**", ours["trials"], f"{ours['seconds']:.0f}"),
        *(
            (one["name"], one["found"], f"{one['share']:.1%}", one["rejected"], f"{one['accused']} of {one['kernels']}",
             one["trials"], f"{one['seconds']:.0f}")
            for one in theirs
        ),
    ])  # fmt: skip
    yield from (f"- *{one['name']}*: {one['source']}." for one in theirs)
    missed = made.table("only_theirs")
    yield ""
    yield from text(f"Mutants that one of these rules finds and kfuzz does not: {len(missed)}.")
    yield from (f"- {one['rival']}: {one['mutant']}" for one in missed)
