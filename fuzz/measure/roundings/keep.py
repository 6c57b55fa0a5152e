"""Tries claims on the cpu device until the kernel keeps one, including the keys for special values.

Knows campaigns and claims as text; never how rounding is counted.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from textwrap import shorten

import numpy as np

from kfuzz.campaign.campaign import run_campaign
from kfuzz.campaign.device import open_device
from kfuzz.campaign.events import Event, Tried
from kfuzz.campaign.options import Options
from kfuzz.campaign.result import KernelResult
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.case import case_for
from kfuzz.claims.kernel import Kernel
from kfuzz.common.phases import Phase, Stage, announce
from kfuzz.devices import Probe
from kfuzz.measure.roundings.bug import NOT_PROVED, WIDEST, LikelyBug
from kfuzz.measure.roundings.conventions import conventions_of
from kfuzz.measure.roundings.grounds import grounds, inputs_of
from kfuzz.measure.roundings.guess import Guess
from kfuzz.measure.roundings.propose import ProposedRounding, Statements, flags_of, quoted, rounding_of
from kfuzz.measure.roundings.text import Tables, with_tables
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import NARROW
from kfuzz.oracle.numbers.plural import plural
from kfuzz.oracle.op.names import names_of

NO_LIMITS: Statements = {}
FEW = 40
"""Trials that show whether a [values] table is worth a longer test: rows of -inf are among the first."""
RANGE = "[-80, 80]"
"""The range without a shift: exp(80) is 5.5e34, so thousands of such terms do not overflow."""


@dataclass(frozen=True)
class Proposal:
    """A proposed claim: the kernel with it, and notes on how it was derived.

    `broken`: findings in spite of it, in the words of the search; empty if `trials` trials kept the claim.
    `bug`: what breaks the claim, if the claim fits and the kernel looks wrong. `limits`: what breaks it for sizes or
    values that the claim leaves out without having been asked. `message`: the first finding in a sentence.
    """

    kernel: Kernel
    remark: str
    trials: int
    broken: tuple[str, ...]
    bug: LikelyBug | None = None
    limits: tuple[str, ...] = ()
    message: str = ""

    @property
    def verdict(self) -> str:
        """The result of the trials in a sentence."""
        if self.bug:
            looks = "this looks like a bug" if self.bug.is_proved else NOT_PROVED
            return f"{looks}: {self.bug}"
        if self.broken:
            return f"this claim fits, but the kernel looks wrong: {self.message or '; '.join(self.broken)}"
        return f"kept in {plural(self.trials, 'trial')}"


def proposed_for(guess: Guess, seed: int = 0, cases: int = 150) -> Proposal:
    """The tightest claim for a guess; for one that a bug breaks, the guess with its rounding as measured."""
    if not guess.bug:
        made = proposed(guess.kernel, seed, cases, values_of(guess.kernel) if guess.outside else {})
        return replace(made, limits=tuple(dict.fromkeys([*map(str, guess.outside), *made.limits])))
    rounding = rounding_of(with_tables(guess.kernel, {"accuracy": {}}))
    kernel = with_tables(guess.kernel, {"accuracy": rounding.statements})
    signs = tuple(one.bucket for one in guess.bug.defects)
    return Proposal(kernel, rounding.remark, 0, signs, guess.bug)


def values_of(kernel: Kernel) -> Statements:
    """The finite values to which a guess is limited, as a claim writes them."""
    limits = {"range": "[{:g}, {:g}]".format(*kernel.value_range)} if kernel.value_range else {}
    return {**limits, "finite": "true"} if kernel.finite else limits


def proposed(kernel: Kernel, seed: int = 0, cases: int = 150, values: Statements = NO_LIMITS) -> Proposal:
    """The tightest claim of its rounding that the kernel keeps; ClaimError if it cannot run.

    `values`: the limits of its values that are known.
    """
    bare = with_tables(kernel, {"accuracy": flags_of(kernel), "values": {}})
    rounding = rounding_of(bare)
    every = list(firsts(bare, rounding, seed, values))
    best, few = min(every, key=lambda one: len(errors_of(one[1])))
    form = "" if errors_of(few) else form_of(bare, best, seed, cases)
    if form:
        best = {**best, "accuracy": {**best["accuracy"], "form": quoted(form)}}
    chosen = best if errors_of(few) else with_conventions(bare, with_words(bare, best, seed), seed)
    result = tried(bare, chosen, seed, cases)
    if errors_of(result) and chosen != best:
        chosen, result = best, tried(bare, best, seed, cases)
    limits = () if errors_of(result) else tuple(limits_of(kernel, chosen, every[0][1]))
    remark = f"{rounding.remark}{describe_form(bare, form)}"
    return Proposal(
        with_tables(bare, chosen), remark, result.progress.trials, errors_of(result), None, limits,
        next(messages_of(result), ""),
    )  # fmt: skip


def form_of(kernel: Kernel, tables: Tables, seed: int, cases: int) -> str:
    """The first form that the trials keep, of an op with a fragile form, which a claim must not allow unnamed."""
    op = find(kernel.op)
    for form in op.forms if op.fragile_forms else ():
        named = {**tables, "accuracy": {**tables["accuracy"], "form": quoted(form)}}
        if not errors_of(tried(kernel, named, seed, cases, stop_at_first=True)):
            return form
    return ""


def describe_form(kernel: Kernel, form: str) -> str:
    """Why this form is claimed; empty without one."""
    if not form:
        return ""
    why = "the first of the op's forms that the trials keep"
    if form in find(kernel.op).fragile_forms:
        why = (
            "no other form is kept: E[x^2] - mean^2 loses all digits where the mean is large against the spread, and "
            "kfuzz does not judge such rows (kfuzz explain inaccurate)"
        )
    return f'; form = "{form}": {why}'


def limits_of(kernel: Kernel, chosen: Tables, widest: KernelResult) -> Iterator[str]:
    """What breaks the kernel for infinities, if the proposal leaves them out and the kernel's own claim does not."""
    if "finite" in chosen["values"] and not kernel.finite:
        yield from (f"right only for finite numbers: {one}" for one in list(messages_of(widest))[:1])


