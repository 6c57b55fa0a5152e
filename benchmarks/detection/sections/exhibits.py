"""Which device sees which broken kernel, and which rule in use elsewhere rejects it."""

from collections.abc import Mapping

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, heading, table, text

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


def show(made: Measurement) -> Lines:
    yield from text(
        "Every kernel of `kernels/broken/` has one defect, and its front matter names the finding that must be",
        "reported for it.",
    )
    yield from heading("Our devices")
    yield from text(DEVICES)
    devices, every = made["devices"], made.table("kernels")
    yield from table("ll" + "l" * len(devices), ("kernel", "named", *devices), (
        (f"`{one['kernel']}`", one["named"], *(show_findings(one[name], one["named"]) for name in devices))
        for one in every
    ))  # fmt: skip
    if tried := made.table("seeds"):
        yield from show_seeds(made["seeds"], {one["kernel"]: one["found"] for one in tried})
    yield from heading("The rules in use elsewhere")
    yield from text(OTHERS)
    yield from show_rivals(made)


def show_findings(seen: Mapping[str, int] | None, named: str) -> str:
    """The named kind first, in bold, then other findings."""
    if seen is None:
        return "not run"
    ordered = sorted(seen, key=lambda kind: (kind != named, seen[kind]))
    return ", ".join(f"**{kind}** {seen[kind]}" if kind == named else f"{kind} {seen[kind]}" for kind in ordered) or "-"


def show_seeds(seeds: list[str], found: Mapping[str, Mapping[str, int]]) -> Lines:
    """One row for each kernel, and the number of kernels that each seed finds."""
    yield from heading("On a GPU, from three more seeds")
    yield from text("The number of the first trial that shows the named finding, in campaigns of 300 trials.")
    counts = [sum(seed in one for one in found.values()) for seed in seeds]
    yield from table("l" + "r" * len(seeds), ("kernel", *seeds), [
        *((f"`{name}`", *(one.get(seed, "-") for seed in seeds)) for name, one in found.items()),
        (f"found, of {len(found)}", *counts),
    ])  # fmt: skip


def show_rivals(made: Measurement) -> Lines:
    """One row for each kernel, and one for all of them."""
    rivals = made["rivals"]
    asked = [one["rejected"] for one in made.table("rivals") if one["rejected"]]
    yield from table("l" + "r" * len(rivals), ("kernel", *rivals), [
        *(
            (f"`{one['kernel']}`", *(one["rejected"][name] or "-" if one["rejected"] else "" for name in rivals))
            for one in made.table("rivals")
        ),
        (f"seen, of {len(asked)}", *(sum(one[name] > 0 for one in asked) for name in rivals)),
    ])  # fmt: skip
