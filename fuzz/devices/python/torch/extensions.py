"""PyTorch extensions under PyTorch itself, on its GPU: built by torch.utils.cpp_extension, called with its own tensors.

A second opinion beside the shim: a function's answer with torch's own allocator and dispatcher. It checks no access and
has no guards. It runs only in a worker process.
"""

import re
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils import cpp_extension

from kfuzz.devices import (
    Buffer,
    Call,
    Circumstances,
    DeviceError,
    Finding,
    Job,
    Outcome,
    Probe,
    Refusal,
    Run,
    UnsupportedError,
    cache,
)
from kfuzz.devices.python.torch.elements import TYPES, as_array, as_tensor
from kfuzz.devices.tensors import split_layout
from kfuzz.kinds import Kind

NULL = re.compile(r"(?:c10|at|std)::nullopt|torch::nullopt|\{\}")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
FAULTS: dict[str, Kind] = {"illegal memory access": "illegal-address", "misaligned address": "misaligned"}
"""The runtime's words for what a kernel did to its context; anything else that ends one is a trap."""
CONTEXT_IS_LOST = re.compile(r"CUDA error: (?!invalid (?:configuration )?argument|out of memory)")


class TorchExtensions:
    """The extensions that this process has built and loaded."""

    def __init__(self) -> None:
        self.is_spent = False
        if not torch.cuda.is_available():
            raise DeviceError("--torch: the torch that is installed sees no GPU: leave --torch out")
        self._modules: dict[tuple[str, tuple[str, ...]], Any] = {}

    def close(self) -> None:
        """Nothing outlives the process."""

    def run(self, job: Job, probe: Probe, begin: Callable[[str], None]) -> Outcome:
        """Call the function twice, the second time after its earlier calls; its answers are judged elsewhere."""
        function = self._function(job)
        begin("running")
        runs, findings = list[Run](), list[Finding]()
        try:
            for is_second, earlier in ((False, ()), (True, job.earlier)):
                for one in earlier:
                    call_function(function, one)
                outputs = call_function(function, job)
                findings += misfits(job, outputs)
                if findings:
                    return Outcome((), tuple(findings))
                answers = {one.name: as_output(outputs[one.name], one) for one in job.buffers if one.is_output}
                runs.append(Run(Circumstances(after_calls=is_second), answers))
        except RuntimeError as error:
            words = str(error).splitlines()[0]
            if not CONTEXT_IS_LOST.search(words):
                return Outcome(refusal=Refusal(f"by torch: {words}"))
            self.is_spent = True
            kind: Kind = next((kind for said, kind in FAULTS.items() if said in words), "trap")
            return Outcome(findings=(Finding(kind, f"under torch: {words}"),), ended=True)
        return Outcome(tuple(runs))

    def _function(self, job: Job) -> Callable[..., object]:
        call = job.steps[0].entry
        if not (isinstance(call, Call) and call.tensors):
            raise UnsupportedError(f"{job.path}: it is not a function of tensors, and torch itself calls nothing else")
        key = (job.source, job.flags)
        if key not in self._modules:
            self._modules[key] = build_module(job)
        function: Callable[..., object] | None = getattr(self._modules[key], call.function, None)
        if function is None:
            raise UnsupportedError(f"{job.path}: its module offers torch no {call.function}")
        return function


def build_module(job: Job) -> Any:  # noqa: ANN401  an extension module
    """The extension, built as its users build it, and cached for later processes."""
    name = f"kfuzz_{cache.key(job.source, *job.flags, torch.__version__)[:24]}"
    folder = cache.folder() / "torch" / name
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "extension.cu"
    if not source.exists() or source.read_text(encoding="utf-8") != job.source:
        source.write_text(job.source, encoding="utf-8")
    try:
        return cpp_extension.load(
            name=name,
            sources=[str(source)],
            extra_cuda_cflags=list(job.flags),
            extra_include_paths=[str(job.path.parent.resolve())],
            build_directory=str(folder),
        )
    except (RuntimeError, OSError, ImportError) as error:
        lines = [line for line in str(error).splitlines() if "error" in line] or str(error).splitlines()
        raise UnsupportedError(f"{job.path}: torch {torch.__version__} does not build it: {lines[0][:300]}") from None


