"""The page of a hunt, in Markdown, from the results of all functions: what was kept, what was broken, and how.

Knows results; it tries nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from benchmarks.libraries.functions import Documented, Function
from benchmarks.libraries.judging import Claim, Result
from benchmarks.page import Blocks, Lines, heading, long_table, table

Results = Mapping[Claim, Result]
Installed = Callable[[Claim], str]
TYPES = ("f32", "bf16", "f16")
LONGEST = 300
DEFECTS = ("lost", "off")
SHOWN = 3
"""The number of programs on the page."""


def page(results: Results, device: str, installed: Installed) -> Blocks:
    """All sections."""
    yield from (summary(results, device), "", "### By library", "")
    yield from plain(("library", *COUNTED, "functions with defects"), by_library(results, installed))
    yield from ("### Defects", ABOUT_DEFECTS, "")
    yield from show_defects(defects(results, installed))
    yield from ("### What the documentation says", ABOUT_DOCUMENTATION, "")
    yield from plain(("library", "defects", "where", "sentence"), sentences(results, installed))
    yield from heading("Other findings")
    yield from plain(("library", "function", "type", "what"), others(results, installed))
    yield from ("### Suspects", ABOUT_SUSPECTS, "")
    yield from show_defects(defects(results, installed, "suspect"))
    about = ABOUT_PROGRAMS.format(device=device)
    yield from ("### Programs that show them", about, "", *programs(results), "")
    yield from ("### What each function does", ABOUT_FUNCTIONS, "")
    yield from show_functions(results)
    yield from ("### What was not judged, and why", about_not_judged(results), "")
    yield from plain(("pairs", "why"), not_judged(results))


COUNTED = (
    "trials",
    "rows",
    "hours",
    "pairs",
    "kept",
    "suspect",
    "one unit off",
    "other findings",
    "defects",
    "of them documented",
    "refused",
    "not judged",
)
ABOUT_DEFECTS = """\
Each is the gravest answer that was met, made small. *Lost* is an infinity or NaN where the right answer is a number, or
an error as large as the right answer. Otherwise the column *units* says how many units of the last place an answer is
off: more than one, so that it is not even a neighbour of the right one. *Exactly* is the second computation, by mpmath
from the definition, for the input as it is stored. *Allowed* names a sentence of the library's documentation that
allows such an answer; `-` means that we found none."""
ABOUT_DOCUMENTATION = """\
The sentences that allow defects above, word for word from the documentation of the versions that were judged. One that
lists the types of a function without float16 allows any answer in float16."""
ABOUT_SUSPECTS = """\
Answers that some other way to compute the same function may give in the same arithmetic, such as 1 + erf(x) for
erfc(-x), and that are more than one unit off. They do not count as defects."""
ABOUT_PROGRAMS = """\
Each runs where the library is installed, without kfuzz. `python -m benchmarks.libraries.programs --device {device}`
prints all of them, runs them, and compares what they print; with names of libraries, theirs. The first are:"""
ABOUT_FUNCTIONS = """\
A number is the largest error that was met, in units of the derived bound (1 is the bound itself). In 16 bits the bound
is often the one nearest number: 0 means that every answer was that number. *n units* is the gravest wrong answer; *1
unit* one that is at most one unit off, as after a second rounding; *suspect* one that another way to compute the same
may give; *flushed* a 0 in the place of a denormal of float32."""


def summary(results: Results, device: str) -> str:
    """The results in numbers."""
    counts = Counter(map(count_of, results.values()))
    every = list(results.values())
    found = [(one, result) for one, result in results.items() if is_defect(result)]
    of_functions = {(one.library, one.name) for one, _ in found}
    confirmed = sum(bool(result.exact) for result in every if result.status == "broken")
    shown = sum(is_shown(result) for _, result in found)
    allowed = sum(documented(one, result) is not None for one, result in found)
    hours = sum(result.seconds for result in every) / 3600
    libraries = len({one.library for one in results})
    by_column = ", ".join(f"{counts[name]} {name}" for name in COUNTED[4:] if name != "of them documented")
    trials, rows = sum(result.trials for result in every), sum(result.rows for result in every)
    lost = sum(result.grade == "lost" for _, result in found)
    return (
        f"{len(results)} pairs of a function and a type of {libraries} libraries on the {device}: {by_column}; "
        f"{trials:,} trials, {rows:,} rows, {hours:.1f} hours of all processes together.\n\n"
        f"{len(found)} defects of {len(of_functions)} functions in {len({library for library, _ in of_functions})} "
        f"libraries: {lost} answers are lost and {len(found) - lost} more than one unit off; the documentation allows "
        f"{allowed} of them, and {shown} have a program of three lines. mpmath confirms {confirmed} accusations and "
        f"contradicts {counts['withdrawn']}, which are withdrawn."
    )


def is_defect(result: Result, status: str = "broken") -> bool:
    """Whether an answer is wrong by more than one unit, and a second computation says so, too."""
    return result.status == status and result.grade in DEFECTS and bool(result.exact)


def is_shown(result: Result) -> bool:
    """Whether three lines print the wrong answer."""
    return bool(result.program and result.program[0])


def count_of(result: Result) -> str:
    """The column in which a result counts."""
    if result.status != "broken":
        return result.status
    if not result.grade or not result.exact:
        return "other findings"
    return "defects" if is_defect(result) else "one unit off"


def documented(one: Claim, result: Result) -> Documented | None:
    """What the library's documentation says of such an answer."""
    if not isinstance(one, Function):
        return None
    is_infinite = abs(result.got) == float("inf") or result.got != result.got
    return next((each for each in one.of.documentation if each.allows(one.name, one.element, is_infinite)), None)


