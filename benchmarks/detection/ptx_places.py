"""Places of a PTX text where one thing can be taken away, and proofs that a place does not matter.

A proof here reads the text alone, from one barrier to the next: it shares no code with the checker, and says "harmless"
only if no access before the place can meet one after it. `with_trap` gives a text that traps where the change would
make a difference: for a predicate or a bound that is the other proof, by running it.
Long, since the sorts of changes share the reading of the text.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

ENTRY = re.compile(r"^\s*(?:\.visible\s+|\.weak\s+)*\.entry\s+([\w$]+)")
STATEMENT = re.compile(r"^\s*(?:@(?P<guard>!?%?[\w$]+)\s+)?(?P<name>[a-z][\w.:]*)(?P<rest>[^/]*;)?")
LABEL = re.compile(r"^\s*([\w$]+):")
BARRIER = re.compile(r"(?:bar|barrier)(?:\.cta)?\.sync\b")
CLUSTER = re.compile(r"barrier\.cluster\.(arrive|wait)\b")
FENCE = re.compile(r"(?:fence|membar)\.")
WAIT = re.compile(r"cp\.async\.wait_|cp\.async\.bulk\.wait_group|wgmma\.wait_group")
MBARRIER_WAIT = re.compile(r"mbarrier\.(?:try|test)_wait\b")
ACCESS = re.compile(
    r"(?:ld|st|red|atom|ldu|ldmatrix|stmatrix)\b(?!\.(?:param|const))"
    r"|cp\.async\b(?!\.(?:wait|commit|mbarrier|bulk\.(?:wait|commit)))"
)
ASYNC = re.compile(r"cp\.async\.bulk|cp\.reduce|wgmma\.mma|tcgen05\.|st\.async|red\.async")
COMPARED = re.compile(r"setp\.(?P<how>lt|le|gt|ge)\.(?P<type>[su](?:16|32|64))\s+(?P<to>%\w+),\s*(?P<of>[^;]*);")
STARTED = re.compile(r"cp\.async\.(?!wait|commit|mbarrier|bulk\.(?:wait|commit))|cp\.reduce|wgmma\.mma")
"""What a wait waits for."""
SCALAR = re.compile(r"st\.(?:shared|global)\.[bsuf]32$")
MOVED = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt"}
CLUSTERED = re.compile(r"\bmapa\b|barrier\.cluster|multicast|%cluster_|\.reqnctapercluster")
"""What a text has that reaches other blocks of a cluster."""
SORTS = ("wait", "fence", "predicate", "bound", "barrier")
MOST_BETWEEN = 12
"""Lines between the two halves of a cluster's barrier."""


@dataclass(frozen=True)
class Place:
    """A change: its sort, the first line that it changes, counted from 0, and the new texts of lines."""

    sort: str
    line: int
    words: str
    """What stands there."""
    changed: tuple[tuple[int, str], ...]
    trap: str = ""
    """What traps, put before the line, if the change makes a difference here; nothing for what is not a condition."""
    trap_after: bool = False
    same: str = ""
    """What traps, put after a store, if a thread that its predicate keeps out would have stored another value."""


@dataclass(frozen=True)
class Line:
    """A statement, by the number of its line."""

    number: int
    guard: str
    name: str
    rest: str


def statements(text: str, entries: Sequence[str]) -> Iterator[list[Line]]:
    """The statements of each body of an entry, or of those of these names."""
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        found = ENTRY.match(lines[number])
        number += 1
        if not found or (entries and found[1] not in entries):
            continue
        depth, body = 0, []
        while number < len(lines):
            bare = lines[number].split("//")[0]
            is_head = depth == 0 and "{" not in bare
            if is_head and bare.strip() == ";":
                break  # it is only declared
            made = STATEMENT.match(bare)
            if depth and made and not LABEL.match(bare):
                body.append(Line(number, made["guard"] or "", made["name"], made["rest"] or ""))
            elif depth and (label := LABEL.match(bare)):
                body.append(Line(number, "", ":", label[1]))
            depth += bare.count("{") - bare.count("}")
            number += 1
            if not is_head and depth == 0:
                break
        yield body


def places(text: str, entries: Sequence[str] = ()) -> list[Place]:
    """Every place of a text."""
    lines = text.split("\n")
    found = []
    for body in statements(text, entries):
        for at, one in enumerate(body):
            found += list(_places_at(lines, body, at, one))
    return found


