"""What the oracle says of one answer: the words that every op and every caller share.

Knows no op and no number system.
"""

from dataclasses import dataclass
from typing import Literal, get_args

Status = Literal["kept", "broken", "not judged"]
AnswerKind = Literal["", "numeric", "special"]
SpecialRow = Literal["row", "ieee", "ignore"]
Ties = Literal["any", "first", "last"]


@dataclass(frozen=True)
class Special:
    """Which special values a claim speaks of, and what it then promises.

    None means that the claim is silent, and the op's own default holds. `ties`: which of equal elements is meant by
    an op that answers with places.
    """

    all_neg_inf: Literal["nan", "zero"] = "nan"
    nan: SpecialRow | None = None
    pos_inf: SpecialRow | None = None
    ties: Ties = "any"

    def __post_init__(self) -> None:
        words = get_args(SpecialRow)
        known: dict[str, tuple[str | None, ...]] = {
            "all_neg_inf": ("nan", "zero"), "nan": (None, *words), "pos_inf": (None, *words), "ties": get_args(Ties),
        }  # fmt: skip
        for name, allowed in known.items():
            value = getattr(self, name)
            if value not in allowed:
                raise ValueError(f"{name}={value!r}: expected one of {', '.join(map(str, allowed))}")


class AnswerError(AssertionError):
    """An answer is not kept: it is broken, or nothing of it was judged."""


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
    """A small answer as a whole: every element in memory order, and what is known of the wrong ones."""

    output: str
    shape: tuple[int, ...]
    got: tuple[float, ...]
    wrong: tuple[Worst, ...]


@dataclass(frozen=True)
class Extent:
    """How many elements of an output are wrong, in which rows and where in the worst; `more_rows` are not named."""

    wrong: int
    elements: int
    rows: tuple[int, ...]
    pattern: str
    more_rows: int = 0


@dataclass(frozen=True)
class Verdict:
    """Kept, broken or not judged, with what a person needs to believe it.

    `ratio` is the largest error over its bound among the judged finite elements (1 is the bound itself).
    `reasons` says what was not judged, and why, also beside a kept or broken verdict.
    """

    status: Status
    ratio: float
    judged: int
    reasons: tuple[str, ...] = ()
    kind: AnswerKind = ""
    diagnosis: str = ""
    detail: str = ""
    region: str = ""
    worst: Worst | None = None
    extent: Extent | None = None
    picture: Picture | None = None
    tier: str = "float64"

    def __bool__(self) -> bool:
        raise TypeError(
            f"a verdict is neither true nor false (this one: {self.status}): call verdict.check(), which raises unless "
            "the answer is kept, or look at verdict.status"
        )

    def check(self) -> "Verdict":
        """The verdict itself where it is kept; AnswerError with the reason where it is broken or nothing was judged."""
        if self.status == "kept":
            return self
        if self.status == "not judged":
            raise AnswerError(f"not judged: {'; '.join(self.reasons)}")
        worst, said = self.worst, ": ".join(part for part in (self.diagnosis, self.detail) if part)
        if worst is None:
            raise AnswerError(f"broken: {said}")
        where = f"{worst.output}[{', '.join(map(str, worst.index))}]"
        raise AnswerError(
            f"broken: {where} is {worst.got:.9g}, wanted {worst.want:.9g} in [{worst.lo:.9g}, {worst.hi:.9g}]; {said}"
        )
