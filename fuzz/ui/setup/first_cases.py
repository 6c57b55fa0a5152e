"""The first corpus of a kernel: a few cases that find bugs which kfuzz seeds for this purpose.

A correct kernel leaves no failing case, so without them there would be nothing to replay. Knows mutants and trials;
never the dialogue with the user.
"""

from collections.abc import Iterator
from pathlib import Path

from kfuzz.campaign.schedule import attempt_of, is_large, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases import case_file
from kfuzz.cases.case import Case, Record
from kfuzz.cases.corpus import slug
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import ClaimError, Device
from kfuzz.measure.mutants.mutate import Mutant, as_kernel
from kfuzz.measure.mutants.trials import RUNS, TIMEOUT, choose_mutants

SEED = 0
MOST_MUTANTS = 12
MOST_TRIALS = 24
"""Most trials for each mutant: most are killed by the first few, and the search deals with the others."""


def first_cases(kernel: Kernel, device: Device) -> Iterator[tuple[Mutant, Case | None]]:
    """Some mutants, each with a case that kills it, preferably one that kills another mutant too; None if there is
    none.
    """
    killers: list[int] = []
    for mutant in sample_mutants(kernel):
        seeded = as_kernel(mutant, kernel)
        others = [index for index in range(MOST_TRIALS) if index not in killers and not is_large(index)]
        try:
            index = next((one for one in [*killers, *others] if finds_bug(kernel, seeded, one, device)), None)
        except ClaimError:  # it does not compile, so it is not a bug
            continue
        if index is not None and index not in killers:
            killers.append(index)
        yield mutant, None if index is None else attempt_of(kernel, SEED, index).case


def sample_mutants(kernel: Kernel) -> list[Mutant]:
    """Mutants of different operators, evenly spread over all operators."""
    every = choose_mutants(kernel, 1)
    return [every[place * len(every) // MOST_MUTANTS] for place in range(MOST_MUTANTS)] if every else []


def finds_bug(kernel: Kernel, seeded: Kernel, index: int, device: Device) -> bool:
    """Whether a trial finds the seeded bug."""
    attempt, probe = attempt_of(kernel, SEED, index), probe_of(kernel, SEED, index, RUNS, TIMEOUT)
    return bool(run_trial(seeded, attempt.case, attempt.tune, device, probe).errors)


def keep_case(case: Case, kernel: Kernel, corpus: Path) -> Path:
    """Write a case to the corpus unless it is there; its path."""
    path = corpus / case.folder / f"{slug(f'first {kernel.path.stem}')}-{case.digest[:8]}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        case_file.write(path, Record(case, None))
    return path