def plain(columns: Sequence[str], rows: Iterator[Sequence[str]]) -> Blocks:
    """A table whose columns all lie left; nothing without rows."""
    if shown := [*map(cells, rows)]:
        yield from table("l" * len(columns), columns, shown)


def cells(row: Sequence[str]) -> list[str]:
    """The texts of a row, in none of which a cell ends."""
    return [one.replace("|", r"\|") for one in row]


def show_defects(rows: Iterator[Sequence[str]]) -> Blocks:
    """A table of defects, of which a page has the gravest of each library."""
    columns = ("library", "function", "type", "input", "gives", "exactly", "units", "documentation")
    every = [*rows]
    gravest = [next(row for row in every if row[0] == library) for library in dict.fromkeys(row[0] for row in every)]
    if every:
        yield from long_table("l" * len(columns), columns, every, cells, gravest, "the gravest of each library")


def by_library(results: Results, installed: Installed) -> Iterator[Sequence[str]]:
    """A row of counts for each library."""
    for library in dict.fromkeys(one.library for one in results):
        of_it = {one: result for one, result in results.items() if one.library == library}
        counts = Counter(map(count_of, of_it.values()))
        found = [(one, result) for one, result in of_it.items() if is_defect(result)]
        allowed = sum(documented(one, result) is not None for one, result in found)
        first = next(iter(of_it))
        every = list(of_it.values())
        effort = [sum(result.trials for result in every), sum(result.rows for result in every)]
        hours = sum(result.seconds for result in every) / 3600
        numbers = [
            len(of_it),
            *(counts[name] for name in ("kept", "suspect", "one unit off", "other findings", "defects")),
        ]
        numbers += [allowed, counts["refused"], counts["not judged"], len({one.name for one, _ in found})]
        yield (f"{first.package} {installed(first)}", *map(str, effort), f"{hours:.2f}", *map(str, numbers))


def defects(results: Results, installed: Installed, status: str = "broken") -> Iterator[Sequence[str]]:
    """A row for each defect, those of a library together, the lost answers first."""
    for one, result in ordered(results, status):
        says = documented(one, result)
        yield (
            f"{one.package} {installed(one)}",
            f"`{one.call}`",
            one.element if isinstance(one, Function) else "",
            result.given[:LONGEST],
            f"{result.got:.9g}",
            result.exact,
            "lost" if result.grade == "lost" else f"{result.units:.3g}",
            f"allowed: {says.at}" if says else "-",
        )


def sentences(results: Results, installed: Installed) -> Iterator[Sequence[str]]:
    """A row for each sentence that allows a defect, and how many it allows."""
    used = Counter(
        (f"{one.package} {installed(one)}", says.at, says.says)
        for one, result in results.items()
        if is_defect(result) and (says := documented(one, result))
    )
    yield from ((library, str(count), at, says) for (library, at, says), count in used.items())


