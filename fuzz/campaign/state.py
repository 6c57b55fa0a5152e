"""The state of a campaign, in memory and as the file from which it resumes.

The file holds counts and buckets, never cases: those lie in the corpus. A kernel whose text has changed since then
starts again. Knows the state's format; never how a trial is run.
"""

import hashlib
import json
from collections.abc import Sequence
from copy import copy
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from math import isfinite
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from kfuzz.campaign.schedule import WHOLE, Shard
from kfuzz.campaign.sole_use import unwritten
from kfuzz.campaign.trials.defect import Defect
from kfuzz.campaign.trials.unjudged import refusal_text, unjudged_text
from kfuzz.cases import atomic
from kfuzz.cases.case_reader import Reader, read_bytes
from kfuzz.cases.errors import CaseError
from kfuzz.cases.recipe import MAX_SEED
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Refusal, Untried
from kfuzz.kinds import Kind

RATIO_STEPS = 20
"""Number of steps from 0 to the bound in which trials are counted by their largest error."""
CONTAINERS = (dict, list, set)
"""The fields of these types are copied with a Progress."""
SCHEMA = "kfuzz-campaign/7"
STATE = "state.json"
MAX_STATE_BYTES = 64 << 20


@dataclass(frozen=True)
class Discovery:
    """A bucket of a campaign: the defect of its smallest case, the first and the smallest trial, and how often it came.

    `path` is the file of that case, None if it is not kept. `comes_of`: causes of other discoveries that its case
    shows as well (explain). `devices` are those that showed it, first that of the smallest case; `confirmed`: the
    result of one try on the gpu, in a campaign with another device beside it. `is_kept_before`: an earlier run has kept
    a case of its bug.
    """

    defect: Defect
    first_trial: int
    smallest_trial: int
    count: int
    is_known: bool
    path: Path | None
    is_minimized: bool = False
    comes_of: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    confirmed: str = ""
    is_kept_before: bool = False

    @property
    def is_error(self) -> bool:
        return self.defect.severity == "error"

    @property
    def causes(self) -> tuple[str, ...]:
        """Its causes by experiment, or else by its looks."""
        return self.comes_of or self.defect.causes

    def with_known(self, is_known: bool) -> "Discovery":
        return replace(self, is_known=is_known)


def larger(one: float | None, other: float | None) -> float | None:
    """The larger of two figures that may be unknown."""
    return max((figure for figure in (one, other) if figure is not None), default=None)


@dataclass
class Progress:
    """The progress of one kernel.

    `next` is the number of its next trial; `retired` says why there is none. `rows` were compared, and `unjudged_rows`
    of them not judged, where parts of rows add up. `worst_ulps`: the largest error of a kept answer, in units in the
    last place of the largest number of its row; None if it is not known. `error`: its claim or source is at fault.
    `reasons`: what was not judged, and why, in words. `refusals`: how host functions refused their arguments.
    `untried`: why cases of vast arrays were not run. `rungs`: the sizes near powers of two
    that were tried (cases/plans/vast.py). `silences`: for `nan` and `pos_inf`, if the claim
    leaves them out, the words that would have kept every trial. `ratios`: a histogram, in equal steps, of how near
    judged trials came to their bound. `seconds`: where the time went. `smallest` and `largest`: for each axis, the
    extreme sizes at which an answer was judged; `tried`: the number of trials for each combination of sizes, in
    octaves. `fatal`: the trials that ended their process, and the kind of the defect. `looks`: for each property
    (fuzz/campaign/properties), the numbers of trials in which it held and did not hold. `size_costs`: for a callable to
    which a new size costs much, `trials` at sizes of earlier ones, and the seconds of a trial at a `new` and a `known`
    size. `operand`: the format to which its products round their operands, which its reference leaves open.
    """

    next: int = 0
    trials: int = 0
    rows: int = 0
    elements: int = 0
    unjudged_rows: int = 0
    worst_ratio: float = 0.0
    worst_ulps: float | None = None
    ratios: list[int] = field(default_factory=lambda: [0] * RATIO_STEPS)
    error: str = ""
    retired: str = ""
    reasons: set[str] = field(default_factory=set)
    refusals: set[Refusal] = field(default_factory=set)
    untried: set[Untried] = field(default_factory=set)
    rungs: set[str] = field(default_factory=set)
    silences: dict[str, list[str]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    smallest: dict[str, int] = field(default_factory=dict)
    largest: dict[str, int] = field(default_factory=dict)
    tried: dict[str, int] = field(default_factory=dict)
    fatal: list[tuple[int, Kind]] = field(default_factory=list)
    discoveries: dict[str, Discovery] = field(default_factory=dict)
    looks: dict[str, list[int]] = field(default_factory=dict)
    size_costs: dict[str, float] = field(default_factory=dict)
    operand: str = ""

    @property
    def not_judged(self) -> list[str]:
        """What was not judged, and why, in words."""
        return sorted({*self.reasons, *map(unjudged_text, self.refusals), *map(unjudged_text, self.untried)})

    def copy(self) -> "Progress":
        """A copy that can change without a change of this one."""
        made = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, CONTAINERS):
                setattr(made, name, value.copy())
        return made

    def is_error(self, fault: str) -> bool:
        """Whether this fault is an error: a warning about it adds nothing."""
        return any(one.is_error and one.defect.fault == fault for one in self.discoveries.values())


