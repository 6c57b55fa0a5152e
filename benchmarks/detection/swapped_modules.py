"""Modules that are not as their compiler left them: what runs in the place of a PTX text, and a record of the texts.

A file in Python runs in a process of its own: a copy of it begins with the line of `hooked`, which leads each launch of
that process through `swap`. CUDA runs in the caller's process until its text is PTX: `NvccDevice` swaps it there.
Knows texts by their digests; it knows nothing of what is planted.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kfuzz.devices import Entry, Job
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.cpu.module_unit import _compile as compile_by_nvcc
from kfuzz.devices.python.launched import kernels
from kfuzz.devices.python.launched.arguments import LaunchArguments

PLACES = re.compile(r'^\s*\.file\s.*$|^\s*\.loc\s.*$|"[^"\n]*"', re.MULTILINE)
"""What a text says of files: it differs from folder to folder."""


def digest_of(text: str) -> str:
    """The name of a text, whatever the folder of its source."""
    return hashlib.sha256(PLACES.sub("", text).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Swaps:
    """A folder in which texts are kept by their digests, and a file that says which text runs for which."""

    folder: Path

    @property
    def control(self) -> Path:
        return self.folder / "control.json"

    def say(self, instead: Mapping[str, str]) -> None:
        """From now on these texts run in the place of those with these digests; the record begins again."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for one in self.folder.glob("*.ptx"):
            one.unlink()
        self.control.write_text(json.dumps(dict(instead)), encoding="utf-8")

    def swap(self, text: str) -> str:
        """What runs for a text, which is recorded."""
        name = digest_of(text)
        kept = self.folder / f"{name}.ptx"
        if not kept.exists():
            kept.write_text(text, encoding="utf-8")
        instead: dict[str, str] = json.loads(self.control.read_text(encoding="utf-8"))
        return instead.get(name, text)

    def record(self) -> dict[str, str]:
        """The texts that ran, or were to run, since `say`."""
        return {one.stem: one.read_text(encoding="utf-8") for one in sorted(self.folder.glob("*.ptx"))}


def hooked(text: str, folder: Path) -> str:
    """The text of a Python file whose launches are led through the swaps of a folder."""
    first = re.search(r"^(?:import|from)\b", text, re.MULTILINE)
    assert first, "it imports its language"
    line = (
        f"import benchmarks.detection.swapped_modules; benchmarks.detection.swapped_modules.install({str(folder)!r})\n"
    )
    return text[: first.start()] + line + text[first.start() :]


def install(folder: str) -> None:
    """Lead each launch of this process through the swaps of a folder, which is the same for all its files."""
    if kernels._job_of.__name__ == "make_swapped":
        return
    swaps, make = Swaps(Path(folder)), kernels._job_of

    def make_swapped(kernel: kernels.LaunchedKernel, made: LaunchArguments) -> Job:
        return make(replace(kernel, text=swaps.swap(kernel.text)), made)

    kernels._job_of = make_swapped


class NvccDevice(CpuDevice):
    """The cpu device for CUDA that nvcc makes PTX of: its module, of the kernels
    that a case launches, runs as a PTX file would, after a swap."""

    def __init__(self, swaps: Swaps) -> None:
        super().__init__()
        self._swaps = swaps
        self._known: dict[tuple[str, tuple[Entry, ...]], tuple[str, dict[Entry, Entry]]] = {}

    def _as_run(self, job: Job) -> Job:
        used = tuple(dict.fromkeys(one.entry for one in job.steps))
        key = (job.source, used)
        if key not in self._known:
            job = replace(job, entries=used)
            written = compile_by_nvcc(job)
            named = zip(job.entries, written.symbols, strict=True)
            self._known[key] = (
                written.text,
                {one: name if isinstance(one, str) else replace(one, function=name) for one, name in named},
            )
        text, names = self._known[key]
        steps = tuple(replace(one, entry=names[one.entry]) for one in job.steps)
        entries = tuple(names[one] for one in used)
        return replace(job, source=self._swaps.swap(text), entries=entries, steps=steps, through="ptx")
