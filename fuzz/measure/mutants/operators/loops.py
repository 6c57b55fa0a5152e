"""Where a loop starts, how it steps, how often it halves."""

from collections.abc import Iterator

from tree_sitter import Node

from kfuzz.measure.mutants.change import Change, put
from kfuzz.measure.mutants.syntax import Source, field, operator, words


def first_skipped(source: Source) -> Iterator[Change]:
    """A loop that counts up starts one later."""
    for start, update in _loops(source):
        if _counts_up(update):
            yield put(start, f"{words(start)} + 1")


def first_share_skipped(source: Source) -> Iterator[Change]:
    """A loop that counts up leaves out its first turn."""
    for start, update in _loops(source):
        if _counts_up(update):
            step = words(field(update, "right")) if update.type == "assignment_expression" else "1"
            yield put(start, f"{words(start)} + {step}")


def step_plus_one(source: Source) -> Iterator[Change]:
    """A stride that is one too long."""
    yield from _other_step(source, "({}) + 1")


def step_less_one(source: Source) -> Iterator[Change]:
    """A stride that is one too short: elements count twice."""
    yield from _other_step(source, "({}) - 1")


def step_doubled(source: Source) -> Iterator[Change]:
    """Every other turn is left out."""
    yield from _other_step(source, "2 * ({})")
    for _, update in _loops(source):
        if update.type == "update_expression":
            yield put(update, f"{words(field(update, 'argument'))} += 2")


def step_halved(source: Source) -> Iterator[Change]:
    """A stride of half the length: elements count twice."""
    yield from _other_step(source, "({}) / 2")


def halving_skipped(source: Source) -> Iterator[Change]:
    """A tree or butterfly leaves out every other halving."""
    for _, update in _loops(source):
        if update.type == "assignment_expression" and operator(update) == "/=":
            yield put(field(update, "right"), f"(2 * {words(field(update, 'right'))})")
        elif update.type == "assignment_expression" and operator(update) == ">>=":
            yield put(field(update, "right"), f"({words(field(update, 'right'))} + 1)")


def starts_at_half(source: Source) -> Iterator[Change]:
    """A tree or butterfly leaves out its first halving."""
    yield from _other_start(source, "({}) / 2")


def starts_at_double(source: Source) -> Iterator[Change]:
    """A tree or butterfly starts with the whole width instead of half of it."""
    yield from _other_start(source, "({}) * 2")


def last_halving_skipped(source: Source) -> Iterator[Change]:
    """A tree or butterfly stops before the step of 1."""
    for loop in source.nodes("for_statement"):
        condition, update = loop.child_by_field_name("condition"), loop.child_by_field_name("update")
        if condition is not None and update is not None and _halves(update):
            yield put(condition, f"({words(condition)}) && {words(field(update, 'left'))} != 1")


def _loops(source: Source) -> Iterator[tuple[Node, Node]]:
    """The start value and the update of every loop that declares its variable."""
    for loop in source.nodes("for_statement"):
        start, update = loop.child_by_field_name("initializer"), loop.child_by_field_name("update")
        if start is not None and update is not None and start.type == "declaration":
            declarator = field(start, "declarator")
            if declarator.type == "init_declarator":
                yield field(declarator, "value"), update


def _counts_up(update: Node) -> bool:
    return update.type == "update_expression" or (update.type == "assignment_expression" and operator(update) == "+=")


def _halves(update: Node) -> bool:
    return update.type == "assignment_expression" and operator(update) in ("/=", ">>=")


def _other_step(source: Source, form: str) -> Iterator[Change]:
    for _, update in _loops(source):
        if update.type == "assignment_expression" and operator(update) == "+=":
            step = field(update, "right")
            yield put(step, form.format(words(step)))


def _other_start(source: Source, form: str) -> Iterator[Change]:
    for start, update in _loops(source):
        if _halves(update):
            yield put(start, form.format(words(start)))
