"""How far a card has come with what it was given. Knows jobs and the numbers of launches; nothing of a card."""

from dataclasses import dataclass

from kfuzz.devices import Job


@dataclass(frozen=True)
class Reached:
    """A launch: of the how many-th run, and of which step of which job."""

    run: int
    job: Job
    step: int

    @property
    def words(self) -> str:
        """What it is called in messages."""
        return launch_words(self.job, self.step)


class Launches:
    """What the card was given since it was last waited for. Each launch has a number, which the card writes down."""

    def __init__(self) -> None:
        self._runs, self._every = 0, list[Reached]()

    def begin_run(self) -> None:
        """What is added from here on is of another run."""
        self._runs += 1

    def add(self, job: Job, step: int) -> int:
        """A launch; its number."""
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
