"""Notes how often each kernel was run last time, in the cache folder at the end of a campaign; `kfuzz list` reads it.

Knows a campaign's result and the cache; a lost note loses nothing else.
"""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from kfuzz.campaign.result import Result
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import cache

FORMAT = "last-run/1"


@dataclass(frozen=True)
class LastRun:
    """The trials of a kernel's last campaign, and the errors that it found; `ended` is a date and time in UTC.

    `text` is the hash of the kernel file at that time.
    """

    device: str
    trials: int
    errors: int
    ended: str
    text: str

    def is_of(self, kernel: Kernel) -> bool:
        """Whether the kernel file is unchanged since then."""
        return self.text == cache.key(kernel.front.whole)


def note_runs(result: Result, device: str) -> None:
    """Note a campaign for each kernel that it ran."""
    ended = datetime.now(UTC).isoformat(timespec="seconds")
    for one in result.kernels:
        if one.progress.trials:
            errors = sum(discovery.is_error for discovery in one.discoveries)
            run = LastRun(device, one.progress.trials, errors, ended, cache.key(one.kernel.front.whole))
            cache.save(_name(one.kernel), json.dumps(asdict(run)).encode())


def last_run(kernel: Kernel) -> LastRun | None:
    """The note about the kernel's last run; None if it was never run here."""
    note = cache.fetch(_name(kernel))
    return LastRun(**json.loads(note)) if note else None


def _name(kernel: Kernel) -> str:
    return f"runs/{cache.key(FORMAT, str(kernel.path.resolve()))}"
