"""Proposes the table [accuracy] for a kernel, from the counts and from its text.

Knows claims and counts; never whether a claim is kept.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import prod

from kfuzz.cases.plans.edges import numbers_in_text
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.expression import LONGEST
from kfuzz.common.phases import Phase, Stage, announce
from kfuzz.common.text.flags import settings_of
from kfuzz.devices import ClaimError
from kfuzz.devices.cpu.counting import FAST, PRODUCT, QUOTIENT, STAGES, Counter
from kfuzz.devices.python.counting import CallCounter
from kfuzz.measure.roundings.formula import CountFormula, Point, fit_formula
from kfuzz.measure.roundings.grounds import summed_axes
from kfuzz.measure.roundings.measure import MeasuredCounts, Sample, chosen, group_by_launches, launches_at, measure
from kfuzz.measure.roundings.stages import stages_of
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import F64
from kfuzz.oracle.numbers.plural import plural

LARGEST = 1 << 20
"""Larger numbers in the text are not widths."""
MOST_TURNS = 4096
"""The most combinations of sizes at which the choice of launches is examined; beyond that it is unknown."""
ELEMENTWISE = 8
"""This many additions in a stage without a sum may belong to a polynomial or to an op's steps for each element."""

Statements = Mapping[str, str]
"""Keys of a table and their values, as TOML writes them."""


@dataclass(frozen=True)
class ProposedRounding:
    """The statements of [accuracy], and their basis in a sentence. `is_unshifted`: exp(x) of x itself."""

    statements: Statements
    remark: str
    is_unshifted: bool = False


def rounding_of(kernel: Kernel) -> ProposedRounding:
    """The rounding as measured, or the reason why it cannot be measured."""
    counter = Counter() if kernel.front.language.runner.counts_roundings else CallCounter()
    announce(Phase(Stage.COUNTING, kernel.name))
    try:
        found = measure(kernel, counter)
    except ClaimError as error:  # its trials will show whether it compiles unchanged
        narrow = "halves and bfloat16 do not count"
        why = narrow if narrow in str(error) else "it does not compile with numbers that count for float"
        found = MeasuredCounts((), why)
    finally:
        counter.close()
    if found.trouble or not found.samples:
        why = found.trouble or "no size is small enough"
        return ProposedRounding(
            from_text(kernel), f"adds and rescales are left out, since they cannot be counted: {why}"
        )
    if not any(one.most_adds or one.has_exp for one in found.samples):
        return ProposedRounding({}, "nothing is added, and no exp is taken: there is nothing to claim")
    is_unshifted = kernel.op == "softmax" and all(one.is_unshifted for one in found.samples)
    statements = {**propose_counts(kernel, found, is_unshifted), **from_text(kernel), **division(kernel, found)}
    if not kernel.front.language.runner.counts_roundings and any(one.has_exp for one in found.samples):
        statements = {"exp": quoted("__expf"), **statements}  # of a launch it is ex2.approx, as Triton has it
    return ProposedRounding(statements, describe_sizes(found), is_unshifted)


def describe_sizes(found: MeasuredCounts) -> str:
    """The sizes of the counts, in words."""
    largest = {name: max(sample.axes[name] for sample in found.samples) for name in found.samples[0].axes}
    sizes = " ".join(f"{name}={size}" for name, size in largest.items())
    launches = plural(len(found.samples), "launch", "launches")
    return f"counted in {launches} of sizes up to {sizes}; no more than the formulas say in any"


def propose_counts(kernel: Kernel, found: MeasuredCounts, is_unshifted: bool) -> dict[str, str]:
    """`adds`, `rescales`, the type of the sum, and whether anything is subtracted before an exp."""
    is_wide = any(one.has_wide for one in found.samples) and not any(one.has_narrow for one in found.samples)
    is_known = is_every_launch_seen(kernel, found.samples) and not are_rows_shared_out(kernel)
    proposed = propose_adds(kernel, found.samples) if is_known else {}
    if proposed and any(one.has_exp for one in found.samples) and not is_unshifted:
        proposed["rescales"] = quoted(formula(kernel, found.samples, partial(rescaled, find(kernel.op).gives_sets)))
    proposed |= {"shift": '"zero"'} if is_unshifted else {}
    proposed |= {"accumulate": quoted(F64.name)} if is_wide else {}
    return proposed


def rescaled(is_of_sums: bool, sample: Sample) -> int:
    """How often an exp scales a sum; for an op whose inputs are sums, such as merge_all, an input as well."""
    return sample.scalings if is_of_sums else sample.rescales


