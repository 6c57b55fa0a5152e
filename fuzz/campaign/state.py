"""What a campaign has done so far, in memory and as the file from which it is resumed.

The file holds counts and buckets, never cases: those lie in the corpus. A kernel whose text has changed since starts
anew. Knows the state's format; never how a trial is run.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from kfuzz.cases import atomic
from kfuzz.cases.case import CaseError
from kfuzz.cases.case_reader import Reader, read_bytes
from kfuzz.cases.recipe import MAX_SEED
from kfuzz.claims.kernel import Kernel
from kfuzz.devices.kinds import Severity

SCHEMA = "kfuzz-campaign/1"
STATE = "state.json"
MAX_STATE_BYTES = 64 << 20


@dataclass(frozen=True)
class Discovery:
    """A bucket that a campaign has seen: what it is, when first, how often, and the smallest case of it.

    `elements`, `axes`, `tune`, `check` and `path` are those of the smallest case; `path` is None where none is kept.
    """

    bucket: str
    fault: str
    kind: str
    diagnosis: str
    severity: Severity
    message: str
    line: int | None
    region: str
    first_trial: int
    count: int
    elements: int
    axes: dict[str, int]
    tune: dict[str, int]
    check: bool
    evidence: dict[str, object]
    is_known: bool
    path: Path | None


@dataclass
class Progress:
    """How far one kernel has come.

    `next` is the number of its next trial; `retired` says why there is none. `error`: its claim or source is at
    fault. `reasons`: what was not judged, and why. `silences`: where the claim does not speak of `nan` or
    `pos_inf`, the words with which it could have spoken and been kept in every trial. `seconds`: where the time went.
    """

    next: int = 0
    trials: int = 0
    rows: int = 0
    elements: int = 0
    worst_ratio: float = 0.0
    error: str = ""
    retired: str = ""
    reasons: set[str] = field(default_factory=set)
    silences: dict[str, list[str]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    discoveries: dict[str, Discovery] = field(default_factory=dict)

    def is_error(self, fault: str) -> bool:
        """Whether an error of this fault was seen: warnings of it say no more."""
        return any(one.severity == "error" and one.fault == fault for one in self.discoveries.values())


def write_state(out: Path | None, seed: int, kernels: Sequence[Kernel], progress: Sequence[Progress]) -> None:
    """Write the state of a campaign, whole or not at all."""
    if out is None:
        return
    told = {kernel.name: _encoded(kernel, one) for kernel, one in zip(kernels, progress, strict=True)}
    document = {"schema": SCHEMA, "seed": seed, "kernels": told}
    text = json.dumps(document, indent=1) + "\n"
    try:
        out.mkdir(parents=True, exist_ok=True)
        atomic.write(out / STATE, text.encode())
    except OSError as error:
        raise CaseError(f"{out}: cannot be written: {error.strerror}; a campaign keeps its state there") from None


def read_state(out: Path | None, seed: int, kernels: Sequence[Kernel]) -> list[Progress]:
    """The progress of these kernels: as the state in `out` has it, or none yet."""
    if out is None or not (out / STATE).exists():
        return [Progress() for _ in kernels]
    reader = Reader(out / STATE)
    document = reader.parse(read_bytes(out / STATE, MAX_STATE_BYTES))
    if document.get("schema") != SCHEMA:
        reader.fail("schema", f"{document.get('schema')!r}; {SCHEMA!r} is expected, or an empty folder")
    if document.get("seed") != seed:
        reader.fail("seed", f"{document.get('seed')}, and this campaign has {seed}; give that seed or another folder")
    told = reader.table("kernels", document.get("kernels"))
    return [_decoded(reader, kernel, told.get(kernel.name)) for kernel in kernels]


def seed_of_state(out: Path) -> int | None:
    """The seed of the campaign whose state lies in `out`; None where there is none."""
    if not (out / STATE).exists():
        return None
    reader = Reader(out / STATE)
    return reader.integer("seed", reader.parse(read_bytes(out / STATE, MAX_STATE_BYTES)).get("seed"), 0, MAX_SEED)


def _hash(kernel: Kernel) -> str:
    return hashlib.sha256(kernel.source.encode()).hexdigest()


def _encoded(kernel: Kernel, progress: Progress) -> dict[str, object]:
    discoveries = [{**asdict(one), "path": one.path and str(one.path)} for one in progress.discoveries.values()]
    return {
        **asdict(progress),
        "discoveries": discoveries,
        "reasons": sorted(progress.reasons),
        "sha256": _hash(kernel),
    }


def _decoded(reader: Reader, kernel: Kernel, value: object) -> Progress:
    """The progress of a kernel; a fresh one where it is new or its text has changed."""
    if value is None:
        return Progress()
    key = f"kernels.{kernel.name}"
    table = reader.table(key, value)
    if table.get("sha256") != _hash(kernel):
        return Progress()
    try:
        found = Progress(**{item.name: table[item.name] for item in fields(Progress)})  # type: ignore[arg-type]  # JSON
        found.reasons = set(found.reasons)
        every = [_discovery(reader.table(key, item)) for item in reader.items(key, table["discoveries"], 10_000)]
        found.discoveries = {one.bucket: one for one in every}
    except (KeyError, TypeError) as error:
        reader.fail(key, f"{error}: not the state of a campaign; give another folder")
    return found


def _discovery(table: dict[str, object]) -> Discovery:
    path = table["path"]
    return Discovery(**{**table, "path": Path(str(path)) if path else None})  # type: ignore[arg-type]  # JSON
