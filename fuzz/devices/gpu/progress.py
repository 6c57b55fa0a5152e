"""Tracks which launch the GPU has reached. Knows jobs and the numbers of launches; it knows no GPU."""

from dataclasses import dataclass

from kfuzz.devices import Job


@dataclass(frozen=True)
class Reached:
    """A launch: the number of its run, its job and its step."""

    run: int
    job: Job
    step: int

    @property
    def words(self) -> str:
        """What it is called in messages."""
        return launch_words(self.job, self.step)


class Launches:
    """The launches since the last wait for the GPU. Each has a number, which the GPU writes when it begins."""

    def __init__(self) -> None:
        self._runs, self._every = 0, list[Reached]()

    def begin_run(self) -> None:
        """Begin the next run."""
        self._runs += 1

    def add(self, job: Job, step: int) -> int:
        """Add a launch and return its number."""
        self._every.append(Reached(self._runs - 1, job, step))
        return len(self._every) - 1

    def reached(self, number: int) -> Reached:
        """The launch of a number."""
        return self._every[number]


def launch_words(job: Job, number: int) -> str:
    """What a launch is called in messages."""
    step = job.steps[number]
    grid, block = ("x".join(map(str, size)) for size in (step.grid, step.block))
    return f"{job.path}: launch {number} ({step.entry}, grid {grid}, block {block}, shared {step.shared})"
