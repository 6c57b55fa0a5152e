"""What a quantizer does with a group of zeros and with a NaN: the words of [quantize] that one case of each decides.

A word is proposed only if the kernel keeps it there and another word would have been broken. Knows trials and claims.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields
from typing import get_args

import numpy as np

from kfuzz.campaign.device import open_device
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.case import Case, case_for
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Device, Probe
from kfuzz.measure.roundings.grounds import grounds, inputs_of
from kfuzz.measure.roundings.propose import Statements, quoted
from kfuzz.measure.roundings.text import with_tables
from kfuzz.oracle.accuracy.quantizing import NanGroup, Quantizing, Zeros
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.op.names import names_of
from kfuzz.oracle.systems.value import QUOTIENT

SPOILED = {"zeros": (0.0, get_args(Zeros)), "nan": (np.nan, get_args(NanGroup))}
"""By key: the number that the first row then has, or its first element if it is NaN; and the words."""


def conventions_of(kernel: Kernel) -> Iterator[Statements]:
    """Statements of [quantize], each time with one more key; none for an op that does not quantize."""
    if QUOTIENT not in names_of(find(kernel.op)).narrow_values:
        return
    known = statements_of(kernel.rounding.models.quantize)
    with closing(open_device("cpu")) as device:
        for key, (number, words) in SPOILED.items():
            case, tune = spoiled_case(kernel, number)
            kept = [
                word for word in words if keeps_statements(kernel, {**known, key: quoted(word)}, case, tune, device)
            ]
            if key not in known and kept and len(kept) < len(words):
                known = {**known, key: quoted(kept[0])}
                yield known


def statements_of(said: Quantizing) -> dict[str, str]:
    """What a claim says beyond the defaults, as TOML writes it."""
    given = {one.name: getattr(said, one.name) for one in fields(said) if getattr(said, one.name) != one.default}
    return {name: "true" if value is True else quoted(value) for name, value in given.items()}


def spoiled_case(kernel: Kernel, number: float) -> tuple[Case, dict[str, int]]:
    """An ordinary case whose first input has zeros in its first row, or one NaN."""
    axes, tune = next(grounds(kernel))
    inputs = inputs_of(kernel, axes)
    first = next(iter(inputs.values()))
    if np.isnan(number):
        first.flat[0] = number
    else:
        first[0] = number
    return case_for(kernel, inputs), tune


def keeps_statements(kernel: Kernel, statements: Statements, case: Case, tune: dict[str, int], device: Device) -> bool:
    """Whether the kernel keeps its claim with this table in one case."""
    return not run_trial(with_tables(kernel, {"quantize": statements}), case, tune, device, Probe()).errors
