"""A claim for a file that has none: tries the claims that the text allows until the kernel keeps one.

The candidates come from guess_kernel, which launches one kernel, and from guess_host, which calls a function that
makes its own launches. Knows trials; never how a guess is made.
"""

import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from kfuzz.campaign.schedule import attempt_of
from kfuzz.campaign.trials.trial import run_trial, unfit
from kfuzz.campaign.trials.unjudged import unjudged_text
from kfuzz.cases.plans.plan import Attempt
from kfuzz.claims.kernel import Kernel, read
from kfuzz.claims.language import kernel_file
from kfuzz.claims.language.fitted_op import variants_of
from kfuzz.claims.language.front_matter import CLOSES, OPENS
from kfuzz.claims.language.signature import entries_of, host_functions_of
from kfuzz.common.phases import Phase, Stage, announce
from kfuzz.common.printable import shown_path
from kfuzz.common.text.unclosed import unclosed_words
from kfuzz.devices import ClaimError, Entry, Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.measure.roundings.bug import (
    NOT_PROVED,
    ClaimLayout,
    FailedGuess,
    LikelyBug,
    find_likeliest,
    layout_of,
    may_fit,
)
from kfuzz.measure.roundings.guess_host import NOTHING, FunctionWords, entries_for, host_claims, untold
from kfuzz.measure.roundings.guess_kernel import SOURCES, claims_with, function_of, usual_launches
from kfuzz.measure.roundings.no_claim import no_claim
from kfuzz.measure.roundings.outside import Outside, outside_of
from kfuzz.measure.roundings.text import claim_of, commented
from kfuzz.oracle.judging.find_op import find, op_names
from kfuzz.oracle.numbers.errors import OracleError

NOT_ORDINARY = "no ordinary answer is right"
TRIALS = 24
"""Trials of one guess; the first that is not kept ends it."""
WORDS = {
    "dequant": "group_dequantize", "quant": "group_quantize",
    "gemm": "sgemm", "matmul": "sgemm", "transpose": "transpose", "log_softmax": "log_softmax", "softmax": "softmax",
    "row_max": "row_max", "max": "row_max", "row_sum": "row_sum", "sum": "row_sum", "norm": "layer_norm",
    "axpy": "axpy",
}  # fmt: skip
"""Parts of names that suggest an op, the most specific first."""
PARTS_OF_OTHERS = ("add", "copy", "mul", "relu", "sigmoid", "tanh")
"""Ops that are a step of many others: `matmul_add` is a product. They are suggested where nothing else is."""
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+d?")


@dataclass(frozen=True)
class Guess:
    """A claim for a file that has none.

    `bug`: what breaks it, if it fits the file but the kernel does not keep it. `outside`: what breaks wider claims, if
    the kernel keeps only one for fewer sizes or values.
    """

    kernel: Kernel
    bug: LikelyBug | None = None
    outside: tuple[Outside, ...] = ()


@dataclass(frozen=True)
class GuessGroup:
    """Claims in TOML of which the first that is kept is taken, the likeliest first."""

    claims: Iterable[str]
    is_launch_written: bool = True


@dataclass
class GuessesSoFar:
    """What the guesses before have shown."""

    seen: list[Attempt] = field(default_factory=list)
    """Trials that broke a guess: the next one meets them first."""
    idle: dict[tuple[Entry, ...], str] = field(default_factory=dict)
    """Functions that do not compile under any claim, and why."""
    fitting: dict[ClaimLayout, bool] = field(default_factory=dict)
    """Whether a layout gets an ordinary case right."""
    failed: list[tuple[Kernel, FailedGuess]] = field(default_factory=list)
    first: str = ""
    """Why the likeliest guess is not kept."""
    example: str = ""
    """The likeliest guess."""
    count: int = 0

    def fits(self, kernel: Kernel, device: CpuDevice) -> bool:
        """Whether the layout of a claim gets an ordinary case right; each layout is asked once."""
        layout = layout_of(kernel)
        if layout not in self.fitting:
            self.fitting[layout] = may_fit(kernel, device)
        return self.fitting[layout]


def as_far_as_told(groups: Iterator[GuessGroup], tried: GuessesSoFar) -> Iterator[GuessGroup]:
    """The groups, as far as the text says enough: what a launch of the kernel alone needs is no matter once claims of
    the function that launches it have failed.
    """
    try:
        yield from groups
    except ClaimError:
        if not tried.first:
            raise


