"""The page of a hunt, in Markdown, from the results of all functions: what was kept, what was broken, and how.

Knows results; it tries nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from benchmarks.libraries.functions import Documented, Function
from benchmarks.libraries.judging import Claim, Result
from benchmarks.libraries.programs import PROGRAMS
from benchmarks.page import table as make_table

Results = Mapping[Claim, Result]
Installed = Callable[[Claim], str]
TYPES = ("f32", "bf16", "f16")
LONGEST = 300
DEFECTS = ("lost", "off")
SHOWN = 3
"""The number of programs on the page."""


def page(results: Results, device: str, installed: Installed) -> str:
    """All sections."""
    columns = ("library", "function", "type", "input", "gives", "exactly", "units", "documentation")
    parts = [
        summary(results, device),
        "### By library",
        table(("library", *COUNTED, "functions with defects"), by_library(results, installed)),
        "### Defects\n" + ABOUT_DEFECTS,
        table(columns, defects(results, installed)),
        "### What the documentation says\n" + ABOUT_DOCUMENTATION,
        table(("library", "defects", "where", "sentence"), sentences(results, installed)),
        "### Other findings",
        table(("library", "function", "type", "what"), others(results, installed)),
        "### Suspects\n" + ABOUT_SUSPECTS,
        table(columns, defects(results, installed, "suspect")),
        "### Programs that show them\n" + ABOUT_PROGRAMS.format(file=PROGRAMS[device].name, device=device),
        "\n".join(programs(results)),
        "### What each function does\n" + ABOUT_FUNCTIONS,
        *functions_of_each(results),
        "### What was not judged, and why\n" + about_not_judged(results),
        table(("pairs", "why"), not_judged(results)),
    ]
    return "\n\n".join(part for part in parts if part)


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
Each runs where the library is installed, without kfuzz. [{file}]({file}) has them all, a program a line;
`python -m benchmarks.libraries.programs --device {device}` runs them and compares what they print. The first are:"""
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


def table(columns: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """A table in Markdown; empty without rows."""
    shown = [[one.replace("|", r"\|") for one in row] for row in rows]
    return "\n".join(make_table("l" * len(columns), columns, shown)).rstrip("\n") if shown else ""


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
        yield "```text"
        yield from result.program
        yield f"# prints {result.got!r}; exactly {result.exact}"
        yield "```"


def program_entries(results: Results, installed: Installed) -> list[dict[str, str | list[str] | bool]]:
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


def functions_of_each(results: Results) -> Iterator[str]:
    """For each library a table: a row for each function, a column for each type."""
    for library in dict.fromkeys(one.library for one in results):
        of_it = [(one, result) for one, result in results.items() if one.library == library]
        rows: dict[str, dict[str, str]] = {}
        for one, result in of_it:
            element = one.element if isinstance(one, Function) else ""
            rows.setdefault(one.call, {})[element] = cell(result)
        types = [name for name in (*TYPES, "") if any(name in row for row in rows.values())]
        yield table(
            (of_it[0][0].package, *(name or "result" for name in types)),
            ((f"`{call}`", *(row.get(name, "") for name in types)) for call, row in rows.items()),
        )


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