def call_function(function: Callable[..., object], job: Job) -> dict[str, torch.Tensor]:
    """The outputs of a call: those passed to it, as it leaves them, and those that it returns."""
    call, step = job.steps[0].entry, job.steps[0]
    assert isinstance(call, Call)
    tensors = {one.name: tensor_of(one) for one in job.buffers if not one.is_returned}
    values = {re.split(r"[\s*&]", one)[-1]: value for one, value in zip(call.declared, step.args, strict=True)}
    handed = {
        name: tensors[str(values[f"{name}_data"])].as_strided(*split_layout(name, rank, values))
        for name, rank in call.tensors
    }
    sizes = {name: value for name, value in values.items() if isinstance(value, int)}
    given = [handed[text] if text in handed else value_of(text, sizes) for text in call.arguments]
    answer = function(*given)
    torch.cuda.synchronize()
    wanted = [one.name for one in job.buffers if one.is_returned]
    every = list(answer) if isinstance(answer, list | tuple) else [answer]
    outputs = {one.name: tensors[one.name] for one in job.buffers if one.is_output and not one.is_returned}
    return outputs | {name: one for name, one in zip(wanted, every, strict=False) if isinstance(one, torch.Tensor)}


def value_of(text: str, sizes: Mapping[str, int]) -> float | bool | None:
    """An argument as a Python value; UnsupportedError for any other C++ expression."""
    plain = text.strip()
    if plain in sizes:
        return sizes[plain]
    if NULL.fullmatch(plain):
        return None
    if plain in ("true", "false"):
        return plain == "true"
    number = plain.rstrip("fFlL")
    if NUMBER.fullmatch(number):
        return int(number) if re.fullmatch(r"[-+]?\d+", number) else float(number)
    raise UnsupportedError(f"torch cannot be handed `{plain}`")


def tensor_of(buffer: Buffer) -> torch.Tensor:
    """An array on the GPU, with its content or fill; without either it is as torch.empty makes it."""
    if buffer.element not in TYPES:
        raise UnsupportedError(f"torch has no {buffer.element}")
    if buffer.content is not None:
        bits = np.array(buffer.content, order="C").reshape(buffer.shape)
        return as_tensor(bits, buffer.element).cuda()
    if buffer.fill is not None:
        bits = np.full(buffer.shape, buffer.fill, f"<u{buffer.element.bytes}")
        return as_tensor(bits.view(buffer.element.dtype), buffer.element).cuda()
    return torch.empty(buffer.shape, dtype=TYPES[buffer.element], device="cuda")


def misfits(job: Job, outputs: Mapping[str, torch.Tensor]) -> list[Finding]:
    """A finding for the first output that is missing, or of another size or type than in the claim."""
    for buffer in job.buffers:
        if not buffer.is_output:
            continue
        made = outputs.get(buffer.name)
        wanted = f"{buffer.element}[{', '.join(map(str, buffer.answer))}]"
        if made is None:
            return [
                Finding("wrong-shape", f"{buffer.name} is not returned; the claim wants {wanted}", array=buffer.name)
            ]
        if made.dtype != TYPES[buffer.element] or made.numel() != prod(buffer.answer):
            message = f"{buffer.name} is returned as {made.dtype}{list(made.shape)}, not {wanted}"
            return [Finding("wrong-shape", message, array=buffer.name)]
    return []


def as_output(made: torch.Tensor, buffer: Buffer) -> NDArray[np.generic]:
    """A tensor as a numpy array; a type that numpy lacks becomes its bits."""
    flat = made.detach().contiguous().cpu().reshape(-1)[: prod(buffer.answer)].reshape(buffer.answer)
    return as_array(flat).view(buffer.element.dtype)


def backend() -> TorchExtensions:
    """What `python -m kfuzz.devices.worker.worker kfuzz.devices.python.torch.extensions` serves."""
    return TorchExtensions()
