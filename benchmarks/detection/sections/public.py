"""Public programs, run as they are."""

from benchmarks.measurement import Measurement
from benchmarks.page import Blocks, heading, long_table, table, text

WORDS = """
*Ran*: to its end, nothing broken. *Nothing launched*: to its end, without a kernel. *Finding*: kfuzz reports an error;
each is in the next table. *Own error*: the program ends with an exit code of its own; two of the samples do so (code
2, "waived"), as on any machine with one GPU. *Time out*: the run had not ended after 20 s of processor time, the limit
of this survey (single runs: 3 to 600 s, llm.c's last ones 600 s, its matmul_forward an hour), on a machine with other
work. Programs of several kernels run the first. *To the end* counts all that came to an end of their own, with a
finding or without. The samples are those whose CMake file names no library for graphics, no driver API, and none of
cuFFT's kind; one of them needs boost, one a second process, and none was left out because it does not run."""


def show(made: Measurement) -> Blocks:
    outcomes = made["outcomes"]
    yield from table("l" + "r" * (2 + len(outcomes)), ("list", "programs", "to the end", *outcomes), (
        one.values() for one in made.table("lists")
    ))  # fmt: skip
    yield from text(WORDS)
    yield from heading("Accusations")
    yield from text("Every error that kfuzz reports, and why it is true. A line without a reason is not settled.")
    yield from table("lll", ("program", "findings", "why they are true"), (
        (one["program"], ", ".join(one["findings"]), one["reason"]) for one in made.table("accusations")
    ))  # fmt: skip
    yield from heading("Programs that did not run to their end")
    unfinished = made.table("unfinished")
    others = [one for one in unfinished if one["outcome"] != "time out"]
    columns, which = ("program", "outcome", "kfuzz's words"), "those that did not run out of time"
    yield from long_table("lll", columns, unfinished, lambda one: one.values(), others, which)
    named = ", ".join(f"{name} at {commit[:10]}" for name, commit in made["repositories"].items())
    yield from text(f"The repositories: {named}.")
    yield from made.note()
