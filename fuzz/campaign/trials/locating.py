"""Finds the line of the kernel that stored the worst element of a wrong answer, by asking the device.

Knows kernels and devices; it does not know what is wrong with an answer.
"""

from dataclasses import replace
from math import prod

from kfuzz.campaign.trials.defect import Defect
from kfuzz.cases.case import Case
from kfuzz.claims.arrays_in_memory import word_of
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import ClaimError, Device, DeviceError, Locating, Probe


def locate(defect: Defect, kernel: Kernel, case: Case, device: Device, probe: Probe) -> Defect:
    """The defect with the line that stored its worst element; unchanged if it has a line or the device cannot tell."""
    worst, extent = defect.worst, defect.extent
    if worst is None or extent is None or defect.line is not None or not isinstance(device, Locating):
        return defect
    bound = kernel.bind(case.arrays, defect.scene.tune)
    name, array = next((name, one) for name, one in kernel.arrays.items() if one.writes == worst.output)
    buffer = next(one for one in bound.job.buffers if one.name == name)
    job, shape = bound.job, tuple(size(bound.sizes) for size in array.shape)
    if prod(shape) != extent.elements or (array.is_plain and buffer.shape != shape):
        return defect
    index = (0,) * len(shape) + worst.index  # an array of one row may be a vector, and a vector one row
    element = word_of(array, shape, index[len(index) - len(shape) :])
    try:
        stored = device.find_store(job, probe, buffer.name, element)
    except (ClaimError, DeviceError):  # the defect stays without a line
        return defect
    return replace(defect, header=stored[0], line=stored[1]) if stored else defect
