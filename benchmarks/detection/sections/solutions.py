"""Verdicts of `kfuzz judge` on solutions that language models and people wrote, who is right, and what rivals decide.

Those of people are known by their problems: LeetGPU's challenges.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any, Literal

from benchmarks.detection.intervals import LEVEL, share_in_words
from benchmarks.detection.solutions import STATUSES
from benchmarks.detection.solutions_of_people import CHALLENGES
from benchmarks.detection.solutions_on_gpu import OPEN
from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, Lines, heading, long_table, table, text

OF_MODELS = "answers of language models to KernelBench, the first of a draw ([solutions_drawn.py](solutions_drawn.py))"
OF_PEOPLE = "CUDA files of people for challenges of LeetGPU ([solutions_of_people.py](solutions_of_people.py))"
FAR, FAR_IN_TF32 = 1000, 4
"""An answer whose error is so many times that of torch, in float32 and with operands in TF32, does not compute the
problem."""
LEAST = 1e-9
"""An error of torch that counts as this, where it is smaller."""
Truth = Literal["right", "wrong", "open"]
ACCUSED = ("broken", "misbehaved")


def show(made: Measurement) -> Blocks:
    every = made.table("solutions")
    problems, sources = (len({one[name] for one in every}) for name in ("problem", "repository"))
    seconds = sorted(one["seconds"] for one in every)
    late = seconds[len(seconds) * 9 // 10]
    is_of_people = {one["problem"] for one in every} <= {one.name for one in CHALLENGES}
    yield from text(
        f"{len(every)} unedited {OF_PEOPLE if is_of_people else OF_MODELS}, of {problems} problems, from {sources}",
        f"repositories. `kfuzz judge` with the budget of {made['budget']:g} seconds, in the sandbox; *suspect* and the",
        f"statuses after it are no success. A verdict took {median(seconds):.0f} s in the median, and {late:.0f} s at",
        f"the 90th percentile. The clock ended {sum(one['is_cut_short'] for one in every)} of them early.",
    )
    if is_of_people:
        yield from rejected(every)
    for title, column in (("language", "language"), ("repository", "repository")):
        yield from counts(title, every, column)
    yield from heading("What was found")
    kinds = Counter(one["kind"] for one in every if one["status"] in (*ACCUSED, "suspect"))
    yield from table("lr", ("kind", "solutions"), kinds.most_common())
    yield from heading("Why there is no verdict")
    why = Counter(reason_of(one) for one in every if one["status"] in ("not judged", "cannot run"))
    often = [(name, count) for name, count in why.most_common() if count > 1]
    yield from long_table("lr", ("reason", "solutions"), why.most_common(), tuple, often, "those of more than one")
    if wide := [one["in_float64"] for one in every if "wrong" in one["in_float64"]]:
        yield from text(
            f"{len(wide)} elements that kfuzz calls wrong went through the model in float64, with the inputs of the",
            f"finding: {sum(one['wrong'] for one in wide)} are wrong, and {sum(one['agrees'] for one in wide)} of",
            "kfuzz's intervals are right.",
        )
    if reached := [number for number, one in enumerate(every, 1) if one["on_gpu"]]:
        checked = every[: reached[-1]]
        yield from rates(checked)
        yield from beside_rivals(checked)
    yield from made.note()


def rejected(every: Sequence[Record]) -> Lines:
    """The solutions that are called wrong, and what float64 says of the element."""
    accused = [one for one in every if one["status"] in ACCUSED]
    yield from text(f"Rejected: {share_in_words(len(accused), len(every))}, at {LEVEL:.0%}. Each of them:")
    said = {True: "wrong", False: "right", None: "-"}
    rows = (
        (one["key"], one["repository"], one["kind"], said[one["in_float64"].get("wrong")], one["why"].replace("|", "/"))
        for one in accused
    )
    yield from table("lllll", ("solution", "repository", "kind", "in float64", "kfuzz's words"), rows)


def counts(title: str, every: Sequence[Record], column: str) -> Lines:
    """How many solutions of each group have which status."""
    groups = sorted({one[column] for one in every})
    found = Counter((one[column], one["status"]) for one in every)
    rows = ((name, *(found[name, status] for status in STATUSES)) for name in groups)
    total = ("all", *(sum(found[name, status] for name in groups) for status in STATUSES))
    yield from table("l" + "r" * len(STATUSES), (title, *STATUSES), [*rows, total])


def reason_of(one: Record) -> str:
    """Why there is no verdict, without the name of the file."""
    why: str = one["why"]
    return (why.partition(".py: ")[2] or why.partition(".py:")[2].partition(": ")[2] or why).replace("|", "/")


def truth_of(one: Record) -> Truth:
    """Whether a solution is right, by the GPU and by float64 and without kfuzz; usual inputs do not show all errors."""
    found = one["on_gpu"]
    why = found.get("why", "")
    if one["in_float64"].get("wrong"):
        return "wrong"
    if not found:
        return "open"
    if not found["ran"]:
        return "open" if why.startswith(OPEN) else "wrong"
    if is_far(found) and not (found.get("of_any_order") or 2) <= 1:
        return "wrong"
    return "wrong" if found.get("changes_inputs") else "right"


def ratio_of(found: dict[str, Any]) -> float | None:
    """Its error over that of torch; None if it has none, as an answer with NaN has."""
    error, single = found.get("error"), found.get("single")
    return None if error is None or single is None else error / max(single, LEAST)


def is_far(found: dict[str, Any]) -> bool:
    ratio = ratio_of(found)
    return ratio is None or (ratio > FAR and found["error"] > FAR_IN_TF32 * (found.get("tf32") or 0.0))


def rates(checked: Sequence[Record]) -> Lines:
    """False accepts and false rejects among the solutions that were checked."""
    yield from heading("The same on a GPU, and in float64")
    yield from text(
        f"The first {len(checked)} of the draw: torch built them with nvcc, gave them the inputs of `get_inputs` at",
        "the problem's own sizes, and computed the model in float64, with the same weights. *wrong*: it does not",
        f"build or run there, its error in 2-norms is over {FAR} times that of torch in float32 and over {FAR_IN_TF32}",
        "times that of torch with operands in TF32, it changes its inputs, or the",
        "element that kfuzz calls wrong is wrong in float64. *open*: it was stopped, its problem fails,",
        "draws random numbers or has several answers, or the time was over before",
        f"({sum(not one['on_gpu'] for one in checked)} of them).",
        "Usual inputs do not show what goes wrong for other values, in other orders of threads, or outside of an",
        "array: a right one that kfuzz accuses is listed below with kfuzz's words.",
    )
    found = Counter((truth_of(one), one["status"]) for one in checked)
    truths: tuple[Truth, ...] = ("right", "wrong", "open")
    rows = ((truth, *(found[truth, status] for status in STATUSES)) for truth in truths)
    yield from table("l" + "r" * len(STATUSES), ("on the GPU and in float64", *STATUSES), rows)
    of = {truth: sum(found[truth, status] for status in STATUSES) for truth in truths}
    rejected, accused = (sum(found[truth, status] for status in ACCUSED) for truth in ("right", "wrong"))
    accepted = found["wrong", "kept"]
    yield from text(
        f"False accepts: {share_in_words(accepted, of['wrong'])} of the wrong ones, and",
        f"{share_in_words(accepted, accepted + found['right', 'kept'])} of those that are kept.",
        f"False rejects, at most: {share_in_words(rejected, of['right'])} of the right ones, and",
        f"{share_in_words(rejected, rejected + accused)} of those that are accused. The intervals are those of Clopper",
        f"and Pearson at {LEVEL:.0%}.",
    )
    odd = [one for one in checked if is_odd(one)]
    head = ("solution", "status", "kind", "error", "on the GPU", "kfuzz's words")
    yield from table("lllrll", head, map(cells, odd))


def is_odd(one: Record) -> bool:
    """Whether the checks contradict a verdict."""
    return truth_of(one) == ("wrong" if one["status"] == "kept" else "right") and one["status"] in ("kept", *ACCUSED)


def cells(one: Record) -> tuple[str, ...]:
    """A solution about which the two disagree, or seem to."""
    found = one["on_gpu"]
    ratio = ratio_of(found)
    shown = "-" if not found.get("ran") else "no number" if ratio is None else f"{ratio:.3g}"
    words = (found.get("why", ""), one["why"])
    return one["key"], one["status"], one["kind"], shown, *(each.replace("|", "/") for each in words)


Decides = Callable[[Record], bool | None]
"""Whether a judge accepts a solution; None without a decision."""


def beside_rivals(checked: Sequence[Record]) -> Lines:
    """What each judge decides, beside what is right."""
    judges: tuple[tuple[str, Decides, Callable[[Record], float | None]], ...] = (
        ("kfuzz judge", by_kfuzz, lambda one: one["seconds"]),
        ("KernelBench's own test", by_own_test("accepted"), own_seconds),
        ("the same with 1e-2", by_own_test("accepted_loosely"), own_seconds),
        ("kernelguard 0.3.2", by_kernelguard, lambda one: one["by_text"].get("seconds")),
    )
    yield from heading("Beside rivals")
    yield from text(
        "The same solutions by KernelBench's own test, on the GPU (its seconds are those of the five trials, and a",
        "build that it shares with the check above), and by kernelguard, which reads the text alone and looks for",
        "hacks, not for errors.",
    )
    rows = [row_of(name, decides, seconds, checked) for name, decides, seconds in judges]
    columns = ("judge", "accepts right", "accepts wrong", "rejects right", "rejects wrong", "no decision", "s, median")
    yield from table("lrrrrrr", columns, rows)
    both = [one for one in checked if truth_of(one) != "open" and None not in (by_kfuzz(one), judges[1][1](one))]
    apart = [one for one in both if by_kfuzz(one) != judges[1][1](one)]
    ours = sum(by_kfuzz(one) == (truth_of(one) == "right") for one in apart)
    yield from text(
        f"kfuzz and KernelBench's own test both decide {len(both)} that are right or wrong, and differ in",
        f"{len(apart)}: in {ours} kfuzz is right, in {len(apart) - ours} the other.",
    )


def row_of(
    name: str, decides: Decides, seconds: Callable[[Record], float | None], checked: Sequence[Record]
) -> tuple[str | int, ...]:
    """The decisions of a judge."""
    found = Counter((decides(one), truth_of(one)) for one in checked)
    pairs: Iterator[tuple[bool, Truth]] = ((yes, truth) for yes in (True, False) for truth in ("right", "wrong"))  # type: ignore[misc]
    taken = [each for one in checked if (each := seconds(one)) is not None]
    none = sum(count for (decided, _), count in found.items() if decided is None)
    return name, *(found[pair] for pair in pairs), none, f"{median(taken):.2g}" if taken else "-"


def by_kfuzz(one: Record) -> bool | None:
    return True if one["status"] == "kept" else False if one["status"] in ACCUSED else None


def by_own_test(name: str) -> Decides:
    def decide(one: Record) -> bool | None:
        found = one["on_gpu"]
        if not found or (not found["ran"] and found.get("why", "").startswith(OPEN)):
            return None
        return bool(found.get(name, False))

    return decide


def by_kernelguard(one: Record) -> bool | None:
    return not one["by_text"]["filtered"] if one["by_text"] else None


def own_seconds(one: Record) -> float | None:
    found = one["on_gpu"]
    return found["build_seconds"] + found["own_seconds"] if "own_seconds" in found else None
