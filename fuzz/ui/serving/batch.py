"""Judges several files, and gives each verdict as soon as it is there. Knows files and the queue; never a stream."""

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from pathlib import Path

from kfuzz.campaign.answers import Judgement
from kfuzz.claims.language.languages import ENDINGS
from kfuzz.common.errors import TargetError
from kfuzz.ui.serving.bench import JudgingError
from kfuzz.ui.serving.pool import MOST_WAITING, JudgingPool
from kfuzz.ui.serving.requests import JudgingRequest
from kfuzz.ui.targets.project import find_sources

AT_ONCE = 4
"""Answers in the queue for each process."""


def answers_in(targets: Sequence[Path], reference: Path | None) -> tuple[str, ...]:
    """The answers that a command line names, each once: files, and all below a folder but the reference."""
    own = reference.resolve() if reference else None
    found: dict[str, None] = {}
    for target in targets:
        below = sorted(find_sources(target, ENDINGS)) if target.is_dir() else [target]
        if not below:
            raise TargetError(f"{target}: no answer is below it: no file that ends in {' or '.join(ENDINGS)}")
        found |= dict.fromkeys(str(one) for one in below if target == one or own is None or not _is_of(one, own))
    return tuple(found)


def _is_of(file: Path, reference: Path) -> bool:
    """Whether a file is the reference, or lies in its folder."""
    place = file.resolve()
    return place == reference or reference in place.parents


def judge_all(
    pool: JudgingPool, requests: Sequence[JudgingRequest]
) -> Iterator[tuple[JudgingRequest, Judgement | JudgingError]]:
    """The verdicts as they come. After an interruption, those that are there already come, and then it goes on up."""
    left = iter(requests)
    pending: dict[Future[Judgement], JudgingRequest] = {}
    try:
        while True:
            for request in left:
                pending[pool.submit(request)] = request
                if len(pending) >= min(AT_ONCE * pool.jobs, MOST_WAITING):
                    break
            if not pending:
                return
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            yield from ((pending.pop(one), _found(one)) for one in done)
    except KeyboardInterrupt:
        yield from ((request, _found(one)) for one, request in pending.items() if one.done())
        raise


def _found(future: "Future[Judgement]") -> Judgement | JudgingError:
    try:
        return future.result()
    except JudgingError as error:
        return error
    except CancelledError:
        return JudgingError("it was cancelled", is_request=False)
