"""The oracle's verdict on one answer, in types that every op and every caller share.

Code reads these types and never compares words. Knows no op and no number system.
"""

import warnings
from dataclasses import dataclass
from enum import Enum
from typing import Literal, get_args

from kfuzz.oracle.numbers.plural import plural

Status = Literal["kept", "suspect", "broken", "not judged"]
Tier = Literal["float64", "slopes", "loosest", "arb"]
AnswerKind = Literal["", "numeric", "special"]
SpecialRow = Literal["row", "ieee"]
NanRow = Literal[SpecialRow, "ignore", "propagate"]
Ties = Literal["any", "first", "last"]
Region = Literal["", "row", "head", "tail", "strided", "interior"]


@dataclass(frozen=True)
class Special:
    """The special values that a claim covers, and what it promises for them.

    None: the claim says nothing, and the op's default holds. `ties`: which of equal elements an op that answers with
    places must name.
    """

    all_neg_inf: Literal["nan", "zero"] | None = None
    nan: NanRow | None = None
    pos_inf: SpecialRow | None = None
    ties: Ties = "any"

    def __post_init__(self) -> None:
        known: dict[str, tuple[str | None, ...]] = {
            "all_neg_inf": (None, "nan", "zero"), "nan": (None, *get_args(NanRow)),
            "pos_inf": (None, *get_args(SpecialRow)), "ties": get_args(Ties),
        }  # fmt: skip
        for name, allowed in known.items():
            value = getattr(self, name)
            if value not in allowed:
                raise ValueError(f"{name}={value!r}: expected one of {', '.join(map(str, allowed))}")


class AnswerError(AssertionError):
    """The answer is broken, or nothing of it was judged."""


class SuspectWarning(UserWarning):
    """The answer lies outside the op's own forms, and some rearrangement of its formula may give it."""


class InaccurateWarning(UserWarning):
    """The answer errs a thousand times as far as the stable forms of the op may."""


class Why(Enum):
    """Why a part of an answer is not judged. The value is the wording; `{about}` is filled in from the Reason."""

    NO_ELEMENTS = "the answer has no elements"
    NAN = "rows with NaN: the claim does not speak of NaN"
    POS_INF = "rows with +inf: the claim does not speak of +inf"
    NEG_INF = "rows with -inf: a gradient may multiply it by 0, or leave it out"
    NO_RULE = "elements of rows with infinities, of which no rule speaks"
    ANYTHING = "elements of which any value may be right"
    CANCELS = "elements of rows whose mean is large against their spread: E[x^2] - mean^2 may be anything there"
    SUM_OVERFLOWS = "sums may overflow"
    ORDER_DECIDES = "sums whose overflow the order decides"
    SUM_UNDERFLOWS = "rows whose sum may underflow to 0"
    BASE_TWO = "rows with a number beyond 2^24, whose exponent in base 2 errs by more than 1"
    DIVIDED_SUM = "rows whose sum may be beyond what divide = '{about}' is for"
    DIVIDED = "quotients beyond what divide = '{about}' is for"
    ODD_STATE = "sums over a state with a finite max and no positive finite sum: unclaimed"
    EMPTY_STATES = "sums of nothing but empty states: unclaimed"
    ODD_GROUP = "groups with NaN or infinity: the claim does not say what becomes of them"
    NEGATIVE_AMAX = "groups whose amax is multiplied by a negative number: no scale is right"
    BEYOND_LARGEST = "elements beyond the largest number: the claim does not say whether they saturate"
    BEYOND_MODEL = "elements with {about}, of which the claimed model says nothing"
    NOT_FINITE = "elements with NaN, infinity or a number beyond the largest: not judged where draws decide"
    SCALED_OVERFLOWS = "rows whose greatest logit over the temperature overflows"
    NOTHING_TO_DRAW = "rows with nothing that may be drawn"
    NO_SUCH_RANK = "ranks beyond the end of the row"
    UNKNOWN = "{about}"


@dataclass(frozen=True)
class Reason:
    """Why `count` rows, sums or elements of an answer are not judged; 0 if the number is not known.

    `about` completes the wording: how the kernel divides, or an operation that no rule covers.
    """

    why: Why
    count: int = 0
    about: str = ""

    def __str__(self) -> str:
        words = self.why.value.format(about=self.about)
        if not self.count or self.why is Why.UNKNOWN:
            return f"{self.count} {words}" if self.count else words
        several, _, rest = words.partition(" ")  # a wording that is counted begins with its noun
        return f"{plural(self.count, several.removesuffix('s'))} {rest}"


