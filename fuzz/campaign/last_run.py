"""How often each kernel was run last time: noted at the end of a campaign, in the cache folder, and read by the list.

Knows a campaign's result and the cache; where the note is lost, nothing else is.
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
    """The trials that a kernel's last campaign gave it, and the errors it found; `ended` is a date and time in UTC.

    `text` is the hash of the kernel file as it was then.
    """

    device: str
    trials: int
    errors: int
    ended: str
    text: str

    def is_of(self, kernel: Kernel) -> bool:
        """Whether the file is still what it was."""
        return self.text == cache.key(kernel.front.whole)


def note_runs(result: Result, device: str) -> None:
    """Note a campaign for each kernel that it ran."""
    ended = datetime.now(UTC).isoformat(timespec="seconds")
    for one in result.kernels:
        if one.progress.trials:
            errors = sum(found.is_error for found in one.discoveries)
            told = LastRun(device, one.progress.trials, errors, ended, cache.key(one.kernel.front.whole))
            cache.save(_name(one.kernel), json.dumps(asdict(told)).encode())


def last_run(kernel: Kernel) -> LastRun | None:
    """What was noted of the kernel last; None where it never was run here."""
    noted = cache.fetch(_name(kernel))
    return LastRun(**json.loads(noted)) if noted else None


def _name(kernel: Kernel) -> str:
    return f"runs/{cache.key(FORMAT, str(kernel.path.resolve()))}"