def _places_at(lines: Sequence[str], body: Sequence[Line], at: int, one: Line) -> Iterator[Place]:
    words = " ".join(lines[one.number].split("//")[0].split())
    gone = ((one.number, ""),)
    if BARRIER.match(one.name) and not one.guard:
        yield Place("barrier", one.number, words, gone)
    if (half := CLUSTER.match(one.name)) and half[1] == "arrive":
        for other in body[at + 1 : at + 1 + MOST_BETWEEN]:
            if (second := CLUSTER.match(other.name)) and second[1] == "wait":
                yield Place("barrier", one.number, f"{words} and its wait", (*gone, (other.number, "")))
                break
    if FENCE.match(one.name):
        yield Place("fence", one.number, words, gone)
    if WAIT.match(one.name):
        yield Place("wait", one.number, words, gone)
    if MBARRIER_WAIT.match(one.name):
        is_over = one.rest.split(",")[0].strip()
        yield Place("wait", one.number, words, ((one.number, f"\tsetp.eq.u32 {is_over}, 0, 0;"),))
    if one.guard and ACCESS.match(one.name):
        bare = re.sub(r"@!?%?[\w$]+\s+", "", lines[one.number], count=1)
        same = _same_value(one) if (SCALAR.match(one.name)) else ""
        yield Place("predicate", one.number, words, ((one.number, bare),), f"@{_not(one.guard)} trap;", same=same)
    if one.guard and one.name.startswith("bra") and _skips_access(body, at, one):
        yield Place("predicate", one.number, words, gone, f"@{one.guard} trap;")
    if (compared := COMPARED.search(lines[one.number])) and not one.guard and _guards(body, compared["to"]):
        how, kind, to, of = compared["how"], compared["type"], compared["to"], compared["of"]
        moved = lines[one.number].replace(f"setp.{how}.", f"setp.{MOVED[how]}.", 1)
        trap = (
            f"{{ .reg .pred %kmoved; setp.{MOVED[how]}.{kind} %kmoved, {of}; "
            f"xor.pred %kmoved, %kmoved, {to}; @%kmoved trap; }}"
        )
        yield Place("bound", one.number, words, ((one.number, moved),), trap, trap_after=True)


def _same_value(one: Line) -> str:
    """What compares, in the threads that the predicate of a store keeps out, their values with what is there."""
    found = re.fullmatch(r"\s*(\[[^\]]*\]),\s*\{?\s*(%\w+)\s*\}?\s*;", one.rest)
    if not found:
        return ""
    place, value = found.groups()
    load = f"@{_not(one.guard)} {one.name.replace('st.', 'ld.', 1)} %kthere, {place};"
    return (
        f"bar.warp.sync -1; {{ .reg .b32 %kthere; .reg .pred %kother; mov.b32 %kthere, {value}; {load} "
        f"setp.ne.b32 %kother, %kthere, {value}; @%kother trap; }}"
    )


def _not(guard: str) -> str:
    return guard[1:] if guard.startswith("!") else f"!{guard}"


def _skips_access(body: Sequence[Line], at: int, one: Line) -> bool:
    """Whether a branch leads forward over an access."""
    target = one.rest.strip(" \t;")
    for other in body[at + 1 :]:
        if other.name == ":" and other.rest == target:
            return any(ACCESS.match(between.name) for between in body[at + 1 : body.index(other)])
    return False


def _guards(body: Sequence[Line], predicate: str) -> bool:
    """Whether a predicate, or one made of it, guards an access or a branch."""
    known = {predicate}
    for _ in range(2):  # a loop carries it back at most once more
        for one in body:
            if re.match(r"(?:and|or|xor|not|mov)\.pred", one.name):
                to, *of = re.findall(r"%\w+", one.rest)
                if known & {*of}:
                    known.add(to)
    return any(
        one.guard.lstrip("!") in known and (one.name.startswith("bra") or ACCESS.match(one.name)) for one in body
    )


def with_change(text: str, place: Place) -> str:
    """The text with a change; its lines keep their numbers."""
    lines = text.split("\n")
    for number, new in place.changed:
        lines[number] = new
    return "\n".join(lines)


def with_trap(text: str, place: Place, *, is_same: bool = False) -> str:
    """The unchanged text, which traps as soon as the change would make a difference; `is_same`: store another value."""
    lines = text.split("\n")
    own = lines[place.line]
    if is_same:
        lines[place.line] = f"{own} {place.same}"
        return "\n".join(lines)
    lines[place.line] = f"{own} {place.trap}" if place.trap_after else f"\t{place.trap} {own}"
    return "\n".join(lines)


def why_harmless(text: str, place: Place) -> str:
    """The proof that a change does not matter, by the text alone; empty if there is none."""
    for body in statements(text, ()):
        index = next((at for at, one in enumerate(body) if one.number == place.line), None)
        if index is not None and "mbarrier_init" in body[index].name and not CLUSTERED.search(text):
            return "no other block of its cluster can reach its mbarriers"
        if index is not None:
            return PROOFS.get(place.sort, lambda *_: "")(body, index)
    return ""


