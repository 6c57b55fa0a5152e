"""`python -m tests.oracle.selfcheck` checks the oracle itself and prints tables. It exits with 1 if a check fails."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

import numpy as np

from kfuzz.oracle.proof.simulations import FormulaTally
from tests.oracle.selfcheck import base_two, planted, soundness, tasks
from tests.oracle.selfcheck.planted_formulas import CRITERIA_OF_FORMULAS, PlantedShare
from tests.oracle.selfcheck.planted_quantizers import CRITERIA as CRITERIA_OF_QUANTIZERS
from tests.oracle.selfcheck.planted_quantizers import PlantedQuantizer
from tests.oracle.selfcheck.quantizers import QuantizerTally
from tests.oracle.selfcheck.soundness import FULL, QUICK, Tally

T = TypeVar("T")

FORMULAS_CATCH = 0.9
"""Declared claims and the joint test must catch this share of the rows on which a planted bug in a formula shows."""

QUANTIZERS_CATCH = 0.95
"""The oracle must see this share of the groups in which a planted quantizer differs from the right one."""

CATCHES = 0.92
"""The default criteria must catch this share of the active planted bugs."""


def main() -> int:
    """Print the tables and say whether every check passes."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.selfcheck", description=__doc__)
    parser.add_argument("--full", action="store_true", help="test all sizes up to 1e5, and planted bugs at two sizes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of processes (default: one per core)")
    options = parser.parse_args()
    try:
        # a process that is forked while numpy's threads run may hang, and Python 3.12 warns of it
        with ProcessPoolExecutor(options.jobs, get_context("forkserver")) as pool:
            failures = check(options.full, pool)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    for failure in failures:
        print(f"FAILED: {failure}")
    print("the oracle holds" if not failures else "the oracle does not hold")
    return 1 if failures else 0


def check(full: bool, pool: ProcessPoolExecutor | None = None, every: int = 1) -> list[str]:
    """Print the tables and return what fails. `every`: one of so many algorithms, formulas and quantizers."""
    sound = _submit(pool, tasks.soundness_tasks(FULL if full else QUICK)[::every])
    inside = _submit(pool, tasks.formula_tasks(not full)[::every])
    bugs = _submit(pool, tasks.softmax_bug_tasks((1000, 10_000) if full else (1000,), 3 if full else 1))
    shares = _submit(pool, tasks.planted_formula_tasks((33, 130, 257) if full else (33,), not full))
    right = _submit(pool, tasks.quantizer_tasks(3072 if full else 120)[::every])
    untrue = _submit(pool, tasks.untrue_quantizer_tasks())
    wrong = _submit(pool, tasks.quantizer_bug_tasks(3000 if full else 600))
    failures = _print_soundness(sound) + _print_formulas(inside)
    failures += _print_bugs(planted.join_lines(bugs)) + _print_formula_bugs(shares)
    return failures + _print_quantizers(right, untrue) + _print_quantizer_bugs(wrong)


def _submit(pool: ProcessPoolExecutor | None, tasks: Sequence[Callable[[], T]]) -> Iterator[T]:
    """Start all tasks at once, or run each when it is asked for if there is no pool; yield their results in order."""
    if pool is None:
        return (task() for task in tasks)
    futures = [pool.submit(task) for task in tasks]
    return (future.result() for future in futures)


def _print_soundness(parts: Iterator[list[Tally]]) -> list[str]:
    print("Soundness: simulated float32 answers of correct algorithms, in units of their bound\n")
    print(f"{'algorithm':42} {'checks':>7} {'largest':>8} {'median':>7} {'p90':>5} {'violations':>11}")
    tallies = []
    for tally in (tally for part in parts for tally in part):
        tallies.append(tally)
        print(_row(tally), flush=True)
    checks, violations = sum(len(t.ratios) for t in tallies), sum(t.violations for t in tallies)
    print(f"{'all':42} {checks:7} {max(max(t.ratios) for t in tallies):8.4f} {'':15}{violations:8}")
    print("\nThe same check on bounds that are wrong on purpose\n")
    failures = [f"{t.name}: {t.violations} violations" for t in tallies if t.violations]
    for tally in (*soundness.wrong_bounds(), *base_two.wrong_bounds()):
        print(_row(tally))
        if not tally.violations:
            failures.append(f"{tally.name}: no violation, so the check cannot fail")
    return failures


