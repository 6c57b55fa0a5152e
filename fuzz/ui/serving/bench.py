"""A process that judges one answer after another, and stays warm between them: its side.

Knows files, references and its caller; never the queue.
"""

import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from multiprocessing import parent_process
from multiprocessing.connection import wait
from pathlib import Path

from kfuzz.campaign.answers import Judgement
from kfuzz.cases.errors import CaseError
from kfuzz.common.errors import ClaimError, DeviceError, TargetError, line_of
from kfuzz.devices import cache, processes
from kfuzz.devices.memory.machine_memory import resident_bytes
from kfuzz.ui.serving.requests import JudgingRequest
from kfuzz.ui.targets.judge_file import judge_file

BETWEEN_TIDYINGS, ABANDONED = 300.0, 60.0
"""Seconds. A compiler that is ended with its answer leaves a folder of 0.5 MB, whose lock its process had taken at
once; and each answer that is compiled keeps as much in the cache."""
TO_LEAVE = 10.0
"""Seconds in which a process puts away what it has begun, once its caller is gone."""
OP_FILE = re.compile(r"\S+\.py")
"""In an op: a formula in a file."""


class JudgingError(DeviceError):
    """There is no verdict, in one line. `is_request`: the request is at fault, and not this machine."""

    def __init__(self, words: str, is_request: bool) -> None:
        super().__init__(words, is_request)
        self.words, self.is_request = words, is_request

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class BenchReady:
    """The process can take an answer."""


@dataclass(frozen=True)
class BenchBegun:
    """The process has an answer: if it ends now, that may be the answer's doing."""


@dataclass(frozen=True)
class BenchReply:
    """What came of a request, and the memory of the process and of the largest one that it keeps up; None: it has to
    be asked of a new process.
    """

    found: Judgement | JudgingError | None
    resident: int = 0


BenchMessage = BenchReady | BenchBegun | BenchReply


class JudgingBench:
    """What the process keeps: the stamps of the files that it has loaded, and who it must not outlive."""

    def __init__(self) -> None:
        os.dup2(2, 1)  # the standard output is for verdicts
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        processes.adopt_orphans()
        threading.Thread(target=_leave_with_caller, daemon=True).start()
        self._ops: dict[str, str] = {}
        self._tidied = -BETWEEN_TIDYINGS

    def close(self) -> None:
        """End all that still runs for it."""
        processes.end(processes.descendants(os.getpid()))

    def clean(self) -> None:
        """Wait for what others have left, and remove their files now and then."""
        processes.reap_orphans()
        if time.monotonic() - self._tidied > BETWEEN_TIDYINGS:
            self._tidied = time.monotonic()
            with suppress(OSError):
                cache.tidy(abandoned=ABANDONED)

    def has_other_text(self, op: str) -> bool:
        """Whether the op stands in a file that this process has loaded with another text."""
        digests = {}
        for one in OP_FILE.findall(op):
            with suppress(OSError):  # then it is no file that can be loaded
                digests[one] = cache.file_digest(Path(one))
        is_other = any(self._ops.get(one, digest) != digest for one, digest in digests.items())
        self._ops |= digests
        return is_other


def work_at(bench: JudgingBench, jobs: Iterator[JudgingRequest | None]) -> Iterator[BenchMessage]:
    """Judge one answer; say before that the process is ready for it."""
    yield BenchReady()
    request = next(jobs)
    assert request is not None
    yield BenchBegun()
    if bench.has_other_text(request.op):
        yield BenchReply(None)
        return
    found = judge_request(request)
    bench.clean()
    yield BenchReply(found, max(map(resident_bytes, (os.getpid(), *processes.descendants(os.getpid())))))


def judge_request(request: JudgingRequest) -> Judgement | JudgingError:
    """The verdict on an answer, or why there is none."""
    terms = request.terms
    try:
        with ExitStack() as stack:
            path, folder = Path(request.answer), None
            if request.text is not None:
                folder = stack.enter_context(cache.scratch())
                path = _written(folder / request.answer, request.text)
            found = judge_file(
                path, reference=request.reference, op=request.op, budget=terms.budget, device=request.device,
                seed=terms.seed, any_shape=terms.any_shape, sandbox=request.is_sandboxed, require=terms.require,
            )  # fmt: skip
            return found if folder is None else _without(folder, found)
    except (CaseError, ClaimError, TargetError) as error:
        return JudgingError(str(error), is_request=True)
    except Exception as error:  # the process goes on with the next answer
        return JudgingError(line_of(error), is_request=False)


def _written(path: Path, text: str) -> Path:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DeviceError(f"{path.parent}: the answer cannot be written there: {error.strerror}") from None
    return path


def _without(folder: Path, found: Judgement) -> Judgement:
    """The judgement, with the answer's name where it has its path."""
    places = sorted({f"{folder}/", f"{folder.resolve()}/", f"{os.path.relpath(folder)}/"}, key=len, reverse=True)

    def clear(text: str) -> str:
        for place in places:
            text = text.replace(place, "")
        return text

    return replace(found, finding=clear(found.finding), where=clear(found.where), elsewhere=clear(found.elsewhere))


def _leave_with_caller() -> None:
    """End this process, with all that runs for it, once its caller has ended."""
    caller = parent_process()
    assert caller is not None
    wait([caller.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(TO_LEAVE)
    processes.end(processes.descendants(os.getpid()))
    os._exit(1)
