"""The options of a campaign. Knows seeds, limits and folders; never how a trial is run."""

from dataclasses import dataclass
from pathlib import Path

from kfuzz.campaign.schedule import WHOLE, Shard
from kfuzz.cases.plans.scale import BUDGET
from kfuzz.kinds import Severity


@dataclass(frozen=True)
class Options:
    """The options of a campaign. Without `max_cases` and `max_time` it runs until it is interrupted.

    `corpus`: where cases that fail are kept. `out`: where the campaign keeps its state, from which it can resume.
    `known`: buckets and causes that are not news (a baseline). `other_shapes`: a failure only at other shapes than the
    one that a function was written for is an error too. `shard`: which part of the campaign this is; `max_cases` counts
    the cases of all parts together. `fail_on`: the least severity of a finding that fails the run. `stop_at_first`: the
    first such finding that is not known ends the campaign.
    """

    seed: int = 0
    jobs: int = 1
    max_cases: int | None = None
    max_time: float | None = None
    runs: int = 3
    timeout: float = 3.0
    budget: int = BUDGET
    corpus: Path | None = None
    out: Path | None = None
    known: frozenset[str] = frozenset()
    other_shapes: bool = True
    shard: Shard = WHOLE
    stop_at_first: bool = False
    fail_on: Severity = "error"