def guessed(path: Path, source: str, op: str | None, said: FunctionWords = NOTHING) -> Guess:
    """The first claim that the trials keep, or that a bug breaks; else a ClaimError that says what to do."""
    found = guess(path, source, op, said)
    if found.bug and not found.bug.is_proved:
        where, name, toml = shown_path(path), found.kernel.op, claim_of(found.kernel)
        way = f"put this claim into the file, with the op, launch and sizes that are meant:\n{toml}"
        if not found.bug.is_op_sure:
            way = f"if it computes {name}, as its names say: kfuzz fuzz {where} --op {name}\nelse {way}"
        raise ClaimError(f"{where}: {NOT_PROVED}: {found.bug}\n{way}")
    return found


def guess(path: Path, source: str, op: str | None, said: FunctionWords = NOTHING) -> Guess:
    """The first claim that the trials keep; else the likeliest that fits ordinary cases; else a ClaimError."""
    where = shown_path(path)
    if op:
        check_op(where, op)
    chosen = op or op_of(path.stem, source)
    if chosen is None:
        cut = unclosed_words(where, source)
        raise ClaimError(f"{cut}{where}: its names do not tell its op: name it with --op; kfuzz op lists all")
    tried, likeliest = GuessesSoFar(), None
    with CpuDevice() as device:
        for group in as_far_as_told(guesses(chosen, where, source, said), tried):
            known = len(tried.failed)
            if kernel := first_kept(path, source, group.claims, device, tried):
                outside = tuple(outside_of(kernel, tried.failed))
                return Guess(in_file(path, kernel.front.toml, source), outside=outside)
            found = find_likeliest(tried.failed[known:], device, group.is_launch_written)
            if found and (said.is_op_guessed or not op):
                found = found[0], replace(found[1], is_op_sure=False)
            if found and (likeliest is None or not likeliest[1].is_proved):
                likeliest = found
            if found and found[1].is_proved:  # no launch but this was meant
                break
    if likeliest:
        kernel, bug = likeliest
        return Guess(in_file(path, kernel.front.toml, source), bug)
    if tried.idle and not tried.fitting:
        raise ClaimError(f"{where}: it does not run: {next(iter(tried.idle.values()))}")
    raise ClaimError(no_claim(where, chosen, source, tried.first, tried.example))


def first_kept(path: Path, source: str, group: Iterable[str], device: CpuDevice, tried: GuessesSoFar) -> Kernel | None:
    """The kernel with the first of these claims that the trials keep."""
    where = shown_path(path)
    for toml in dict.fromkeys(group):
        tried.count += 1
        announce(Phase(Stage.GUESSING, where, tried.count))
        tried.example = tried.example or toml
        try:  # beside its text, so that it is compiled once for all guesses
            kernel = read(kernel_file.beside(path, source, toml, where))
            trouble = tried.idle.get(kernel.entries) or found_in(kernel, device, tried)
        except ClaimError as error:
            trouble = str(error)
        if not trouble:
            return kernel
        if isinstance(trouble, FailedGuess):
            tried.failed.append((kernel, trouble))
        tried.first = tried.first or str(trouble)
    return None


def in_file(path: Path, toml: str, source: str) -> Kernel:
    """The kernel as it is once the claim is at the top of its file, from which the file of an op is found."""
    op = tomllib.loads(toml)["op"]
    if op.endswith(".py") and os.path.isabs(op):
        toml = toml.replace(json.dumps(op), json.dumps(os.path.relpath(op, path.resolve().parent)), 1)
    return read(kernel_file.parse(path, f"{OPENS}\n{commented(toml)}\n{CLOSES}\n{source}"))


def check_op(where: str, op: str) -> None:
    """Raise a ClaimError if the op is missing or unknown to the oracle, or its file is no op."""
    if op.endswith(".py"):
        try:
            find(op)
        except OracleError as error:
            raise ClaimError(f"{where}: {error}") from None
    elif not op:
        raise ClaimError(f"{where}: say what it computes: --op softmax")
    else:
        try:
            find(op)
        except OracleError as error:
            raise ClaimError(f"{where}: {error}") from None


