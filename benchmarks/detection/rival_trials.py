"""Runs rivals on kernels and mutants, on the cpu device: what each rejects, after how many trials and seconds."""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context

import numpy as np

from benchmarks.detection.rivals import RIVALS, Floats, Inputs, Rival, reference
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Device, Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.memory.layout import POISONS
from kfuzz.measure.mutants.mutate import Mutant, as_kernel

USUAL = 256
TIMEOUT = 0.5
CRASHES = ("hang", "trap", "illegal-address", "misaligned")
"""The findings that a person at a GPU cannot overlook: the launch fails, or never ends."""
AT_A_TIME = 24


@dataclass(frozen=True)
class Tally:
    """A rival on one mutant, or on a correct kernel (no key).

    `apart`: it is rejected on an input on which the correct kernel is accepted. Otherwise it was not found at all.
    """

    rival: str
    kernel: str
    key: str
    rejected: bool
    apart: bool
    trials: int
    seconds: float


@dataclass(frozen=True)
class Question:
    """An input with the reference's answer."""

    inputs: Inputs
    want: Mapping[str, np.ndarray]
    tunes: tuple[Mapping[str, int], ...]


def questions(rival: Rival, kernel: Kernel) -> list[Question]:
    """The questions of a rival to a kernel, with the launches that it tries."""
    asked = []
    for inputs in rival.inputs(kernel):
        every = list(kernel.tunes(kernel.axes_of(inputs)))
        if not every:  # no launch is claimed for such sizes
            continue
        usual = min(every, key=lambda tune: [abs(value - USUAL) for value in tune.values()])
        tunes = [tune for tune in every if tune == {**usual, "threads": tune.get("threads")}]
        want = reference(kernel, inputs, rival.precision, usual)
        asked.append(Question(inputs, want, tuple(tunes) if rival.every_block and tunes else (usual,)))
    return asked


def tally(rival: Rival, asked: Sequence[Question], kernel: Kernel, key: str, device: Device) -> Tally:
    """Ask until the rival rejects an answer or has asked everything."""
    began, trials, kept = time.perf_counter(), 0, dict[str, Floats]()
    for question in asked:
        for tune in question.tunes:
            trials += 1
            got = _answer(kernel, question.inputs, tune, device, kept if rival.keeps_output else None)
            if got is None or not all(
                rival.accepts(kernel.op, got[role].reshape(want.shape), want) for role, want in question.want.items()
            ):
                return Tally(rival.name, kernel.name, key, True, True, trials, time.perf_counter() - began)
        kept.clear()
    return Tally(rival.name, kernel.name, key, False, False, trials, time.perf_counter() - began)


def _answer(
    kernel: Kernel, inputs: Inputs, tune: Mapping[str, int], device: Device, kept: dict[str, Floats] | None
) -> dict[str, Floats] | None:
    """The outputs of one launch; None if it crashed. Unwritten elements are 1e38, or their former value."""
    bound = kernel.bind(inputs, tune)
    outcome = device.run(bound.job, Probe(False, 2, 0, TIMEOUT))
    if len(outcome.runs) < 2 or any(found.kind in CRASHES for found in outcome.findings):
        return None
    got = {
        role: np.asarray(array, np.float32)
        for role, array in kernel.outputs(outcome.runs[1].outputs, bound.sizes).items()
    }
    if kept is not None:
        for role, array in got.items():
            unwritten = array.view(np.uint32) == POISONS[1]
            if role in kept:
                array[unwritten] = kept[role][unwritten]
            kept[role] = array
    return got


def batch(kernel: Kernel, mutants: tuple[Mutant, ...]) -> list[Tally]:
    """All rivals on some mutants of a kernel, or on the kernel itself if there are none."""
    found = []
    with CpuDevice() as device:
        for rival in RIVALS:
            asked = questions(rival, kernel)
            controls = [tally(rival, [question], kernel, "", device) for question in asked]
            sound = [one for one, control in zip(asked, controls, strict=True) if not control.rejected]
            for mutant in mutants:
                changed = as_kernel(mutant, kernel)
                one = tally(rival, asked, changed, mutant.key, device)
                if one.rejected and len(sound) < len(asked):
                    one = replace(one, apart=tally(rival, sound, changed, mutant.key, device).rejected)
                found.append(one)
            if not mutants:
                found += controls
    return found


def run_rivals(chosen: Mapping[str, tuple[Kernel, tuple[Mutant, ...]]], jobs: int) -> Iterator[list[Tally]]:
    """All rivals on all mutants, and on all the kernels themselves, question by question; some at a time."""
    work: list[tuple[Kernel, tuple[Mutant, ...]]] = []
    for kernel, mutants in chosen.values():
        work.append((kernel, ()))
        work += [(kernel, mutants[at : at + AT_A_TIME]) for at in range(0, len(mutants), AT_A_TIME)]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(batch, *zip(*work, strict=True))
