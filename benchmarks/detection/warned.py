"""Mutants with only a warning: `python -m benchmarks.detection.warned [--cases 20] [--only reduce/] [OPERATOR ...]`.

Every mutant of the kernels (by these operators alone) is searched until an error, as in a score. For those without an
error, each warning that their kernel does not show is sorted by its reason; a mutant with several counts under the
gravest. With equal writes, a read gives the same value in any order; a warning with another reason is printed for
review.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator

from benchmarks.page import Lines, table
from kfuzz.claims.kernel import Kernel, discover
from kfuzz.devices import Device, Finding, Job, Outcome, Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.runners import LAUNCHER
from kfuzz.measure.mutants.mutate import Mutant, mutants
from kfuzz.measure.mutants.trials import ScoreOptions, control_of, score_of

EQUAL, BARRIER, DROPPED, ORDER, OTHER = (
    "races of writes that all leave the same value",
    "barriers that all threads reach, at different places",
    "memory without a value is read, and what was read is dropped",
    "an answer within the claim that depends on the order of threads",
    "any other",
)
"""The reasons, the least grave first."""


class Noting:
    """A device that notes the warnings of all outcomes."""

    def __init__(self, device: Device) -> None:
        self.name, self._device = device.name, device
        self.warnings: set[tuple[str, str]] = set()

    def run(self, job: Job, probe: Probe) -> Outcome:
        """Run the job, and note the reasons of its warnings."""
        outcome = self._device.run(job, probe)
        self.warnings |= {(reason_of(one), one.message) for one in outcome.findings if one.severity == "warning"}
        return outcome

    def close(self) -> None:
        """Close the device that it wraps."""
        self._device.close()


def reason_of(warning: Finding) -> str:
    """The reason that a warning's text gives."""
    if warning.kind == "race" and "every write left the same value" in warning.message:
        return EQUAL
    if warning.kind == "divergent-barrier":
        return BARRIER
    if warning.kind == "uninitialised" and "none changes the result" in warning.message:
        return DROPPED
    return ORDER if warning.kind == "nondeterministic" else OTHER


def main() -> None:
    """Search them all, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("operators", nargs="*", metavar="OPERATOR")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--only", default="", help="kernels whose names begin so")
    parser.add_argument("--seed", type=int, default=6)
    chosen = parser.parse_args()
    options = ScoreOptions(chosen.seed, chosen.cases)
    kernels = [
        one
        for one in discover()
        if one.broken is None and one.front.language.runner == LAUNCHER and one.name.startswith(chosen.only)
    ]
    tally, searched = Counter[str](), Counter[str]()
    try:
        for kernel in kernels:
            own = [one for one in mutants(kernel) if not chosen.operators or one.operator in chosen.operators]
            for mutant, status, reason in searched_ones(kernel, own, options):
                searched[status] += 1
                if reason:
                    tally[reason] += 1
                    where = f"{mutant.kernel}:{mutant.line}: {mutant.operator}: {mutant.before} -> {mutant.after}"
                    print(f"{where}: {reason}", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        pass  # all of them
    print("\n".join(show(tally, searched)))


def searched_ones(kernel: Kernel, own: list[Mutant], options: ScoreOptions) -> Iterator[tuple[Mutant, str, str | None]]:
    """Each mutant, its result, and the gravest reason of its warnings if it shows no error."""
    if not own:
        return
    device = Noting(CpuDevice())
    try:
        control = control_of(kernel, device, options)
        of_kernel = {reason for reason, _ in device.warnings}
        for mutant in own:
            device.warnings.clear()
            score = score_of(mutant, kernel, device, options, control)
            told = {reason for reason, _ in device.warnings} - of_kernel
            by_reason = max(told, key=(EQUAL, BARRIER, DROPPED, ORDER, OTHER).index, default=None)
            yield mutant, score.status, by_reason if score.status == "warned" else None
    finally:
        device.close()


def show(tally: Counter[str], searched: Counter[str]) -> Lines:
    """A row for each reason."""
    yield f"{searched.total()} mutants: {', '.join(f'{count} {status}' for status, count in searched.most_common())}."
    yield ""
    yield from table("lr", ("reported by warnings alone, for", "mutants"), tally.most_common())


if __name__ == "__main__":
    main()
