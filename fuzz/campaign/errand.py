"""An errand: a job for another machine, and what it needs there.

Its work is a pure function of the job, so if a machine is lost, another one repeats its errand. Knows kernels and their
headers; never which machine runs an errand, nor what a job is.
"""

import functools
import hashlib
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kfuzz import oracle
from kfuzz.campaign.children import MakeDevice, Work
from kfuzz.claims.kernel import HOME, Kernel
from kfuzz.common.text.headers import sources
from kfuzz.devices import DeviceError

OURS = ("*.py", "*.cpp", "*.h", "*.cuh")


@dataclass(frozen=True)
class Errand:
    """`work` on `task`, on a device of `make_device`; `name` is for people.

    `version` is a hash of kfuzz's own code. `headers` are the paths and hashes of the kernel's headers, which are not
    sent with it. `device` is the device that the machine must have.
    """

    name: str
    make_device: MakeDevice
    work: Work[Any, Any]
    task: Any
    version: str
    headers: tuple[tuple[str, str], ...]
    device: str


Spread = Callable[[Sequence[Iterator[Errand | None]], float | None], Generator[tuple[int, Sequence[Any]], None, None]]
"""Runs the errands of several streams elsewhere until a time of `time.monotonic`: it yields the number of a stream and
the result of its next errand, in the order of each stream. A stream gives None while its next errand is not known."""


def errand(
    name: str, kernels: Sequence[Kernel], make_device: MakeDevice, work: Work[Any, Any], task: object, device: str
) -> Errand:
    """The errand of a job that concerns these kernels."""
    headers = [one for kernel in kernels for one in sources(kernel.path, kernel.source, kernel.flags)[1:]]
    known = dict.fromkeys((str(one.path), _hash(one.text.encode())) for one in headers)
    return Errand(name, make_device, work, task, code_version(), tuple(known), device)


def check_errand(errand: Errand, machine: str) -> None:
    """Raise a DeviceError if this machine would not do the same as the one that the errand comes from."""
    if errand.version != code_version():
        raise DeviceError(f"{machine} has another version of kfuzz than this machine: install the same one on both")
    for path, known in errand.headers:
        if not Path(path).is_file() or _hash(Path(path).read_text(encoding="utf-8-sig").encode()) != known:
            raise DeviceError(f"{machine}: {path} is missing or differs there; a kernel's headers are not sent with it")


@functools.cache
def code_version() -> str:
    """A hash of the code of this package: two machines with the same hash find the same."""
    folders = {"": HOME, "oracle/": Path(oracle.__file__).parent}  # an installed oracle lies within the other folder
    files = {
        place + path.relative_to(folder).as_posix(): path
        for place, folder in folders.items()
        for pattern in OURS
        for path in folder.rglob(pattern)
    }
    return _hash(*(part for name in sorted(files) for part in (name.encode(), files[name].read_bytes())))


def _hash(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()
