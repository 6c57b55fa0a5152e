"""Blocks of trials: run side by side, kept one by one in a file that grows, and counted.

Knows processes and files; it does not know how a block runs.
"""

import json
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from multiprocessing import active_children
from pathlib import Path

from benchmarks.detection.extensions import HERE as EXTENSIONS
from kfuzz.claims.kernel import KERNELS

DATA = EXTENSIONS.parent


@dataclass(frozen=True)
class Block:
    """Trials first .. last - 1 of one thing."""

    sort: str
    path: Path
    first: int
    last: int
    device: str
    jobs: int

    @property
    def name(self) -> str:
        """Its file below the kernels or the tests' data."""
        return str(self.path.relative_to(KERNELS if self.path.is_relative_to(KERNELS) else DATA))


@dataclass(frozen=True)
class Done:
    """What a block gave. `empty`: the trials in which nothing was judged.

    `cannot_run`: why it has no trials; `failed`: the error of kfuzz's own that ended it.
    """

    sort: str
    name: str
    first: int
    last: int
    elements: int = 0
    empty: int = 0
    seconds: float = 0.0
    accused: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()
    cannot_run: str = ""
    failed: str = ""

    @property
    def has_trials(self) -> bool:
        """Whether its trials count."""
        return not (self.cannot_run or self.failed)


def obey_parent() -> None:
    """Let Ctrl-C reach the parent alone, which ends this process by SIGTERM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, leave)


def leave(*_: object) -> None:
    """End the block that runs, with the processes of its device, and begin no other."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit


def run_blocks(left: Sequence[Block], jobs: int, run: Callable[[Block], Done]) -> Iterator[Done]:
    """Each block as soon as it is done; whatever ends this ends the processes too."""
    pool = ProcessPoolExecutor(jobs, initializer=obey_parent)
    try:
        for one in as_completed([pool.submit(run, one) for one in left]):
            yield one.result()
    finally:
        for process in active_children():
            process.terminate()
        pool.shutdown(cancel_futures=True)


@dataclass
class Journal:
    """The blocks that are done, in a file that grows."""

    path: Path
    done: list[Done] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Read what an earlier command has done; a line that a kill has cut short does not count."""
        lines = self.path.read_text(encoding="utf-8").split("\n") if self.path.exists() else [""]
        self.path.write_text("".join(f"{line}\n" for line in lines[:-1]), encoding="utf-8")
        every = [Done(**json.loads(line)) for line in lines[:-1]]
        self.done = [one for one in every if one.has_trials]

    def add(self, one: Done) -> None:
        """Keep a block."""
        self.done.append(one)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(one)) + "\n")


def count_blocks(done: Sequence[Done]) -> dict[str, object]:
    """Some blocks in figures."""
    ran = [one for one in done if one.has_trials]
    found: dict[str, object] = {
        "things": len({one.name for one in ran}),
        "trials": sum(one.last - one.first for one in ran),
        "elements": sum(one.elements for one in ran),
        "nothing_judged": sum(one.empty for one in ran),
        "accused": sum(len(one.accused) for one in ran),
        "process_seconds": round(sum(one.seconds for one in ran)),
    }
    if warned := Counter(words for one in ran for words in one.warned):
        found["warnings"] = dict(warned)
    if lacks := sorted({one.cannot_run for one in done} - {""}):
        found["cannot_run"] = lacks
    if failed := sorted({one.failed for one in done} - {""}):
        found["failed"] = failed
    return found
