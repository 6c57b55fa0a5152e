"""CUDA files of public repositories: how many compile for the cpu device."""

import re

from benchmarks.detection.compiles import OUTCOMES, count, files_by
from benchmarks.measurement import Measurement
from benchmarks.page import Lines, table, text

COLUMNS = (
    "repository",
    "commit",
    "files",
    "compile",
    "refused",
    "error",
    "out of time",
    "out of memory",
    "tried before",
    "compiled",
)
NUMBERS = ("files", *OUTCOMES, "older", "before")
HEADER = re.compile(r"([\w./-]+): No such file or directory")


def show(made: Measurement) -> Lines:
    alike = made.table("files")
    rows = count(alike)
    total = {"name": "**all**", "commit": "", **{name: sum(one[name] for one in rows) for name in NUMBERS}}
    yield from table(
        "llrrrrrrrr", COLUMNS, ([one[name] for name in ("name", "commit", *NUMBERS)] for one in [*rows, total])
    )
    files, chosen = total["files"], made["chosen"]
    sample = f"A random sample of {files} of {chosen} files. " if files < chosen else ""
    yield from text(
        f"{sample}A file *compiles* if kfuzz translates all of it and g++ accepts the result, with all templates",
        "that it instantiates. *Refused*: kfuzz names something that the cpu device lacks. The limits of a file",
        f"are {made['seconds']} s and {made['gigabytes']} GB. *Before*, in the two last columns, is commit",
        f"{made['first']}, which tried fewer files if time ran out. The files of",
        f"flash-attention are those of its folder `hopper`, of its instantiations every {made['every_alike']}th;",
        "those of flashinfer are those of `csrc`, those of TransformerEngine of `transformer_engine`. The most",
        "frequent reasons:",
    )
    reasons = files_by("why", ({**one, "why": reason_of(one["why"])} for one in alike if one["why"]))
    often = [(why, number) for why, number in reasons.most_common() if number > 1]
    rest = sum(reasons.values()) - sum(number for _, number in often)
    yield from table("lr", ("reason", "files"), [*often, ("others, one file each", rest)])
    yield from made.note()


def reason_of(why: str) -> str:
    """A reason as a row: a header that is missing counts with its library."""
    missing = HEADER.match(why)
    return f"{missing[1].partition('/')[0]}: no such header" if missing else why.replace("|", "\\|")