def _flow(body: Sequence[Line]) -> list[list[int]]:
    """What may come after each statement; a label that several scopes have is the nearest one."""
    labels: dict[str, list[int]] = {}
    for at, one in enumerate(body):
        if one.name == ":":
            labels.setdefault(one.rest, []).append(at)
    after: list[list[int]] = []
    for at, one in enumerate(body):
        following = [at + 1] if at + 1 < len(body) else []
        if one.name.startswith("bra"):
            where = labels.get(one.rest.strip(" \t;"), [])
            target = [min(where, key=lambda to: abs(to - at))] if where else following
            following = target + (following if one.guard else [])
        elif one.name.split(".")[0] in ("ret", "exit", "trap") and not one.guard:
            following = []
        after.append(following)
    return after


def _reach(
    start: int, steps: Sequence[Sequence[int]], body: Sequence[Line], ends: Callable[[Line], bool]
) -> list[Line]:
    """The statements that come from a place before one that ends the search, which are left out."""
    seen: dict[int, None] = {}
    waiting = list(steps[start])
    while waiting:
        at = waiting.pop()
        if at in seen or ends(body[at]):
            continue
        seen[at] = None
        waiting += steps[at]
    return [body[at] for at in seen]


def _backward(after: Sequence[Sequence[int]]) -> list[list[int]]:
    before: list[list[int]] = [[] for _ in after]
    for at, following in enumerate(after):
        for one in following:
            before[one].append(at)
    return before


def _touches(one: Line) -> tuple[str, bool] | None:
    """The space of an access, "" for one that is not known, and whether it writes; None for none."""
    if one.name.startswith("call"):
        return "", True
    if re.match(r"wgmma\.mma|tcgen05\.(?:mma|cp)", one.name):  # it reads by descriptors
        return "shared", False
    if "[" not in one.rest or re.match(
        r"(?:ld|st|ldu)\.(?:param|const|local)|prefetch|cvta|discard|applypriority", one.name
    ):
        return None
    if re.match(r"ld\.global\S*\.nc", one.name):
        return None
    spaces = [space for space in ("shared", "global") if f".{space}" in one.name]
    is_read = re.match(r"(?:ld|ldu|ldmatrix|wgmma)\b", one.name) is not None
    return (spaces[0] if len(spaces) == 1 else ""), not is_read


def _harmless_barrier(body: Sequence[Line], at: int) -> str:
    after = _flow(body)
    if not BARRIER.match(body[at].name):
        return ""

    def ends(one: Line) -> bool:
        return one.number != body[at].number and bool(BARRIER.match(one.name)) and one.rest == body[at].rest

    before, behind = (_reach(at, steps, body, ends) for steps in (_backward(after), after))
    if any(FENCE.match(one.name) and not _is_for_all(body, at, one) for one in before):
        return ""
    if not any(re.match(r"mbarrier\.(?:init|inval)|call", one.name) for one in behind):
        before = [one for one in before if not re.match(r"mbarrier\.(?:arrive|expect_tx)", one.name)]
    sides = [[touched for one in side if (touched := _touches(one))] for side in (before, behind)]
    if not sides[0] or not sides[1]:
        return f"no access {'before' if not sides[0] else 'after'} it up to the next barrier"
    meet = any(
        (one[1] or other[1]) and (one[0] == other[0] or "" in (one[0], other[0]))
        for one in sides[0]
        for other in sides[1]
    )
    return "" if meet else "no access before it meets one after it, up to the next barriers"


def _is_for_all(body: Sequence[Line], at: int, fence: Line) -> bool:
    """Whether each thread that comes to a barrier has executed a fence before it: then the fence is its own."""
    between = body[body.index(fence) : at]
    return (
        bool(between)
        and not any(one.guard and one is fence for one in between)
        and not any(one.name == ":" or one.name.startswith("bra") for one in between)
    )


def _harmless_fence(body: Sequence[Line], at: int) -> str:
    if "proxy.async" in body[at].name and not any(ASYNC.match(one.name) for one in body):
        return "no operation of the async proxy"
    before = _reach(at, _backward(_flow(body)), body, lambda one: one.name == body[at].name)
    own_writes = [one for one in before if (touched := _touches(one)) and touched[1]]
    return "" if own_writes else "the same fence before it, and no write between"


def _harmless_wait(body: Sequence[Line], at: int) -> str:
    own = body[at]
    if not WAIT.match(own.name):
        return ""
    before = _reach(
        at, _backward(_flow(body)), body, lambda one: one.name == own.name and one.rest.strip() == own.rest.strip()
    )
    started = any(STARTED.match(one.name) for one in before)
    return "" if started else "nothing that it waits for before it, or since the same wait"


PROOFS: Mapping[str, Callable[[Sequence[Line], int], str]] = {
    "barrier": _harmless_barrier,
    "fence": _harmless_fence,
    "wait": _harmless_wait,
}
