"""A folder of cases that failed: save, fetch, delete.

A file has the name of the kind and of the case's hash, as in sgemm/race-fb9263fb.json; it says itself which bucket it
shows. There is one file per bucket, even with several writers and when one of them is killed. Knows case files and
buckets; never a kernel or a device. The cases of an op lie in a folder of its name.
"""

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kfuzz.cases import atomic, case_file
from kfuzz.cases.case import Record
from kfuzz.cases.case_reader import MAX_FILE_BYTES, Reader, read_bytes
from kfuzz.cases.errors import CaseError

LONGEST_SLUG = 26
"""With the digits of the hash and the ending, a name has at most 40 characters."""
LONGEST_OLD_SLUG = 120
"""Earlier versions named a file by its whole bucket."""
MAX_REPORT_BYTES = 64 << 20


@dataclass(frozen=True)
class KeptCase:
    """A case file: its record, or why it cannot be read."""

    path: Path
    record: Record | None
    error: str = ""


def slug(text: str, longest: int = LONGEST_SLUG) -> str:
    """A kind or a name as the beginning of a file name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:longest].strip("-") or "case"


def save(folder: Path, record: Record) -> Path:
    """Keep a record under its bucket, unless the corpus has a smaller case of that bucket; the path of the one kept.

    Safe with other writers and against a kill at any moment: the new file is written before the old one is removed.
    """
    return save_in(folder / record.case.folder, record)


def save_in(place: Path, record: Record) -> Path:
    """`save` into this folder itself, which need not have the op's name."""
    name = slug(record.origin.kind if record.origin else "")
    try:
        place.mkdir(parents=True, exist_ok=True)
        with _lock(place):
            cases = _cases_of_slugs(place, {name, slug(_bucket(record), LONGEST_OLD_SLUG)})
            rivals = [entry for entry in cases if _has_same_bucket(entry, record)]
            path = _path_for(place / name, record, {entry.path for entry in cases} - {entry.path for entry in rivals})
            smaller = [entry for entry in rivals if entry.record and _size(entry.record) <= _size(record)]
            if smaller:
                path = min(smaller, key=lambda entry: _size(entry.record)).path  # type: ignore[arg-type]  # not None
            else:
                case_file.write(path, record)
            for entry in rivals:
                if entry.path != path:
                    _remove(entry.path)
    except OSError as error:
        raise CaseError(f"{place}: cannot be written: {error.strerror}; the case is not kept") from None
    return path


def check_writable(folder: Path) -> None:
    """Raise a CaseError if cases cannot be kept in the folder, which need not exist yet."""
    place = folder.absolute()
    while not place.exists() and place.parent != place:
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        raise CaseError(f"{place}: not a writable folder; cases that fail are kept in {folder}, or in --corpus DIR")


def is_minimized(path: Path) -> bool:
    """Whether the case in a file was minimized before."""
    try:
        origin = case_file.read(path).origin
    except CaseError:
        return False
    return origin is not None and origin.minimized


def fetch(folder: Path, bucket: str) -> Record | None:
    """The record kept under a bucket, the smallest if a killed writer left two."""
    records = [entry.record for entry in entries([folder]) if entry.record and _bucket(entry.record) == bucket]
    return min(records, key=_size, default=None)


def buckets_in(folder: Path | None) -> frozenset[str]:
    """The buckets of all cases in a folder, which need not exist; it reads no arrays."""
    found = set()
    for path in paths([folder]) if folder and folder.is_dir() else ():
        with contextlib.suppress(CaseError, OSError, ValueError, KeyError, TypeError):
            found.add(str(json.loads(read_bytes(path, MAX_FILE_BYTES))["origin"]["bucket"]))
    return frozenset(found)


def delete(path: Path) -> None:
    """Remove a case file, and the sidecars that no other case beside it needs."""
    try:
        with _lock(path.parent):
            _remove(path)
    except OSError as error:
        raise CaseError(f"{path}: cannot be deleted: {error.strerror}") from None