def messages_of(result: KernelResult) -> Iterator[str]:
    """Each error in a sentence, with its place and its case."""
    for one in result.discoveries:
        if one.is_error:
            defect = one.defect
            place = f"{defect.where}: " if defect.line else ""
            yield f"{place}{defect.sign}: {shorten(defect.message, WIDEST, placeholder=' ...')} ({defect.scene.words})"


def firsts(
    kernel: Kernel, rounding: ProposedRounding, seed: int, values: Statements
) -> Iterator[tuple[Tables, KernelResult]]:
    """Tables of values, the strongest first, each with the result of a few trials; stops at the first that is kept."""
    limits = {"range": RANGE} if rounding.is_unshifted and not values else values
    for narrow, words in product(narrow_choices(kernel), ({}, {"all_neg_inf": '"zero"'}, {"finite": "true"})):
        tables = {"accuracy": {**rounding.statements, **narrow}, "values": {**words, **limits}}
        result = tried(kernel, tables, seed, FEW)
        yield tables, result
        if not errors_of(result):
            return


def narrow_choices(kernel: Kernel) -> Iterator[Statements]:
    """The values that may be kept in 16 bits: none; with 16-bit arrays, then each one, then all."""
    yield {}
    op = find(kernel.op)
    elements = sorted({array.element.name for array in kernel.arrays.values()} & NARROW.keys())
    for element in elements:
        names = names_of(op).narrow_values
        for some in dict.fromkeys([*((name,) for name in names), tuple(names)]):
            if some:
                yield {"keep": f"{{ {', '.join(f'{name} = {quoted(element)}' for name in some)} }}"}


def tried(kernel: Kernel, tables: Tables, seed: int, cases: int, stop_at_first: bool = False) -> KernelResult:
    """The result of `cases` trials of the kernel with these tables; no case is stored."""

    def listen(event: Event) -> None:
        if isinstance(event, Tried):
            announce(Phase(Stage.TESTING, kernel.name, event.total, cases))

    claimed, options = replace_tables(kernel, tables), Options(seed=seed, max_cases=cases, stop_at_first=stop_at_first)
    return run_campaign((claimed,), partial(open_device, "cpu"), options, listen).kernels[0]


def replace_tables(kernel: Kernel, tables: Tables) -> Kernel:
    """The kernel with these tables and its unchanged text, so that many claims share one compilation."""
    return replace(with_tables(kernel, tables), front=kernel.front)


def errors_of(result: KernelResult) -> tuple[str, ...]:
    """The buckets of errors, and the claim's own mistake if there is one."""
    found = tuple(one.defect.bucket for one in result.discoveries if one.is_error)
    return (*found, result.progress.error) if result.progress.error else found


def with_words(kernel: Kernel, tables: Tables, seed: int) -> Tables:
    """The tables with a word for NaN and for +inf if the op claims neither: the first word that a few trials keep."""
    for key, value in (("nan", np.nan), ("pos_inf", np.inf)):
        for word in words_for(replace_tables(kernel, tables), key, value):
            spoken = {**tables, "values": {**tables["values"], key: f'"{word}"'}}
            if not errors_of(tried(kernel, spoken, seed, FEW)):
                tables = spoken
                break
    return tables


def with_conventions(kernel: Kernel, tables: Tables, seed: int) -> Tables:
    """The tables with what a quantizer does with zeros and NaN, as far as a few trials keep it."""
    for statements in conventions_of(with_tables(kernel, tables)):
        said = {**tables, "quantize": statements}
        if not errors_of(tried(kernel, said, seed, FEW)):
            tables = said
    return tables


def words_for(kernel: Kernel, key: str, value: float) -> tuple[str, ...]:
    """The words for a special value with which one case that has it would be kept; none if the op defines it."""
    axes, tune = next(grounds(kernel))
    inputs = inputs_of(kernel, axes)
    next(iter(inputs.values())).flat[0] = value
    with closing(open_device("cpu")) as device:
        return run_trial(kernel, case_for(kernel, inputs), tune, device, Probe()).silences.get(key, ())