def others(results: Results, installed: Installed) -> Iterator[Sequence[str]]:
    """A row for each finding that is no wrong element: a crash, a wrong type, elements that do not fit together."""
    for one, result in results.items():
        if count_of(result) == "other findings":
            element = one.element if isinstance(one, Function) else ""
            yield (f"{one.package} {installed(one)}", f"`{one.call}`", element, result.words[:LONGEST])


def ordered(results: Results, status: str = "broken") -> list[tuple[Claim, Result]]:
    """The defects in the order of the page."""
    found = [(one, result) for one, result in results.items() if is_defect(result, status)]
    libraries = list(dict.fromkeys(one.library for one in results))
    return sorted(found, key=lambda each: (libraries.index(each[0].library), each[1].grade != "lost", -each[1].units))


def programs(results: Results) -> Iterator[str]:
    """The first programs, with what each prints and what is right."""
    shown = (result for _, result in ordered(results) if is_shown(result))
    for result in islice(shown, SHOWN):
        yield from ("```text", *program_text(result.program, repr(result.got), result.exact), "```")


def program_text(program: Sequence[str], prints: str, exact: str) -> Lines:
    """A program, with what it prints and what is right as its last line."""
    yield from (*program, f"# prints {prints}; exactly {exact}")


def program_entries(results: Results, installed: Installed) -> list[dict[str, Any]]:
    """The programs as data, for a script that runs them."""
    return [
        {
            "library": one.library,
            "package": one.package,
            "version": installed(one),
            "call": one.call,
            "key": one.key,
            "program": list(result.program),
            "prints": repr(result.got),
            "exact": result.exact,
        }
        for one, result in ordered(results)
        if is_shown(result)
    ]


def show_functions(results: Results) -> Blocks:
    """A row for each function, a column for each type; a page has the functions of which some type was not judged."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for one, result in results.items():
        element = one.element if isinstance(one, Function) else ""
        rows.setdefault((one.package, f"`{one.call}`"), {})[element] = cell(result)
    types = [name for name in (*TYPES, "") if any(name in row for row in rows.values())]
    unjudged = [key for key, row in rows.items() if {"refused", "not judged"} & {*row.values()}]
    yield from long_table(
        "l" * (2 + len(types)), ("library", "function", *(name or "result" for name in types)), rows,
        lambda key: cells([*key, *(rows[key].get(name, "") for name in types)]),
        unjudged, "those of which a type was refused or not judged",
    )  # fmt: skip


def cell(result: Result) -> str:
    """A result in a word or a number."""
    if result.status == "kept":
        return f"{result.worst:.2g}"
    if result.status != "broken":
        return result.status
    if result.grade in DEFECTS and result.exact:
        return f"**{'lost' if result.grade == 'lost' else f'{result.units:.3g} units'}**"
    return {"nearest": "1 unit", "flushed": "flushed"}.get(result.grade, f"**{result.words.partition(',')[0]}**")


def about_not_judged(results: Results) -> str:
    """How many pairs have no result."""
    refused = sum(result.status == "refused" for result in results.values())
    tried = sum(result.status == "not judged" for result in results.values())
    never = len(left_out(results))
    return (
        f"{never + tried + refused} pairs of listed functions: {never} were not tried, {tried} were tried and not "
        f"judged, and the library refused {refused}."
    )


def left_out(results: Results) -> list[Function]:
    """The pairs of the libraries' lists that are not tried."""
    libraries = dict.fromkeys(one.of for one in results if isinstance(one, Function))
    return [one for library in libraries for one in library.left_out()]


def not_judged(results: Results) -> Iterator[Sequence[str]]:
    """The reasons, the most frequent first."""
    reasons = Counter(
        result.words.replace(one.key, "FUNCTION").split("cannot be imported: ")[-1][:LONGEST]
        for one, result in results.items()
        if result.status in ("not judged", "refused")
    )
    reasons += Counter(one.left_out for one in left_out(results))
    yield from ((str(count), words) for words, count in reasons.most_common() if count)