def _print_formulas(tallies: Iterator[FormulaTally]) -> list[str]:
    """Print how simulated kernels of every formula, and independent kernels, lie in the enclosures."""
    print("\nFormulas: rows inside, and how many times its error each bound is (median and 99th percentile)\n")
    print(f"{'op, format':34} {'rows':>8} {'elements':>9} {'unjudged':>9} {'median':>8} {'p99':>9} {'violations':>11}")
    failures, rows, violations = [], 0, 0
    for tally in tallies:
        outside = tally.outside + tally.clashes
        rows, violations = rows + tally.rows, violations + outside
        times, far = (float(np.median(x)) if x else 0.0 for x in (tally.factors, tally.far))
        share = tally.unjudged / max(tally.elements, 1)
        line = f"{tally.name:34} {tally.rows:8} {tally.elements:9} {share:9.2%} {times:8.3g} {far:9.3g} {outside:11}"
        print(line, flush=True)
        if outside:
            failures.append(f"{tally.name}: {outside} violations; {tally.first}")
    print(f"{'all':34} {rows:8} {'':37} {violations:11}")
    return failures


def _print_quantizers(tallies: Iterator[QuantizerTally], untrue: Iterator[QuantizerTally]) -> list[str]:
    """Print how many elements of right quantizers lie outside, and of right ones under claims that are not true."""
    print("\nQuantizers: codes and scales outside, and codes that have more than one right value\n")
    print(f"{'way':34} {'formats':>8} {'elements':>10} {'unjudged':>9} {'several':>9} {'violations':>11}")
    failures, ways = [], dict[str, list[QuantizerTally]]()
    for tally in tallies:
        ways.setdefault(tally.name.rpartition(", ")[0], []).append(tally)
        if tally.accused + tally.scales:
            failures.append(f"{tally.name}: {tally.accused} codes and {tally.scales} scales outside")
    total = 0
    for name, own in ways.items():
        elements, judged = sum(one.elements for one in own), sum(one.judged for one in own)
        several, outside = sum(one.several for one in own), sum(one.accused + one.scales for one in own)
        total += elements
        print(f"{name:34} {len(own):8} {elements:10} {1 - judged / elements:9.2%} {several / judged:9.4%} {outside:11}")
    print(f"{'all':34} {'':8} {total:10} {'':19} {len(failures):11}\n\nThe same check under claims that are not true\n")
    for tally in untrue:
        print(f"{tally.name:56} {tally.accused + tally.scales:8} outside")
        if not tally.accused + tally.scales:
            failures.append(f"{tally.name}: no violation, so the check cannot fail")
    return failures


