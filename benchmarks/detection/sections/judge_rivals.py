"""`kfuzz judge` beside rivals that need no GPU: what each decides, its seconds, and who is right where they differ."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from benchmarks.detection.judge_rivals import ACCEPTS, BY_TEXT, JUDGES, LOOSE, OURS, REJECTS, SILENT
from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, Lines, heading, long_table, table, text

KINDS = {"triton": "in Triton", "torch": "in plain torch", "cheat": "our cheats", "right twin": "their right twins"}
DECISIONS = (ACCEPTS, REJECTS, SILENT)


def show(made: Measurement) -> Blocks:
    every = made.table("decisions")
    answers = {one["key"]: one for one in every}
    drawn, ours = (len([1 for one in answers.values() if (one["repository"] == OURS) is own]) for own in (False, True))
    yield from text(
        f"{drawn} answers of language models to KernelBench, the first in Triton and the first in plain torch of a",
        f"draw by seed ([solutions_drawn.py](solutions_drawn.py)), and {ours} exhibits of our own: the cheats and",
        "right twins in torch of tests/fuzz/devices/sandbox/test_cheats.py, and tests/data/cheats. They are tests of",
        "kfuzz, so they do not say how many cheats it finds. The judges ran one after the other on one machine, each",
        f"with {made['seconds']:.0f} seconds for an answer ([judge_rivals.py](judge_rivals.py)). ttsem is",
        "for Triton alone, and KernelBench's own test needs a GPU for all but plain torch. kernelguard reads the text",
        "and looks for hacks, not for errors, so it accepts none. *Says nothing*: suspect, not judged or cannot run",
        "(kfuzz), not judged or too slow (ttsem), not asked (KernelBench), no hack (kernelguard), or not in time.",
    )
    yield from table("llrrrrr", ("answers", "judge", *DECISIONS, "s, median", "s, most"), summary(every))
    yield from differences(made)
    if exact := made.table("float64"):
        yield from heading("At the problem's own inputs, in float64")
        yield from text("The answers in torch, on the CPU: the error in 2-norms, beside that of torch in float32.")
        yield from long_table("lrrl", ("answer", "error", "torch", "notes"), exact, in_float64, exact[:5], "the first")
    yield from made.note()
    yield from heading("Each decision")
    columns = ("answer", "from", "judge", "decision", "s", "its words")
    shown = [one for one in every if one["decision"] == SILENT and one["judge"] != BY_TEXT]
    yield from long_table("llllrl", columns, every, cells, shown, "those that say nothing, without kernelguard's")


def kind_of(one: Record) -> str:
    """What an answer counts as; our exhibits have their sort in the place of a commit."""
    return one["commit"] if one["repository"] == OURS else one["language"]


def summary(every: Sequence[Record]) -> Iterator[tuple[object, ...]]:
    """The decisions and seconds of each judge about each kind."""
    for kind, words in KINDS.items():
        for judge in JUDGES:
            mine = [one for one in every if kind_of(one) == kind and one["judge"] == judge.name]
            if mine:
                found, seconds = Counter(one["decision"] for one in mine), [one["seconds"] for one in mine]
                spent = ("as above",) * 2 if judge.name == LOOSE else (f"{median(seconds):.1f}", f"{max(seconds):.1f}")
                yield (f"{len(mine)} {words}", judge.name, *(found[each] for each in DECISIONS), *spent)


def differences(made: Measurement) -> Lines:
    """The answers about which judges do not say the same, and who is right; a text without a hack counts for none."""
    said = defaultdict[str, dict[str, str]](dict)
    for one in made.table("decisions"):
        if one["judge"] != BY_TEXT or one["decision"] == REJECTS:
            said[one["key"]][one["judge"]] = one["decision"]
    apart = {key: found for key, found in said.items() if len({*found.values()}) > 1}
    read = {one["key"]: one for one in made.table("read")}
    yield from heading("Where the judges do not say the same")
    right = {"right": ACCEPTS, "wrong": REJECTS}
    found = Counter(
        (name, "none" if each == SILENT else "right" if each == right.get(read[key]["truth"]) else "wrong")
        for key, judges in apart.items() if read.get(key, {}).get("truth") in right
        for name, each in judges.items()
    )  # fmt: skip
    yield from text(
        f"{len(apart)} of {len(said)} answers. Which are right was read from float64, their inputs and their texts.",
    )
    yield from table("lrrr", ("judge", "right there", "wrong there", SILENT), (
        (one.name, *(found[one.name, each] for each in ("right", "wrong", "none"))) for one in JUDGES
        if any(name == one.name for name, _ in found)
    ))  # fmt: skip
    yield from table("lllll", ("answer", ACCEPTS, REJECTS, SILENT, "the answer is"), (
        (key, *(", ".join(name for name, each in judges.items() if each == one) for one in DECISIONS), truth(read, key))
        for key, judges in apart.items()
    ))  # fmt: skip


def truth(read: dict[str, Record], key: str) -> str:
    return f"{read[key]['truth']}: {read[key]['why']}".replace("|", "/") if key in read else "not read"


def in_float64(one: Record) -> tuple[str, ...]:
    found = one["found"]
    numbers = (f"{found[name]:.2g}" if found.get(name) is not None else "-" for name in ("error", "single"))
    notes = [found.get("why", ""), "changes its inputs" if found.get("changes_inputs") else ""]
    return one["key"], *numbers, "; ".join(filter(None, notes)).replace("|", "/")[:120]


def cells(one: Record) -> tuple[object, ...]:
    source = f"{one['repository']}: {one['file']}"
    return one["key"], source, one["judge"], one["decision"], one["seconds"], one["words"].replace("|", "/")
