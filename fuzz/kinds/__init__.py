"""The kinds of findings: one file each, NAME.md, whose front matter holds what code asks and whose body is its page.

There is no other list. A kind is added by adding its file: `kfuzz explain`, SARIF, the site and claims then know it.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, get_args

FOLDER = Path(__file__).parent
OPTIONAL = ("warning", "traits")
PARTS = re.compile(r"---\n(?P<front>.*?)\n---\n\n# (?P<title>[^\n]*)\n\n(?P<body>.*)", re.DOTALL)

Kind = str
"""The name of a file of this folder. A test reads all code and finds names that have no file."""
Severity = Literal["error", "warning"]
"""How grave a finding is."""
Reporter = Literal["cpu", "gpu", "callables", "oracle"]
"""What reports a kind: one of the devices, or the oracle, which judges their answers."""
Trait = Literal[
    "ends-context",  # the GPU's context or the process ends with it; it may then be the fault of an earlier job
    "has-no-other-cause",  # nothing else explains it, and a smaller case costs as much as the first
    "blames-device",  # it says nothing about the kernel
    "of-whole-call",  # a single function may do it, if the Python code around it repairs it
    "follows-from-others",  # an error with a line that its case shows explains it, even where it is a warning
    "imitated-by-state",  # runs that remember an earlier call look like it
    "leaves-traces",  # guard zones show it again after the run; the access itself explains these traces
    "reads-undefined",  # the value that is read may be anything, so it explains an answer that varies with the poison
]
"""Everything else that code asks about kinds."""

T = TypeVar("T")
NAMES_OF_DEVICES: dict[Reporter, str] = {
    "cpu": "the cpu device",
    "gpu": "the gpu device",
    "callables": "the device for Python callables",
    "oracle": "the oracle",
}


@dataclass(frozen=True)
class KindOfFinding:
    """One kind: its front matter and its page.

    `severity` is the gravest one with which it is reported; `warning` says when an error is only a warning.
    """

    name: Kind
    severity: Severity
    sentence: str
    devices: tuple[Reporter, ...]
    warning: str
    traits: frozenset[Trait]
    body: str

    @property
    def page(self) -> str:
        """The page in Markdown."""
        grave = f"{self.severity}; a warning if {self.warning}" if self.warning else self.severity
        *others, last = (NAMES_OF_DEVICES[device] for device in self.devices)
        reporters = f"{', '.join(others)} and {last}" if others else last
        return f"# {self.name}\n\nSeverity: {grave}. Reported by {reporters}.\n\n{self.body}"


def read_kind(path: Path) -> KindOfFinding:
    """Read a kind from its file. ValueError says what is wrong with the file."""

    def choose(value: str, words: tuple[T, ...]) -> T:
        if value not in words:
            raise ValueError(f"{path.name}: {value!r} is not one of {', '.join(map(str, words))}")
        return words[words.index(value)]

    def choose_several(key: str, words: tuple[T, ...]) -> tuple[T, ...]:
        return tuple(choose(one.strip(), words) for one in values.get(key, "").split(",") if one.strip())

    parts = PARTS.fullmatch(path.read_text(encoding="utf-8"))
    if parts is None or parts["title"] != path.stem:
        raise ValueError(f"{path.name}: expected a front matter between two lines of ---, then '# {path.stem}'")
    values = dict(line.partition(": ")[::2] for line in parts["front"].splitlines())
    if odd := {*values, *OPTIONAL} ^ {"severity", "sentence", "devices", *OPTIONAL}:
        raise ValueError(f"{path.name}: unknown or missing in the front matter: {', '.join(sorted(odd))}")
    return KindOfFinding(
        name=path.stem,
        severity=choose(values["severity"], get_args(Severity)),
        sentence=values["sentence"],
        devices=choose_several("devices", get_args(Reporter)),
        warning=values.get("warning", ""),
        traits=frozenset(choose_several("traits", get_args(Trait))),
        body=parts["body"],
    )


def read_kinds(folder: Path) -> dict[Kind, KindOfFinding]:
    """Read every kind of a folder: errors first, then warnings, each by name."""
    kinds = sorted(map(read_kind, folder.glob("*.md")), key=lambda one: (one.severity, one.name))
    return {one.name: one for one in kinds}


KINDS = read_kinds(FOLDER)


def fails_run(severity: Severity, fail_on: Severity) -> bool:
    """Whether a new finding of this severity fails a run with this `--fail-on`: nothing else decides it."""
    return severity == "error" or fail_on == "warning"


def kinds_with(trait: Trait) -> frozenset[Kind]:
    """The kinds that have a trait."""
    return frozenset(one.name for one in KINDS.values() if trait in one.traits)