def _print_quantizer_bugs(found: Iterator[PlantedQuantizer]) -> list[str]:
    """Print the share of the groups on which each bug shows, by each criterion; no right group may be accused."""
    print("\nPlanted bugs in quantizers: shares of the groups in which a number or a scale differs\n")
    print(f"{'bug':52} {'active':>6} " + " ".join(f"{name:>15}" for name in CRITERIA_OF_QUANTIZERS))
    bugs, failures = [], []
    for bug in found:
        bugs.append(bug)
        shares = " ".join(f"{n / max(bug.active, 1):15.1%}" for n in bug.caught.values())
        print(f"{bug.name:52} {bug.active:6} {shares}")
        if not bug.caught["kfuzz"] or bug.accused["kfuzz"]:
            failures.append(
                f"{bug.name}: seen in {bug.caught['kfuzz']} groups, {bug.accused['kfuzz']} right ones accused"
            )
    mean = {name: np.mean([bug.caught[name] / max(bug.active, 1) for bug in bugs]) for name in CRITERIA_OF_QUANTIZERS}
    seen = {name: sum(bug.caught[name] > 0 for bug in bugs) for name in CRITERIA_OF_QUANTIZERS}
    accused = {name: sum(bug.accused[name] for bug in bugs) for name in CRITERIA_OF_QUANTIZERS}
    groups = sum(bug.groups for bug in bugs)
    print(f"{'mean share':59} " + " ".join(f"{share:15.1%}" for share in mean.values()))
    print(f"{f'bugs seen, of {len(bugs)}':59} " + " ".join(f"{count:15}" for count in seen.values()))
    print(f"{'right groups that are accused':59} " + " ".join(f"{n / groups:15.1%}" for n in accused.values()))
    if mean["kfuzz"] < QUANTIZERS_CATCH:
        failures.append(f"planted quantizers: {mean['kfuzz']:.1%} of their groups are seen, not {QUANTIZERS_CATCH:.0%}")
    return failures


def _print_formula_bugs(shares: Iterator[PlantedShare]) -> list[str]:
    """Print the share of wrong formulas that each criterion catches. None of ours may accuse a right row."""
    print("\nPlanted bugs in formulas: shares of the rows on which they show\n")
    print(
        f"{'op, format':24} {'active':>6} " + " ".join(f"{name:>12}" for name in CRITERIA_OF_FORMULAS) + "  right rows"
    )
    failures, active, caught, accused, right = [], 0, 0, dict.fromkeys(CRITERIA_OF_FORMULAS, 0), 0
    for share in shares:
        shown = " ".join(f"{n / max(share.active, 1):12.0%}" for n in share.caught.values())
        print(f"{share.name:24} {share.active:6} {shown} {share.right:11}", flush=True)
        active, caught, right = active + share.active, caught + share.caught["and joint"], right + share.right
        accused = {name: n + share.accused[name] for name, n in accused.items()}
    counts = ", ".join(f"{name} {n}" for name, n in accused.items())
    print(f"\nright rows accused, of {right}: {counts}\n")
    if any(accused[name] for name in ("any order", "declared", "and joint")):
        failures.append("a right kernel of a formula is accused")
    if caught < FORMULAS_CATCH * active:
        failures.append(f"planted bugs in formulas: caught {caught / active:.1%}, expected {FORMULAS_CATCH:.0%}")
    return failures


def _row(tally: Tally) -> str:
    ratios = np.array(tally.ratios)
    middle = f"{np.median(ratios):7.2f} {np.quantile(ratios, 0.9):5.2f}"
    return f"{tally.name:42} {len(ratios):7} {ratios.max():8.4f} {middle} {tally.violations:11}"


def _print_bugs(table: list[planted.Line]) -> list[str]:
    print("\nPlanted bugs: rows caught of those that are active\n")
    control, *lines = table
    print(f"{'bug':34} {'active':>6} " + " ".join(f"{name:>12}" for name in planted.CRITERIA))
    for line in (*lines, control):
        print(f"{line.name:34} {line.active:6} " + " ".join(f"{n:12}" for n in line.caught.values()))
    active = sum(line.active for line in lines)
    caught = {name: sum(line.caught[name] for line in lines) for name in planted.CRITERIA}
    print(f"{'all bugs':34} {active:6} " + " ".join(f"{n:5} ({n / active:4.0%})" for n in caught.values()), "\n")
    failures = []
    if caught["default"] < CATCHES * active:
        failures.append(
            f"planted bugs: the default criteria catch {caught['default'] / active:.1%}, expected {CATCHES:.0%}"
        )
    ours = [name for name, rule in planted.CRITERIA.items() if not isinstance(rule, tuple)]
    if any(control.caught[name] for name in ours):
        failures.append("the correct kernel is accused")
    return failures


if __name__ == "__main__":
    sys.exit(main())