@dataclass(frozen=True)
class Worst:
    """The element that is furthest outside its enclosure."""

    output: str
    index: tuple[int, ...]
    got: float
    want: float
    lo: float
    hi: float
    got_bits: str
    want_bits: str

    @property
    def row(self) -> int:
        return self.index[0]


@dataclass(frozen=True)
class Picture:
    """A small answer as a whole: every element in memory order, and the details of the wrong ones."""

    output: str
    shape: tuple[int, ...]
    got: tuple[float, ...]
    wrong: tuple[Worst, ...]


@dataclass(frozen=True)
class Pattern:
    """Where the wrong elements of a row lie: a region, its first and last wrong column, and their distance `step`."""

    region: Region
    first: int = 0
    last: int = 0
    step: int = 1

    def __str__(self) -> str:
        match self.region:
            case "":
                return "none by itself"
            case "row":
                return "the whole row"
            case "strided":
                return f"every {self.step}th from {self.first}"
        return f"{self.region}, {self.first}" + (f"..{self.last}" if self.last != self.first else "")


@dataclass(frozen=True)
class Extent:
    """How many elements of an output are wrong, in which rows, and where in the worst row.

    `more_rows`: how many further rows have wrong elements.
    """

    wrong: int
    elements: int
    rows: tuple[int, ...]
    pattern: Pattern
    more_rows: int = 0


@dataclass(frozen=True)
class Verdict:
    """Kept, suspect, broken or not judged, with the evidence.

    Suspect: outside the forms of the op, but where some rearrangement of its formula may lie, and the claim names no
    form. Broken: outside what the claim allows, and what any rearrangement may give if it names no form.

    `ratio` is the largest error over its bound among the judged finite elements; 1 is the bound itself.
    `reasons` say what was not judged, and why; kept and broken verdicts may have reasons, too.
    """

    status: Status
    ratio: float
    judged: int
    reasons: tuple[Reason, ...] = ()
    kind: AnswerKind = ""
    diagnosis: str = ""
    family: str = ""
    """The diagnosis with k for its number: the same for each number."""
    detail: str = ""
    region: str = ""
    worst: Worst | None = None
    extent: Extent | None = None
    picture: Picture | None = None
    tier: Tier = "float64"
    """What decided it: float64, balls ("arb"), or products of slopes, without balls: docs/numerics.md#depth."""
    is_beyond_all: bool = False
    """It is outside, and no rearrangement of the op's formula gives it, whatever form the claim names."""
    is_joint: bool = False
    """Each element lies in its own interval, but no right computation gives all of them together."""
    rows: int = 0
    """The rows of the answer; its elements if it has no rows."""
    unjudged_rows: int = 0
    """How many rows were not judged; parts of rows add up."""
    ulps: float | None = None
    """The largest error against the exact answer among the judged finite elements, in units in the last place; None of
    integers, grids and float64, whose exact answer float64 does not give."""
    inaccurate: "Verdict | None" = None
    """The verdict on an answer that is not outside, as if stable forms alone were right, if it errs a thousand times as
    far as these may, `ratio` times as far: docs/numerics.md#inaccurate."""

    def __bool__(self) -> bool:
        raise TypeError(
            f"a verdict is neither true nor false (this one: {self.status}): call verdict.check(), which raises unless "
            "the answer is kept, or look at verdict.status"
        )

    @property
    def is_outside(self) -> bool:
        """Whether elements lie outside the forms that the claim allows."""
        return self.status in ("broken", "suspect")

    def check(self) -> "Verdict":
        """Return the verdict if it is kept or suspect, which warns; raise AnswerError if broken or not judged.

        An answer that is far less accurate than other forms of the op give warns, too.
        """
        if self.inaccurate is not None:
            warnings.warn(f"inaccurate: {self.inaccurate.text}", InaccurateWarning, stacklevel=2)
        if self.status == "kept":
            return self
        if self.status == "not judged":
            raise AnswerError(f"not judged: {'; '.join(map(str, self.reasons))}")
        if self.status == "suspect":
            text = f"suspect: {self.text}; another way to compute the op may give this"
            warnings.warn(text, SuspectWarning, stacklevel=2)
            return self
        raise AnswerError(f"broken: {self.text}")

    @property
    def text(self) -> str:
        """The worst element and the diagnosis in a line."""
        worst, diagnosis = self.worst, ": ".join(part for part in (self.diagnosis, self.detail) if part)
        if worst is None:
            return diagnosis
        where = f"{worst.output}[{', '.join(map(str, worst.index))}]"
        return f"{where} is {worst.got:.9g}, wanted {worst.want:.9g} in [{worst.lo:.9g}, {worst.hi:.9g}]; {diagnosis}"
