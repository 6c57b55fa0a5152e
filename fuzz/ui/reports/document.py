"""The shape of the report kfuzz-report/1: the one JSON document that pages, SARIF and CI formats are made from.

Knows the fields, their types and what they mean; how one is shown is elsewhere. A record of a finding is made from its
defect by these declarations (records.py); report.py makes the others.
"""

from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

from kfuzz.kinds import Kind, Severity

SCHEMA = "kfuzz-report/1"
Json = dict[str, object]
JsonNumber = float | str
"""A float, or "nan", "inf" and "-inf" as text, for which JSON has no number."""


@dataclass(frozen=True)
class From:
    """The attribute that a field is made from, where it has another name."""

    attribute: str


class WorstElement(TypedDict):
    """An element and its enclosure [lo, hi]."""

    output: str
    index: list[int]
    got: JsonNumber
    want: JsonNumber
    lo: JsonNumber
    hi: JsonNumber
    got_bits: str
    want_bits: str


class RatedElement(WorstElement):
    """The element furthest outside; `ratio` is the defect's: its error over its bound."""

    ratio: JsonNumber | None


class WrongPart(TypedDict):
    """How many elements are wrong, in which rows (`more_rows` are not listed), and where in the worst row."""

    wrong: int
    elements: int
    rows: list[int]
    more_rows: int
    pattern: str


class SmallAnswer(TypedDict):
    """A whole answer of few elements, in memory order, and its wrong elements."""

    output: str
    shape: list[int]
    got: list[JsonNumber]
    wrong: list[WorstElement]


class RacingThreads(TypedDict):
    """The launch of a race, and its two threads, each with its block."""

    grid: list[int]
    block_size: list[int]
    thread: list[int]
    block: list[int]
    other_thread: list[int]
    other_block: list[int]


class FindingEntry(TypedDict):
    """One bucket: what is wrong, how it was seen, and which file holds the case that shows it.

    A field is an attribute of what report.py adds, of the discovery, of its defect or of the defect's scene. For one
    more, a line here is all that the report needs.
    """

    title: str
    """The word in front of it, such as BROKEN."""
    bucket: str
    """The same for what looks alike."""
    fault: str
    """The bucket without the shape of the error: an error and a warning of the same bug have the same one."""
    causes: list[str]
    """What a baseline compares, beside the bucket."""
    bug: str
    """The bucket of the finding that describes this bug best."""
    kind: Kind
    diagnosis: str
    """What a wrong answer looks like."""
    severity: Severity
    known: Annotated[bool, From("is_known")]
    """Whether the baseline has it."""
    kept_before: Annotated[bool, From("is_kept_before")]
    """Whether an earlier run has kept a case of this bug."""
    first_trial: int
    smallest_trial: int
    """The trial with the smallest case."""
    count: int
    """In how many trials it occurred."""
    devices: list[str]
    """Those that showed it."""
    confirmed: str
    """The GPU's answer: `yes`, `no` and why, or `not run`."""
    case: Annotated[str | None, From("path")]
    """The file of the smallest case."""
    minimized: Annotated[bool, From("is_minimized")]
    elements: int
    axes: dict[str, int]
    tune: dict[str, int]
    check: bool
    """Whether each access was checked."""
    where: str
    """`file` and `line` in one."""
    file: str
    line: int | None
    other_file: str
    """The other place of a pair."""
    other_line: int | None
    message: str
    """The finding in one sentence."""
    words: str
    """The case in words."""
    detail: str
    """The diagnosis with the numbers of this case."""
    worst: RatedElement | None
    extent: WrongPart | None
    picture: SmallAnswer | None
    threads: RacingThreads | None
    """Of a race within one launch, if the device named both threads."""
    evidence: list[list[str]]
    """The statements of the terminal, each with its label."""
    commands: list[list[str]]
    """The commands that you can run next, each with its label."""


class SizesTried(TypedDict):
    """What is claimed of an axis, and the sizes at which an answer was judged; null where none was.

    `home`: its size in the shape that the function was written for; null if none is known.
    """

    claimed: str
    least: int
    most: int
    smallest_tried: int | None
    largest_tried: int | None
    home: int | None


class SizesTogether(TypedDict):
    """Sizes that came together, of each axis the power of two at or below it, and in how many judged trials."""

    sizes: list[int]
    trials: int


class SilencedFinding(TypedDict):
    """A finding that a comment in the source silences; its count is 0 if the comment silenced nothing."""

    kind: Kind
    where: str
    reason: str
    count: int


class InferredClaim(TypedDict):
    """The parts of a claim that the user has not written, and what of them would change the verdict."""

    parts: list[str]
    would_change: str


class PropertyEntry(TypedDict):
    """A property that users rely on: whether the kernel claims it, and in how many trials it held and did not hold.

    `untested`: why no trial shows it; empty if one does.
    """

    claimed: bool
    held: int
    not_held: int
    untested: str


class KernelEntry(TypedDict):
    """One kernel: how often it was tried, how near to its bound it came, what was found of it.

    `error`: its claim or its source is at fault. `stopped`: why it was not tried to the end. `unjudged`: why nothing
    is known of it, though it was tried. `hardly_tried`: that may be chance, in a few trials with hostile values.
    `unjudged_rows`: so many of `rows` were not judged; parts add up. `worst_ulps`: the largest error of a kept
    answer in units in the last place of the largest number of its row; null if it is not known.
    `not_judged`: which answers were not judged, and why. `notes`: what in its text contradicts its claim, and how its
    products round where its reference leaves that open. `inferred`: null if the user wrote the whole claim. `seconds`:
    where the time went. `size_costs`: what a new size costs a callable, if that is much. `ratios`: kept trials by the
    largest error as a share of its bound, in equal steps from 0 to 1. `source`: its text, where something was found.
    """

    name: str
    op: str
    path: str
    broken: bool
    trials: int
    rows: int
    sizes: dict[str, SizesTried]
    tried: list[SizesTogether]
    rungs: list[str]
    unjudged_rows: int
    worst_ratio: float
    worst_ulps: float | None
    ratios: list[int]
    error: str
    stopped: str
    unjudged: str
    hardly_tried: bool
    not_judged: list[str]
    notes: list[str]
    inferred: InferredClaim | None
    silenced: list[SilencedFinding]
    properties: dict[str, PropertyEntry]
    seconds: dict[str, float]
    size_costs: dict[str, float]
    source: str | None
    findings: list[FindingEntry]


class Document(TypedDict):
    """The report. `unusable`: what is wrong with files that hold no kernel; `unusable_files`: which files, in order."""

    schema: Literal["kfuzz-report/1"]
    command: list[str]
    seed: int
    shard: str
    device: str
    started: str
    seconds: float
    stop_reason: str
    exit_code: int
    fail_on: Severity
    trials: int
    rows: int
    kernels: list[KernelEntry]
    unusable: list[str]
    unusable_files: list[str]
