"""The self-check as tasks for several processes: each by names and numbers alone, since variants are no data."""

from collections.abc import Callable
from functools import partial

import numpy as np

from kfuzz.oracle.elements import BF16, F16, F32, Element
from kfuzz.oracle.find import find
from kfuzz.oracle.selfcheck import base_two, formulas, independent, merged, planted, planted_formulas, soundness
from kfuzz.oracle.selfcheck.planted_formulas import PLANTED, PlantedShare
from kfuzz.oracle.selfcheck.soundness import Plan, Tally

VARIANTS = {"base e": soundness.VARIANTS, "base two": base_two.VARIANTS}


def of_soundness(plan: Plan) -> list[Callable[[], list[Tally]]]:
    tasks: list[Callable[[], list[Tally]]] = [
        partial(_of_variants, family, number, plan)
        for family, variants in VARIANTS.items() for number in range(len(variants))
    ]  # fmt: skip
    return [*tasks, partial(_of_small_rows, plan), partial(_of_sums, plan), partial(_of_merged, plan)]


def _of_variants(family: str, number: int, plan: Plan) -> list[Tally]:
    return list(soundness.softmax_rows(plan, (VARIANTS[family][number],)))


def _of_small_rows(plan: Plan) -> list[Tally]:
    return [soundness.small_random_rows(plan)]


def _of_sums(plan: Plan) -> list[Tally]:
    return list(soundness.sums(plan))


def _of_merged(plan: Plan) -> list[Tally]:
    return list(merged.merged(plan))


def of_formulas(quick: bool) -> list[Callable[[], formulas.Checked]]:
    ops: list[Callable[[], formulas.Checked]] = [
        partial(_of_op, op.name, form, quick) for op in formulas.formula_ops() for form in formulas.formats(quick)
    ]
    return ops + [partial(_of_kernel, name, quick) for name in independent.KERNELS]


@np.errstate(all="ignore")
def _of_op(name: str, form: Element, quick: bool) -> formulas.Checked:
    op = find(name)
    return formulas.check(op, form, quick, seeds=1 if quick else 2)


@np.errstate(all="ignore")
def _of_kernel(name: str, quick: bool) -> formulas.Checked:
    return independent.checked(name, quick)


def of_softmax_bugs(sizes: tuple[int, ...], seeds: int) -> list[Callable[[], list[planted.Line]]]:
    return [partial(planted.lines_of, n, seed) for n in sizes for seed in range(seeds)]


def of_planted(sizes: tuple[int, ...], quick: bool) -> list[Callable[[], PlantedShare]]:
    forms = (F32, BF16) if quick else (F32, F16, BF16)
    return [partial(_of_bugs, name, form, sizes) for name in PLANTED for form in forms]


def _of_bugs(name: str, form: Element, sizes: tuple[int, ...]) -> PlantedShare:
    return planted_formulas.share_of(name, form, sizes)