def propose_adds(kernel: Kernel, samples: Sequence[Sample]) -> dict[str, str]:
    """`adds`: a count for each sum that the op names, one for all if it has one sum; none if it has none."""
    lying = stages_of(find(kernel.op), kernel.rounding.models.form)
    if not any(lying.values()):
        return {}
    alone = alone_of(kernel, samples)
    if any(is_elsewhere(sample, alone, lying) for sample in samples):  # sums in stages where the formula has none
        lying = {stage: {"": 0} for stage in STAGES}
    texts = {
        stage: formula(kernel, samples, partial(of_sums, stage, min([*sums.values(), alone.get(stage, 0)])))
        for stage, sums in lying.items()
        if sums
    }
    named = {name: texts[stage] for stage, sums in lying.items() for name in sums}
    if len(texts) > 1 and "" not in named:
        return {"adds": f"{{ {', '.join(f'{name} = {quoted(text)}' for name, text in named.items())} }}"}
    several = [text for text in dict.fromkeys(texts.values()) if text != "0"] or ["0"]
    return {"adds": quoted(several[0] if len(several) == 1 else f"max({', '.join(several)})")}


def of_sums(stage: str, after: int, sample: Sample) -> int:
    """The additions of a stage, less those after its sums are complete."""
    return sample.adds[stage] - after


def alone_of(kernel: Kernel, samples: Sequence[Sample]) -> Mapping[str, int]:
    """The additions at sizes where every sum has one term; empty if the claim has no such sizes."""
    axes = summed_axes(kernel)
    found = [sample.adds for sample in samples if all(sample.axes[name] == 1 for name in axes)]
    return {stage: min(one[stage] for one in found) for stage in STAGES} if found else {}


def is_elsewhere(sample: Sample, alone: Mapping[str, int], lying: Mapping[str, Mapping[str, int]]) -> bool:
    """Whether a stage in which the formula has no sum grows with the sizes."""
    return any(sample.adds[stage] > max(ELEMENTWISE, alone.get(stage, 0)) for stage, sums in lying.items() if not sums)


def quoted(text: str) -> str:
    return f'"{text}"'


def flags_of(kernel: Kernel) -> dict[str, str]:
    """The compiler flags that are claimed: they are the author's, and are not measured."""
    return {"flags": json.dumps(list(kernel.flags))} if kernel.flags else {}


def from_text(kernel: Kernel) -> dict[str, str]:
    """The values that the text plainly implies for keys missing in the claim: fast exps, atomics, flags."""
    said = {one.key: one.value for one in kernel.rounding.read_off}
    values = {
        key: value if value.startswith("[") else json.dumps(value) for key, value in said.items() if key != "flags"
    }
    return {**values, **({"flags": json.dumps([said["flags"]])} if "flags" in said else {}), **flags_of(kernel)}


def division(kernel: Kernel, found: MeasuredCounts) -> dict[str, str]:
    """How a softmax divides its answers, and whether one sum divides each row."""
    if kernel.op != "softmax":
        return {}
    is_fast, is_product = (bool(found.flags & flag) for flag in (FAST, PRODUCT))
    is_fast |= settings_of(kernel.flags).get("prec-div") == "false"  # counted without the flags
    words = {
        (False, False): "ieee",
        (False, True): "reciprocal",
        (True, False): "fast",
        (True, True): "fast reciprocal",
    }
    proposed = {"divide": f'"{words[is_fast, is_product]}"'} if found.flags & (PRODUCT | QUOTIENT) else {}
    return {**proposed, "denominator": '"element"'} if any(one.divisors > 1 for one in found.samples) else proposed


def formula(kernel: Kernel, samples: Sequence[Sample], count: Callable[[Sample], int]) -> str:
    """One formula for all launches; the larger of several if the kernel chooses its launch by size."""
    variants = group_by_launches(samples)
    widths = positive_everywhere(kernel, samples)
    found = [for_variant(kernel, some, count, widths, len(variants) > 1) for some in variants.values()]
    texts = list(dict.fromkeys(one.text for one in found if one.text != "0")) or ["0"]
    text = texts[0] if len(texts) == 1 else f"max({', '.join(texts)})"
    if len(text) > LONGEST:  # too many ways to launch: unreadable, and too long for a claim
        text = for_variant(kernel, samples, count, widths, is_one_of=False).text
    return f"max(0, {text})" if is_negative(kernel, text) else text


def positive_everywhere(kernel: Kernel, samples: Sequence[Sample]) -> list[str]:
    """Tune values and derived sizes that are 0 in no launch: any launch's formula may divide by them."""
    every = [sample.sizes for sample in samples] + [kernel.sizes(*at) for at in least_sizes(kernel)]
    return [name for name in (*kernel.tune, *lets_of_launches(kernel)) if all(sizes[name] > 0 for sizes in every)]