def write_state(
    out: Path | None, seed: int, kernels: Sequence[Kernel], progress: Sequence[Progress], shard: Shard = WHOLE
) -> None:
    """Write the state of a campaign, whole or not at all."""
    if out is None:
        return
    tables = {kernel.name: _encode(kernel, one) for kernel, one in zip(kernels, progress, strict=True)}
    document = {"schema": SCHEMA, "seed": seed, "shard": str(shard), "kernels": tables}
    text = json.dumps(document, indent=1) + "\n"
    try:
        out.mkdir(parents=True, exist_ok=True)
        atomic.write(out / STATE, text.encode())
    except OSError as error:
        raise unwritten(out, error) from None


def read_state(out: Path | None, seed: int, kernels: Sequence[Kernel], shard: Shard = WHOLE) -> list[Progress]:
    """The progress of these kernels from the state in `out`; empty if there is no state."""
    if out is None or not (out / STATE).exists():
        return [Progress() for _ in kernels]
    reader = Reader(out / STATE)
    document = _document(out / STATE)
    if document.get("schema") != SCHEMA:
        reader.fail("schema", f"{document.get('schema')!r}; {SCHEMA!r} is expected, or an empty folder")
    if document.get("seed") != seed:
        reader.fail("seed", f"{document.get('seed')}, and this campaign has {seed}; give that seed or another folder")
    if document.get("shard") != str(shard):
        reader.fail("shard", f"{document.get('shard')}, and this campaign has {shard}; give another folder")
    tables = document.get("kernels")
    if not isinstance(tables, dict):
        raise _damaged(out / STATE, "kernels: an object is expected")
    return [_decode(reader, kernel, tables.get(kernel.name)) for kernel in kernels]


def seed_of_state(out: Path) -> int | None:
    """The seed of the campaign whose state lies in `out`; None if there is none."""
    for place in (out / STATE, *sorted(out.glob(f"*/{STATE}"))):  # each of several devices has a state of its own
        if place.exists():
            seed = _document(place).get("seed")
            if not isinstance(seed, int) or not 0 <= seed <= MAX_SEED:
                raise _damaged(place, f"seed: {seed!r}")
            return seed
    return None


def _document(path: Path) -> dict[str, object]:
    """The state in a file; a CaseError that says what to do if it is damaged."""
    try:
        return Reader(path).parse(read_bytes(path, MAX_STATE_BYTES))
    except CaseError as error:
        raise _damaged(path, str(error).removeprefix(f"{path}: ")) from None


def _damaged(path: Path, why: str) -> CaseError:
    return CaseError(f"{path}: not the state of a campaign ({why}); remove this file, or give another --out")


def _hash(kernel: Kernel) -> str:
    return hashlib.sha256(kernel.front.whole.encode()).hexdigest()


def _encode(kernel: Kernel, progress: Progress) -> dict[str, object]:
    return {
        **asdict(progress),
        "discoveries": [_to_json(asdict(one)) for one in progress.discoveries.values()],
        "reasons": sorted(progress.reasons),
        "refusals": [asdict(one) for one in sorted(progress.refusals, key=refusal_text)],
        "untried": sorted(one.name for one in progress.untried),
        "rungs": sorted(progress.rungs),
        "sha256": _hash(kernel),
    }


def _to_json(value: object) -> object:
    """A value as JSON can hold it: paths, NaN and infinities are text."""
    if isinstance(value, dict):
        return {name: _to_json(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return [_to_json(item) for item in value]
    return str(value) if isinstance(value, Path) or (isinstance(value, float) and not isfinite(value)) else value


def _decode(reader: Reader, kernel: Kernel, value: object) -> Progress:
    """The progress of a kernel; an empty one if the kernel is new or its text has changed."""
    if value is None:
        return Progress()
    key = f"kernels.{kernel.name}"
    table = reader.table(key, value)
    if table.get("sha256") != _hash(kernel):
        return Progress()
    try:
        table = {
            "looks": {},
            "size_costs": {},
            "unjudged_rows": 0,
            "worst_ulps": None,
            "operand": "",
            **table,
        }  # earlier states have none
        result = Progress(**{item.name: table[item.name] for item in fields(Progress)})  # type: ignore[arg-type]  # JSON
        result.reasons = set(result.reasons)
        result.refusals = {
            _read(Refusal, reader.table(key, one)) for one in reader.items(key, table["refusals"], 10_000)
        }
        result.untried = {Untried[str(name)] for name in reader.items(key, table["untried"], 10_000)}
        result.rungs = set(map(str, reader.items(key, table["rungs"], 10_000)))
        result.fatal = [(number, kind) for number, kind in result.fatal]
        every = [_read(Discovery, reader.table(key, one)) for one in reader.items(key, table["discoveries"], 10_000)]
        result.discoveries = {one.defect.bucket: one for one in every}
    except (KeyError, TypeError, ValueError) as error:
        reader.fail(key, f"{error}: not the state of a campaign; give another folder")
    return result


def _read(wanted: Any, value: Any) -> Any:  # noqa: ANN401  a type, and a value of JSON
    """A value of a declared type from what asdict and _to_json made of it."""
    origin, inner = get_origin(wanted), get_args(wanted)
    if value is None:
        return None
    if origin in (Union, UnionType):
        return _read(next(one for one in inner if one is not NoneType), value)
    if isinstance(wanted, type) and is_dataclass(wanted):
        hints = get_type_hints(wanted)
        return wanted(**{name: _read(hints.get(name, object), one) for name, one in dict(value).items()})
    if origin is tuple:
        return tuple(_read(inner[0], one) for one in value)
    return wanted(value) if wanted in (float, Path) else value
