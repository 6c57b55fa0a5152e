"""Shows a campaign while it runs: a live table on a terminal, plain lines elsewhere.

Knows the events of a campaign; it does not know how the campaign runs.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from kfuzz.campaign.events import Event, Found, GaveUp, Tried
from kfuzz.campaign.state import Discovery
from kfuzz.campaign.trials.defect import plain_bucket
from kfuzz.common.phases import Phase, Stage
from kfuzz.oracle.numbers.plural import plural

LINE_EVERY = 10.0
"""Seconds between two lines of progress without a terminal."""
REFRESH = 4
HEAD_LINES = 8
AFTER = (Stage.EXPLAINING, Stage.SHRINKING, Stage.RANKING, Stage.CONFIRMING)
"""The steps that follow the search. Where a kernel is compiled, the board knows from its first trial."""


@dataclass
class KernelLine:
    """The progress of one kernel."""

    trials: int = 0
    rows: int = 0
    found: list[str] = field(default_factory=list)
    over: str = ""


@dataclass
class Board:
    """The progress of a campaign."""

    kernels: dict[str, KernelLine]
    max_time: float | None
    max_cases: int | None
    clock: Callable[[], float] = time.monotonic
    loads: Stage = Stage.COMPILING
    began: float = field(init=False)
    found: list[Discovery] = field(default_factory=list)
    causes: set[str] = field(default_factory=set)
    current: str = ""
    explaining: Phase | None = None

    def __post_init__(self) -> None:
        self.began = self.clock()

    @property
    def seconds(self) -> float:
        return self.clock() - self.began

    @property
    def trials(self) -> int:
        return sum(line.trials for line in self.kernels.values())

    def take(self, event: Event) -> None:
        """Count one event."""
        match event:
            case Tried():
                line, self.current = self.kernels[event.kernel], event.kernel
                line.trials, line.rows = line.trials + 1, line.rows + event.rows
            case Found(discovery) if not discovery.defect.silenced:
                self.found.append(discovery)
                self.causes.update(discovery.causes)
                self.kernels[discovery.defect.scene.kernel].found.append(discovery.defect.sign)
            case GaveUp():
                self.kernels[event.kernel].over = event.why

    @property
    def phase(self) -> Phase:
        """What the campaign does now; it compiles until each kernel has run or was given up."""
        if self.explaining is not None:
            return self.explaining
        ready = sum(bool(line.trials or line.over) for line in self.kernels.values())
        if ready == len(self.kernels):
            return Phase(Stage.SEARCHING)
        if len(self.kernels) == 1:
            return Phase(self.loads, next(iter(self.kernels)))
        return Phase(self.loads, "", ready, len(self.kernels))

    def is_news(self, event: Event) -> bool:
        """Whether an event deserves a line: a second sign of the same bug does not."""
        if isinstance(event, Found):
            one = event.discovery
            return not one.defect.silenced and self.causes.isdisjoint(one.causes)
        return isinstance(event, GaveUp)

    def left(self) -> str:
        """How much is left."""
        if self.max_time is not None:
            return f"{max(0.0, self.max_time - self.seconds):.0f} s left"
        if self.max_cases is not None:
            return f"{plural(max(0, self.max_cases - self.trials), 'case')} left"
        return "until Ctrl-C"

    def head(self) -> str:
        """The campaign in one line."""
        rows = sum(line.rows for line in self.kernels.values())
        seconds = max(self.seconds, 1e-3)
        trials, judged = plural(self.trials, "trial"), plural(rows, "row")
        rates = f"{trials} ({self.trials / seconds:.0f}/s), {judged} ({rows / seconds:.0f}/s)"
        found = plural(len(self.found), "finding")
        return f"{self.phase}; {rates}, {found}, {self.left()}"


class View(Protocol):
    """Shows a campaign while it runs; a context manager."""

    board: Board

    def __call__(self, event: Event) -> None:
        """Take one event."""

    def show_phase(self, phase: Phase) -> None:
        """Show a phase that this process announces."""

    def __enter__(self) -> "View":
        """Start to show the campaign."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""


def view_of(board: Board, console: Console) -> View:
    """A table on a terminal, lines elsewhere."""
    return TableView(board, console) if console.is_terminal else LineView(board, console)


class LineView:
    """A line for each finding, and one for the progress now and then."""

    def __init__(self, board: Board, console: Console) -> None:
        self.board, self._console, self._next = board, console, LINE_EVERY

    def __call__(self, event: Event) -> None:
        is_news = self.board.is_news(event)
        self.board.take(event)
        if is_news and not isinstance(event, Tried):
            self._say(event_line(event))
        elif self.board.seconds >= self._next:
            self._next = self.board.seconds + LINE_EVERY
            self._say(self.board.head())

    def _say(self, text: str) -> None:
        self._console.print(f"[{self.board.seconds:5.1f} s] {text}", markup=False, highlight=False, soft_wrap=True)

    def show_phase(self, phase: Phase) -> None:
        """Print a line when a step after the search begins."""
        if phase.step in AFTER:
            is_news = self.board.explaining is None or self.board.explaining.step != phase.step
            self.board.explaining = phase
            if is_news:
                self._say(f"{phase}")

    def __enter__(self) -> "LineView":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class TableView:
    """A table of the kernels, no higher than the terminal."""

    def __init__(self, board: Board, console: Console) -> None:
        self.board, self._console = board, console
        self._live = Live(console=console, refresh_per_second=REFRESH, get_renderable=self._render, transient=True)

    def __call__(self, event: Event) -> None:
        is_news = self.board.is_news(event)
        self.board.take(event)
        if is_news and not isinstance(event, Tried):
            self._console.print(event_line(event), markup=False, highlight=False, soft_wrap=True)

    def show_phase(self, phase: Phase) -> None:
        """Show it in the head of the table."""
        self.board.explaining = phase if phase.step in AFTER else self.board.explaining

    def __enter__(self) -> "TableView":
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def _render(self) -> Group:
        return Group(Text(self.board.head(), style="bold"), board_table(self.board, self._console.height - HEAD_LINES))


def event_line(event: Found | GaveUp) -> str:
    """A finding, or the end of a kernel's trials, in one line."""
    if isinstance(event, GaveUp):
        return f"{event.kernel}: {event.why.splitlines()[0] if event.why else ''}"
    one = event.discovery
    what = "known" if one.is_known else one.defect.severity
    return f"{what}: {plain_bucket(one.defect.bucket)} (trial {one.first_trial})"


def board_table(board: Board, most: int) -> Table:
    """The kernels with findings first, then the one that runs."""
    found = Table(box=None, pad_edge=False, expand=True)
    found.add_column("kernel", no_wrap=True)
    for heading in ("trials", "rows"):
        found.add_column(heading, justify="right", no_wrap=True)
    found.add_column("findings", no_wrap=True, overflow="ellipsis", ratio=1)
    order = sorted(board.kernels.items(), key=lambda item: (not item[1].found, item[0] != board.current, item[0]))
    for name, line in order[: max(most, 1)]:
        count = f"{len(line.found)}: " if len(line.found) > 1 else ""
        summary = count + "; ".join(line.found) if line.found else line.over.split("\n")[0]
        style = "red" if line.found else "bold" if name == board.current else ""
        found.add_row(name, str(line.trials), str(line.rows), Text(summary), style=style)
    if len(order) > max(most, 1):
        found.add_row(f"and {len(order) - max(most, 1)} more")
    return found