def least_sizes(kernel: Kernel) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """The least claimed sizes, with every tune."""
    least = {name: axis.lo for name, axis in kernel.axes.items()}
    yield from ((least, {**least, **tune}) for tune in kernel.tunes(least))


def is_negative(kernel: Kernel, text: str) -> bool:
    """Whether a formula is below 0 at the least claimed sizes."""
    return any(CountFormula(text, 0.0)(kernel.sizes(*at)) < 0 for at in least_sizes(kernel))


def for_variant(
    kernel: Kernel, samples: Sequence[Sample], count: Callable[[Sample], int], others: Sequence[str], is_one_of: bool
) -> CountFormula:
    """The formula of one choice of launches, which is 0 if that choice is not made; `others` may divide."""
    widths = [number for number in numbers_in_text(kernel.source) if 2 <= number <= LARGEST]
    points = [Point(sample.sizes, count(sample)) for sample in samples]
    found = fit_formula(points, summed_axes(kernel), others, {32, *widths})
    if not is_one_of:
        return found
    is_chosen = []  # 1 if these launches are made, else 0, since / rounds down
    for axis, (least, most) in reach(kernel, samples[0]).items():
        if least > kernel.axes[axis].lo:
            is_chosen.append(f"min(1, {axis} / {least}) * ")
        if most < kernel.axes[axis].hi:
            is_chosen.append(f"max(0, 1 - {axis} / {most + 1}) * ")
    is_zero = found.text == "0" or not is_chosen
    return replace(found, text=found.text if is_zero else f"{''.join(is_chosen)}({found.text})")


def are_rows_shared_out(kernel: Kernel) -> bool:
    """Whether the split of a sum depends on how many sums there are: counts use few, and many are split differently."""
    summed = set(summed_axes(kernel))
    others = kernel.axes.keys() - summed
    return any(summed & axes and others & axes for axes in map(partial(axes_below, kernel), lets_of_launches(kernel)))


def axes_below(kernel: Kernel, name: str) -> set[str]:
    """The axes that a derived size depends on, directly or through others."""
    names = kernel.let[name].names
    return set(names & kernel.axes.keys()).union(*(axes_below(kernel, one) for one in names & kernel.let.keys()))


def lets_of_launches(kernel: Kernel) -> list[str]:
    """The derived sizes that launches and arrays use; those only in the claim's own counts are excluded."""
    made = [size for array in kernel.arrays.values() for size in array.shape]
    made += [size for one in kernel.launches for size in (*one.grid, *one.block, one.shared)]
    made += [size for one in kernel.launches for size in one.holes.values()]
    names = set().union(*(size.names for size in made), *(one.args for one in kernel.launches))
    while more := set().union(*(kernel.let[name].names for name in names & kernel.let.keys())) - names:
        names |= more
    return [name for name in kernel.let if name in names]


def reach(kernel: Kernel, sample: Sample) -> dict[str, tuple[int, int]]:
    """The range of each axis in which the launches of a sample are made."""
    found = {}
    for name in kernel.axes:
        named = {*sizes_of_changes(kernel, name), sample.axes[name]}
        fits = [size for size in named if launches_at(kernel, sample, name, size) == sample.launches]
        found[name] = min(fits), max(fits)
    return found


def sizes_of_changes(kernel: Kernel, axis: str) -> list[int]:
    """The sizes of an axis at which the launches may change: its ends, and around each number in a comparison."""
    claimed = kernel.axes[axis]
    compared = [one for launch in kernel.launches for one in launch.conditionals] + list(kernel.let.values())
    literals = {number for one in compared for number in one.literals}
    named = {claimed.lo, claimed.hi, *(number + step for number in literals for step in (-1, 0, 1))}
    return sorted(size for size in named if size in claimed)


def is_every_launch_seen(kernel: Kernel, samples: Sequence[Sample]) -> bool:
    """Whether every choice of launches at claimed sizes was counted; nothing is known about one that was not."""
    if not any(one.conditionals for one in kernel.launches):
        return True
    seen = group_by_launches(samples).keys()
    sizes_of = [sizes_of_changes(kernel, name) for name in kernel.axes]
    if prod(map(len, sizes_of)) > MOST_TURNS:
        return False
    found = (dict(zip(kernel.axes, sizes, strict=True)) for sizes in product(*sizes_of))
    return all(
        chosen(kernel, kernel.sizes(axes, tune)) in seen
        for axes in found
        for tune in kernel.tunes(axes)
        if not kernel.where.broken({**axes, **tune})
    )