def guesses(op: str, where: str, source: str, said: FunctionWords = NOTHING) -> Iterator[GuessGroup]:
    """Claims in TOML: of the function that calls the kernels if users call that, else of the kernel, with a launch of
    the text and then with usual ones. A function that launches the only kernel comes first beside a reference, and
    after the kernel else: it may be a program's own.
    """
    variants = list(variants_of(op))
    hosts = [toml for one in variants for toml in host_claims(one, source, said)]
    if hosts:
        yield GuessGroup(hosts)
    if not hosts and said.entry:
        functions = host_functions_of(source)
        known = said.entry in functions
        reason = untold(op, source, said) if known else f"no function {said.entry}; there are {', '.join(functions)}"
        raise ClaimError(f"{where}: {reason}")
    if not hosts:
        beside = [toml for one in variants for toml in host_claims(one, source, said, of_one=True)]
        if op.endswith(".py") and beside:
            yield GuessGroup(beside)
        if not entries_of(source) and len(every := entries_for(source)) == 1:  # it launches kernels of other files
            raise ClaimError(f"{where}: {untold(op, source, replace(said, entry=every[0]))}")
        function = function_of(where, source)
        for find_launches in SOURCES:
            for one in variants:
                of_one = claims_with(find_launches, one, function, source, said.arguments)
                yield GuessGroup(of_one, is_launch_written=find_launches is not usual_launches)
        if beside and not op.endswith(".py"):
            yield GuessGroup(beside)


def found_in(kernel: Kernel, device: CpuDevice, tried: GuessesSoFar) -> str | FailedGuess:
    """The finding of the first trial that is not kept, empty if all are; trials that failed for earlier guesses first.

    Adds such a trial to those that later guesses meet, and functions that do not compile under any claim.
    """
    try:
        if not tried.fits(kernel, device) and tried.first:  # of the likeliest guess it is said what fails
            return NOT_ORDINARY
    except ClaimError as error:
        tried.idle[kernel.entries] = str(error)
        raise
    own = (attempt_of(kernel, 1, index) for index in range(TRIALS))
    fit = [one for one in tried.seen if has_launch(kernel, one)]
    judged, unjudged = 0, "no answer of it is judged"
    for index, attempt in enumerate(chain(fit, own)):  # own are planned one by one: most guesses fail at the first
        probe = Probe(check=index % 4 == 1 or index < len(fit), runs=2, timeout=2.0)
        kernel.bind(attempt.case.arrays, attempt.tune)  # another claim may be right about this
        try:
            trial = run_trial(kernel, attempt.case, attempt.tune, device, probe)
        except ClaimError as error:
            tried.idle[kernel.entries] = str(error)
            raise
        if trial.errors:
            tried.seen.append(attempt)
            return FailedGuess(attempt, probe, trial.errors[0])
        judged, unjudged = judged + trial.elements, next(map(unjudged_text, trial.reasons), unjudged)
    return "" if judged else unjudged


def has_launch(kernel: Kernel, attempt: Attempt) -> bool:
    """Whether the claim allows the case and the launch of another claim's trial."""
    case, tune = attempt.case, attempt.tune
    if unfit(kernel, case) or tune.keys() != kernel.tune.keys():
        return False
    is_one = all(value in kernel.tune[name] for name, value in tune.items())
    return is_one and not kernel.where.broken({**kernel.axes_of(case.arrays), **tune})


def op_of(name: str, source: str) -> str | None:
    """The op that the names of the file and its functions suggest: the longest whose own name is part of one."""
    names = [name, *entries_of(source), *host_functions_of(source)]
    whole = [op for op in op_names() if any(is_part(op, one) for one in names)]
    if own := [op for op in whole if op not in PARTS_OF_OTHERS]:
        longest = max(own, key=len)
        return WORDS.get(longest, longest)
    every = " ".join(names).lower()
    return next((op for word, op in WORDS.items() if word in every), max(whole, key=len, default=None))


def is_part(op: str, name: str) -> bool:
    """Whether some words of a name, joined, are those of an op: of `rmsNormKernel` or `rmsnorm_v2`, rms_norm."""
    words = [word.lower() for word in WORD.findall(name)]
    ends = range(1, len(words) + 1)
    return any("".join(words[start:end]) == op.replace("_", "") for end in ends for start in range(end))
