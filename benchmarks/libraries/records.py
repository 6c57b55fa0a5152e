"""The results of functions in a folder. Each says of what it was made, so that none of another list or rule is reused.

Knows claims and results; it tries nothing.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.libraries.judging import Claim, Result
from benchmarks.measurement import commit, machine
from kfuzz.devices import DeviceError

HERE = Path(__file__).parent
JUDGING, EXACT = HERE / "judging.py", HERE / "exact_values.py"
"""What grades an answer, and what computes it a second time."""
ROW = re.compile(r'^    "(\w+)": .*\n', re.MULTILINE)
"""A function's row in a table of EXACT or of an op. Those of other functions are no part of what it is judged by."""
KFUZZ = (HERE.parents[1] / "fuzz", HERE.parents[1] / "oracle")
OP = re.compile(r'^# op = "(/.*)"$', re.MULTILINE)
WORDS = {
    "entry": "another entry of the list",
    "rule": "another rule",
    "version": "another version of the library",
    "kfuzz": "another kfuzz",
}
"""What may differ between a result and one that would be made now."""


@dataclass(frozen=True)
class Made:
    """Of what a result was made: digests of the claim, the rule and kfuzz, the version of the library, and where."""

    entry: str
    rule: str
    kfuzz: str
    version: str
    commit: str = ""
    machine: str = ""

    def differs(self, now: "Made") -> list[str]:
        """In which of WORDS it differs from what would be made now."""
        return [name for name in WORDS if getattr(self, name) != getattr(now, name)]


@dataclass(frozen=True)
class Recorded:
    """A result, and of what it was made."""

    result: Result
    made: Made


@dataclass(frozen=True)
class Records:
    """The results in a folder, for one device. Those that differ in `ignored` alone are as good as new ones."""

    folder: Path
    device: str
    ignored: frozenset[str] = frozenset()

    def path(self, one: Claim) -> Path:
        """The file of a result."""
        return self.folder / one.library / f"{one.key}.json"

    def started(self, one: Claim) -> Path:
        """The file that says that a claim is being tried."""
        path = self.path(one).with_suffix(".started")
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def now(self, one: Claim) -> Made:
        """Of what a result would be made now."""
        return Made(entry_of(one, self.device), rule_of(one.name), kfuzz(), installed(one), *place())

    def keep(self, one: Claim, result: Result) -> None:
        """Write a result, whole or not at all."""
        self._write(one, json.dumps({"result": asdict(result), "made": asdict(self.now(one))}))
        self.started(one).unlink(missing_ok=True)

    def take(self, one: Claim, text: str) -> None:
        """Write a record that another machine made, which must judge by the same list and rule as this one."""
        made, now = Made(**json.loads(text)["made"]), self.now(one)
        if differs := [WORDS[name] for name in made.differs(now) if name in ("entry", "rule", "kfuzz")]:
            raise DeviceError(f"{one.library}/{one.key}: {made.machine} has {' and '.join(differs)}")
        self._write(one, text)

    def _write(self, one: Claim, text: str) -> None:
        new = self.path(one).with_suffix(".new")
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(text, encoding="utf-8")
        new.replace(self.path(one))

    def read(self, one: Claim) -> Recorded | None:
        """What there is of a claim, of whatever it was made."""
        if not self.path(one).exists():
            return None
        kept = json.loads(self.path(one).read_text(encoding="utf-8"))
        result = {**kept["result"], "program": tuple(kept["result"]["program"])}
        return Recorded(Result(**result), Made(**kept["made"]))

    def differs(self, one: Claim) -> list[str]:
        """In what the result of a claim differs from one that would be made now."""
        kept = self.read(one)
        return [name for name in kept.made.differs(self.now(one)) if name not in self.ignored] if kept else []

    def is_done(self, one: Claim) -> bool:
        """Whether there is a result that holds."""
        return self.path(one).exists() and not self.differs(one)

    def drop_others(self, claims: Iterable[Claim]) -> list[str]:
        """Remove the results that do not hold; say which, and why."""
        said = []
        for one in claims:
            if differs := self.differs(one):
                self.path(one).unlink()
                said.append(f"{one.library}/{one.key}: {', '.join(WORDS[name] for name in differs)}")
        return said


@cache
def rule_of(name: str) -> str:
    """The digest of what grades the answers of a function, and computes them a second time."""
    exact = part_of(EXACT.read_text(encoding="utf-8"), name)
    return digest([JUDGING.read_bytes(), exact.encode()])


def part_of(text: str, name: str) -> str:
    """The code that a function's row of a file needs: no row of another function, and nothing that only those use."""
    used = loaded(ast.parse(text).body)
    own = ROW.sub(lambda row: row[0] if row[1] == name else "", text)
    rest = [node for node in ast.parse(own).body if not isinstance(node, ast.Expr)]
    while unused := [node for node in rest if defined(node) and defined(node) <= used - loaded(rest, node)]:
        rest = [node for node in rest if node not in unused]
    return "\n".join(ast.get_source_segment(own, node) or "" for node in rest)


def loaded(nodes: Iterable[ast.stmt], but: ast.stmt | None = None) -> set[str]:
    """The names that some code uses."""
    inner = (each for node in nodes if node is not but for each in ast.walk(node))
    return {each.id for each in inner if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}


def defined(node: ast.stmt) -> set[str]:
    """The names that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(each.asname or each.name).split(".")[0] for each in node.names}
    inner = ast.walk(node)
    return {each.id for each in inner if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


@cache
def kfuzz() -> str:
    """The digest of kfuzz."""
    return digest(path.read_bytes() for folder in KFUZZ for path in sorted(folder.rglob("*.py")))


def digest(parts: Iterable[bytes]) -> str:
    """The digest of some texts."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()[:16]


@cache
def place() -> tuple[str, str]:
    """The commit and the machine."""
    return commit(), machine()


def entry_of(one: Claim, device: str) -> str:
    """The digest of the file that is tried, and of its op."""
    with TemporaryDirectory() as folder:
        text = one.write(Path(folder), device).read_text(encoding="utf-8")
        ops = [part_of(Path(op).read_text(encoding="utf-8"), one.name) for op in OP.findall(text)]
        whole = "\n".join([device, text.replace(folder, ""), *ops])
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def installed(one: Claim) -> str:
    """The version of a claim's library; empty if it is not installed."""
    try:
        return version(one.package)
    except PackageNotFoundError:
        return ""
