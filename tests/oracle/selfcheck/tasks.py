"""The self-check as tasks for several processes: each is names and numbers only, because variants are not data."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from kfuzz.oracle.judging.find_op import find, op_names
from kfuzz.oracle.numbers.elements import BF16, E4M3, F16, F32, F64, Element
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.proof.simulations import FormulaTally, check
from tests.oracle.selfcheck import (
    base_two,
    independent,
    merged,
    planted,
    planted_formulas,
    planted_quantizers,
    quantizers,
    soundness,
)
from tests.oracle.selfcheck.planted_formulas import PLANTED, PlantedShare
from tests.oracle.selfcheck.soundness import Plan, Tally

VARIANTS = {"base e": soundness.VARIANTS, "base two": base_two.VARIANTS}


def soundness_tasks(plan: Plan) -> list[Callable[[], list[Tally]]]:
    tasks: list[Callable[[], list[Tally]]] = [
        partial(_check_variant, family, number, plan)
        for family, variants in VARIANTS.items() for number in range(len(variants))
    ]  # fmt: skip
    return [*tasks, partial(_check_small_rows, plan), partial(_check_sums, plan), partial(_check_states, plan)]


def _check_variant(family: str, number: int, plan: Plan) -> list[Tally]:
    return list(soundness.softmax_rows(plan, (VARIANTS[family][number],)))


def _check_small_rows(plan: Plan) -> list[Tally]:
    return [soundness.small_random_rows(plan)]


def _check_sums(plan: Plan) -> list[Tally]:
    return list(soundness.sums(plan))


def _check_states(plan: Plan) -> list[Tally]:
    return list(merged.check_states(plan))


def formula_ops() -> list[Op]:
    """Every op of the oracle whose bounds follow from its formula."""
    return [op for op in map(find, op_names()) if not op.gives_sets]


def formula_tasks(quick: bool) -> list[Callable[[], FormulaTally]]:
    """Every op in every format; if quick, in one of them, the next op in the next."""
    forms = (F32, BF16) if quick else (F32, F16, BF16, F64)
    ops: list[Callable[[], FormulaTally]] = [
        partial(_check_op, op.name, form, quick)
        for number, op in enumerate(formula_ops())
        for form in ((forms[number % len(forms)],) if quick else forms)
    ]
    return ops + [partial(_check_kernel, name, quick) for name in independent.KERNELS]


@np.errstate(all="ignore")
def _check_op(name: str, form: Element, quick: bool) -> FormulaTally:
    op = find(name)
    return check(op, form, quick, seeds=1 if quick else 2)


@np.errstate(all="ignore")
def _check_kernel(name: str, quick: bool) -> FormulaTally:
    return independent.check_kernel(name, quick)


def quantizer_tasks(rows: int) -> list[Callable[[], quantizers.QuantizerTally]]:
    """Every right way to quantize in every format."""
    return [
        partial(quantizers.check_way, number, element, rows, 1)
        for number in range(len(quantizers.WAYS)) for element in quantizers.FORMATS
    ]  # fmt: skip


def untrue_quantizer_tasks() -> list[Callable[[], quantizers.QuantizerTally]]:
    """Right quantizers under claims that are not true of them."""
    return [partial(_check_untrue, name) for name in quantizers.UNTRUE]


def _check_untrue(name: str) -> quantizers.QuantizerTally:
    number, claim = quantizers.UNTRUE[name]
    return replace(quantizers.check_way(number, E4M3, 600, 1, claim), name=name)


def quantizer_bug_tasks(groups: int) -> list[Callable[[], planted_quantizers.PlantedQuantizer]]:
    return [partial(planted_quantizers.count_bug, form, bug, groups) for form, bug in planted_quantizers.bugs()]


def softmax_bug_tasks(sizes: tuple[int, ...], seeds: int) -> list[Callable[[], list[planted.Line]]]:
    return [partial(planted.count_bugs, n, seed) for n in sizes for seed in range(seeds)]


def planted_formula_tasks(sizes: tuple[int, ...], quick: bool) -> list[Callable[[], PlantedShare]]:
    forms = (F32, BF16) if quick else (F32, F16, BF16)
    return [partial(_count_bugs, name, form, sizes) for name in PLANTED for form in forms]


def _count_bugs(name: str, form: Element, sizes: tuple[int, ...]) -> PlantedShare:
    return planted_formulas.count_bugs_of(name, form, sizes)
