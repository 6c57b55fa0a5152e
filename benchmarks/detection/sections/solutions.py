"""Solutions that language models wrote for problems of KernelBench."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.detection.solutions import STATUSES
from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, Lines, heading, long_table, table, text

WARNING = " (warning)"
FAR = 1000
"""An answer whose error is so many times that of torch in float32 does not compute the problem."""


def show(made: Measurement) -> Blocks:
    every = made.table("solutions")
    problems = len({one["problem"] for one in every})
    yield from text(
        f"{len(every)} unedited solutions of {problems} problems, by a dozen models, each against its problem.",
        f"Each had up to {made['cases']} trials on the cpu device. *kept*: nothing was found. *suspect*: warnings:",
        "at other sizes than the problem's, or where another order of the operations may give the answer. *broken*: an",
        "error. *cannot run*: no answer was judged.",
        f"{sum(is_short(one, made['cases']) for one in every)} of the kept ones had fewer trials: their time was up.",
    )
    yield from counts("language", every, "kind")
    yield from counts("problem", every, "problem")
    yield from counts("repository", every, "repository")
    yield from heading("What was found")
    kinds = Counter(kind for one in every if one["status"] != "cannot run" for kind in one["kinds"])
    yield from table("lr", ("kind", "solutions"), kinds.most_common())
    yield from heading("Why a solution cannot run")
    why = Counter(shortened(one["why"]) for one in every if one["status"] == "cannot run")
    reasons = [(name.replace("|", "/"), count) for name, count in why.most_common()]
    often = [(name, count) for name, count in reasons if count > 1]
    yield from long_table("lr", ("reason", "solutions"), reasons, tuple, often, "those of more than one solution")
    if wide := [one["in_float64"] for one in every if one["in_float64"].get("elements")]:
        elements, wrong, agree = (sum(one[name] for one in wide) for name in ("elements", "wrong", "agree"))
        yield from text(
            f"{elements} elements that kfuzz calls wrong, of {len(wide)} solutions, went through the model",
            f"in float64, with the inputs of the finding: {wrong} are wrong, and {agree} of kfuzz's values are right.",
        )
    if answered := [one for one in every if one["status"] == "kept" and one["at_home"]]:
        yield from at_home(answered)
    if checked := [one for one in every if one["on_gpu"]]:
        yield from on_gpu(checked)
    yield from made.note()


def is_short(one: Record, cases: int) -> bool:
    return one["status"] == "kept" and one["trials"] < cases


def counts(title: str, every: Sequence[Record], column: str) -> Lines:
    """How many solutions of each group have which status."""
    groups = dict.fromkeys(sorted(one[column] for one in every))
    found = Counter((one[column], one["status"]) for one in every)
    rows = ((name, *(found[name, status] for status in STATUSES)) for name in groups)
    total = ("all", *(sum(found[name, status] for name in groups) for status in STATUSES))
    yield from table("lrrrr", (title, *STATUSES), [*rows, total])


def shortened(why: str) -> str:
    """A reason without the name of the file, and without the first part of an answer that was refused."""
    why = why.partition(".py: ")[2] or why.partition(".py:")[2].partition(": ")[2] or why
    return why.partition(" was judged: ")[2] or why


def at_home(answered: Sequence[Record]) -> Lines:
    """Kept solutions whose answers on the cpu device were compared with float64."""
    far = [one for one in answered if is_far(one["at_home"])]
    times = sorted(ratio for one in answered if (ratio := ratio_of(one["at_home"])) is not None)
    yield from text(
        f"{len(answered)} kept solutions answered usual numbers on the cpu device, at the problem's own sizes or at",
        "smaller ones like them, and so did the model in float64. The error is |y - exact| / |exact| in 2-norms, as a",
        f"multiple of that of torch in float32: the median is {times[len(times) // 2]:.3g}, the largest",
        f"{times[-1]:.3g}, and {len(far)} are over {FAR} or no number.",
    )


def on_gpu(checked: Iterable[Record]) -> Lines:
    """The solutions that torch built and ran on a GPU."""
    yield from heading("The same on a GPU, against float64")
    yield from text(
        "torch built these with nvcc, gave them the inputs of the problem's `get_inputs` at the problem's own sizes,",
        "and computed the problem's model in float64, with the same weights. The error is |y - exact| / |exact| in",
        "2-norms, as a multiple of that of torch in float32. *accepted*: by the benchmark's own test, allclose with",
        "1e-4. Usual inputs do not show what goes wrong for other values, in other orders of threads, or outside of",
        "an array.",
    )
    rows = []
    for status in STATUSES:
        own = [one for one in checked if one["status"] == status]
        ran = [one for one in own if one["on_gpu"]["ran"]]
        times = sorted(ratio for one in ran if (ratio := ratio_of(one["on_gpu"])) is not None)
        far = [one for one in ran if is_far(one["on_gpu"])]
        middle = f"{times[len(times) // 2]:.3g}" if times else "-"
        rows.append((status, len(own), len(ran), sum(one["on_gpu"]["accepted"] for one in ran), middle,
                     f"{times[-1]:.3g}" if times else "-", len(far)))  # fmt: skip
    yield from table("lrrrrrr", ("status", "tried", "ran", "accepted", "median error", "largest", f"over {FAR}"), rows)
    kept = [one for one in checked if one["status"] == "kept"]
    odd = [one for one in kept if not one["on_gpu"]["ran"] or is_far(one["on_gpu"])]
    inside = [one for one in odd if one["on_gpu"]["ran"] and is_in_any_order(one["on_gpu"])]
    contradicted = [one for one in odd if one not in inside]
    accused = [one for one in checked if one["status"] in ("suspect", "broken")]
    seen = [one for one in accused if is_wrong(one)]
    yield from text(
        f"{len(kept) - len(odd)} of {len(kept)} kept solutions are right there: their error is at most {FAR}.",
        f"{len(inside)} more add many terms one after another, which kfuzz's bound allows; their largest error, as a",
        "part of a textbook's bound of a sum in any order, in float64:",
    )
    yield from table("lrr", ("solution", "error", "of the bound"), map(cells_of_order, inside))
    yield from text("The others:")
    yield from table("lrl", ("solution", "error", "on the GPU"), map(cells_of_kept, contradicted))
    yield from text(
        f"Of {len(accused)} suspect or broken ones, {len(seen)} do not run there, are wrong there or have a wrong",
        "element in float64 (above). The others, with what kfuzz says of them:",
    )
    rest = [one for one in accused if one not in seen]
    yield from table("lllrl", ("solution", "status", "findings", "error", "kfuzz's words"), map(cells, rest))


def cells(one: Record) -> tuple[str, ...]:
    """A solution about which the two disagree, or seem to."""
    words = one["why"].replace("|", "/")
    return one["key"], one["status"], ", ".join(one["kinds"]), shown(ratio_of(one["on_gpu"])), words


def cells_of_order(one: Record) -> tuple[str, ...]:
    """A kept solution whose error a sum in any order may have."""
    found = one["on_gpu"]
    return one["key"], shown(ratio_of(found)), f"{found['of_any_order']:.2g}"


def is_in_any_order(found: dict[str, Any]) -> bool:
    """Whether its error lies in the bound of a sum in any order, where that is one."""
    part = found.get("of_any_order")
    return part is not None and part <= 1


def cells_of_kept(one: Record) -> tuple[str, ...]:
    """A kept solution that the GPU contradicts."""
    found = one["on_gpu"]
    return one["key"], shown(ratio_of(found)) if found["ran"] else "-", found.get("why", "").replace("|", "/")


def ratio_of(found: dict[str, Any]) -> float | None:
    """Its error over that of torch; None if it has none, as an answer with NaN has."""
    error, single = found.get("error"), found.get("single")
    return None if error is None or single is None else error / max(single, 1e-9)


def is_far(found: dict[str, Any]) -> bool:
    ratio = ratio_of(found)
    return ratio is None or ratio > FAR


def is_wrong(one: Record) -> bool:
    """Whether the GPU or float64 shows that a solution is wrong; one that torch answers does not run there."""
    found = one["on_gpu"]
    return (
        not found["ran"] or is_far(found) or found.get("changes_inputs", False) or bool(one["in_float64"].get("wrong"))
    )


def shown(ratio: float | None) -> str:
    return "no number" if ratio is None else f"{ratio:.3g}"