def paths(places: Iterable[Path]) -> list[Path]:
    """Every case file in the places, which are files or folders of any depth; a missing place is an error."""
    files: list[Path] = []
    for place in places:
        if place.is_dir():
            files += sorted(path for path in place.rglob("*.json") if not path.name.startswith("."))
        elif place.exists():
            files.append(place)
        else:
            raise CaseError(f"{place}: no such file or folder; a case file or a folder of them is expected")
    return list(dict.fromkeys(files))


def entries(places: Iterable[Path]) -> Iterator[KeptCase]:
    """Read every case file in the places; one that cannot be read is an entry with its error."""
    for path in paths(places):
        try:
            yield KeptCase(path, case_file.read(path))
        except CaseError as error:
            yield KeptCase(path, None, str(error))


def read_baseline(path: Path) -> frozenset[str]:
    """The buckets and causes in an earlier `--json` report: the findings that are known already."""
    reader = Reader(path)
    document = reader.parse(read_bytes(path, MAX_REPORT_BYTES))
    schema = document.get("schema")
    if schema != "kfuzz-report/1":
        reader.fail("schema", f"{schema!r}; a report written by --json, 'kfuzz-report/1', is expected")
    known = set()
    for kernel in reader.items("kernels", document.get("kernels"), 100_000):
        findings = reader.items("kernels.findings", reader.table("kernels", kernel).get("findings"), 100_000)
        for finding in findings:
            table = reader.table("findings", finding)
            known.add(reader.text("findings.bucket", table.get("bucket")))
            causes = reader.items("findings.causes", table.get("causes", []), 10_000)
            known.update(reader.text("findings.causes", cause) for cause in causes)
    return frozenset(known)


def _bucket(record: Record) -> str:
    return record.origin.bucket if record.origin else ""


def _size(record: Record) -> tuple[int, bool, str]:
    """Smaller cases first; among equal ones the minimized one, then any fixed order."""
    return record.case.elements, not (record.origin and record.origin.minimized), record.case.digest


def _has_same_bucket(entry: KeptCase, record: Record) -> bool:
    return entry.record is not None and _bucket(entry.record) == _bucket(record)


def _cases_of_slugs(place: Path, names: Iterable[str]) -> list[KeptCase]:
    """The case files whose names begin so."""
    of_slugs = re.compile(f"(?:{'|'.join(map(re.escape, names))})" + r"-[0-9a-f]{8}\.json")
    return list(entries(path for path in sorted(place.iterdir()) if of_slugs.fullmatch(path.name)))


def _path_for(stem: Path, record: Record, taken: set[Path]) -> Path:
    """The path for a record: if two buckets of one slug share a case, each names it by other digits of its hash."""
    digest = record.case.digest
    every = [stem.with_name(f"{stem.name}-{digest[first : first + 8]}.json") for first in range(0, len(digest), 8)]
    return next((path for path in every if path not in taken), every[0])


def _remove(path: Path) -> None:
    """Remove a case file, then its sidecars if no other case in the folder needs them."""
    needed = _sidecars(path)
    path.unlink(missing_ok=True)
    if needed:
        for other in path.parent.glob("*.json"):
            needed -= _sidecars(other)
    for name in needed:
        (path.parent / name).unlink(missing_ok=True)
    atomic.sync_folder(path.parent)


def _sidecars(path: Path) -> set[str]:
    """The names of the .npy files that a case file mentions; none if it cannot be read."""
    with contextlib.suppress(CaseError, ValueError, AttributeError):
        arrays = json.loads(read_bytes(path, MAX_FILE_BYTES))["arrays"]
        return {entry["npy"] for entry in arrays.values() if re.fullmatch(r"[0-9a-f]{64}\.npy", entry.get("npy", ""))}
    return set()


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Lock a folder against other writers; the system unlocks it when this process ends, however it ends."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
