"""A call with tensors that hold nothing, however large: the launches of its extensions are looked at, and nothing runs.

torch's own operations give shapes alone. Knows torch and callers; the cpu device says which launches are refused.
"""

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from kfuzz.devices import Buffer, Finding, Outcome, Probe, Refusal, UnsupportedError
from kfuzz.devices.python.call_values import arguments
from kfuzz.devices.python.calling import Caller
from kfuzz.devices.python.extensions import CALLS, RefusedByExtensionError
from kfuzz.devices.python.hiding import hidden
from kfuzz.devices.python.other_sizes import sizes_of
from kfuzz.devices.python.raising import line_in_file, words_of
from kfuzz.devices.python.refusing import is_refusal
from kfuzz.devices.python.torch.elements import TYPES, as_tensor

OURS = "kfuzz"
"""In the words of a refusal that is no author's."""


def examine_launches(caller: Caller, probe: Probe) -> Outcome:
    """The launches that a GPU refuses, or the author's own refusal; notes where neither is known."""
    file = str(caller.job.path.resolve())
    with CALLS.look_at_launches(probe) as seen:
        try:
            call(caller)
        except RefusedByExtensionError as error:
            return _refused(seen, str(error), error.line or line_in_file(error, file))
        except UnsupportedError as error:
            return Outcome(findings=tuple(seen), notes=(str(error),))
        except Exception as error:  # whatever its own code raises, or torch for what has no content
            if is_refusal(error, file):
                return _refused(seen, words_of(error), line_in_file(error, file))
            return Outcome(findings=tuple(seen), notes=(words_of(error),))
    if caller.job.path not in CALLS.callers:
        return Outcome(findings=(Finding("no-own-kernel", "it calls none of the CUDA that it builds", "warning"),))
    return Outcome(findings=tuple(seen), returned=())


def _refused(seen: list[Finding], words: str, line: int | None) -> Outcome:
    if OURS in words:
        return Outcome(findings=tuple(seen), notes=(words,))
    return Outcome(findings=tuple(seen), refusal=Refusal(words, line))


def call(caller: Caller) -> None:
    """Make the call; arrays that have content, as integers have, keep it."""
    handed = [one for one in caller.job.buffers if one.name not in caller.call.returns]
    with torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True) as mode:
        tensors = {one.name: tensor_for(one, mode) for one in handed}
        args, named = arguments(caller.call, {**sizes_of(caller), **tensors})
        with hidden():
            caller.function(*args, **named)


def tensor_for(buffer: Buffer, mode: FakeTensorMode) -> Any:  # noqa: ANN401  a tensor
    if buffer.content is not None:
        return mode.from_tensor(as_tensor(buffer.content, buffer.element))
    return torch.empty(buffer.shape, dtype=TYPES[buffer.element])
