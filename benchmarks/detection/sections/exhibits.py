"""Which device sees which broken kernel, and which rule in use elsewhere rejects it."""

from collections.abc import Mapping, Sequence

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, heading, long_table, text

DEVICES = """
A cell lists the findings of the first trials of a campaign (seed 0), each with the number of the first trial that shows
it; the named finding is in bold. Some defects leave no trace in a GPU's results: a barrier or a fence that the hardware
happens not to need, or a read next to a shared array whose value is not used. The cpu device finds those."""
OTHERS = """
The same kernels, on the cpu device, with the inputs and tolerances of
[the run of every bug](#planted-bugs-every-bug-of-29-float32-kernels-compared-with-the-rules-of-others).
A cell has the launch at which each rule first rejects an answer, - if it accepts all of them, and nothing if it is not
asked because its tolerances are for float32. A launch that crashes or never ends counts as rejected. *gpuemu,
adversarial values* is left out: it rejects every kernel, correct ones too."""


def show(made: Measurement) -> Blocks:
    yield from text(
        "Every kernel of `kernels/broken/` has one defect, and its front matter names the finding that must be",
        "reported for it.",
    )
    yield from heading("Our devices")
    yield from text(DEVICES)
    yield from show_devices(made["devices"], made.table("kernels"))
    if tried := made.table("seeds"):
        yield from show_seeds(made["seeds"], {one["kernel"]: one["found"] for one in tried})
    yield from heading("The rules in use elsewhere")
    yield from text(OTHERS)
    yield from show_rivals(made)


def show_devices(devices: Sequence[str], every: Sequence[Record]) -> Blocks:
    """One row for each kernel, and on how many of those that it ran each device shows what is named."""
    counts = []
    for name in devices:
        ran = [one for one in every if one[name] is not None]
        counts.append(f"{sum(one['named'] in one[name] for one in ran)} of {len(ran)}")
    missed = [one for one in every if any(one[name] is not None and one["named"] not in one[name] for name in devices)]
    yield from long_table(
        "ll" + "l" * len(devices), ("kernel", "named", *devices), every,
        lambda one: (
            f"`{one['kernel']}`", one["named"], *(show_findings(one[name], one["named"]) for name in devices)
        ),
        missed, "those that a device ran without showing what is named", [("named finding shown", "", *counts)],
    )  # fmt: skip


def show_findings(seen: Mapping[str, int] | None, named: str) -> str:
    """The named kind first, in bold, then other findings."""
    if seen is None:
        return "not run"
    ordered = sorted(seen, key=lambda kind: (kind != named, seen[kind]))
    return ", ".join(f"**{kind}** {seen[kind]}" if kind == named else f"{kind} {seen[kind]}" for kind in ordered) or "-"


def show_seeds(seeds: list[str], found: Mapping[str, Mapping[str, int]]) -> Blocks:
    """One row for each kernel, and the number of kernels that each seed finds."""
    yield from heading("On a GPU, from three more seeds")
    yield from text("The number of the first trial that shows the named finding, in campaigns of 300 trials.")
    counts = [sum(seed in one for one in found.values()) for seed in seeds]
    yield from long_table(
        "l" + "r" * len(seeds), ("kernel", *seeds), found,
        lambda name: (f"`{name}`", *(found[name].get(seed, "-") for seed in seeds)),
        [name for name, one in found.items() if len(one) < len(seeds)], "those that a seed misses",
        [(f"found, of {len(found)}", *counts)],
    )  # fmt: skip


def show_rivals(made: Measurement) -> Blocks:
    """One row for each kernel, and one for all of them."""
    rivals, every = made["rivals"], made.table("rivals")
    asked = [one for one in every if one["rejected"]]
    yield from long_table(
        "l" + "r" * len(rivals), ("kernel", *rivals), every,
        lambda one: (
            f"`{one['kernel']}`", *(one["rejected"][name] or "-" if one["rejected"] else "" for name in rivals)
        ),
        [one for one in asked if not any(one["rejected"][name] for name in rivals)], "those that all rules accept",
        [(f"seen, of {len(asked)}", *(sum(one["rejected"][name] > 0 for one in asked) for name in rivals))],
    )  # fmt: skip
