"""Finds the properties in their folder, and looks at a trial for each of them.

Knows which properties there are; it does not know how one is tested.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import cast

from kfuzz.campaign.properties import checks
from kfuzz.campaign.properties.property import Examined, Expected, Foreseeing, Look, Planned, Property, Twin
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Finding


@cache
def properties() -> Mapping[str, Property]:
    """Every property, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(checks.__path__))
    return {name: cast(Property, importlib.import_module(f"{checks.__name__}.{name}")) for name in names}


@cache
def foreseeing() -> Mapping[str, Foreseeing]:
    """The properties whose twins are known before the trial runs."""
    return {name: each for name, each in properties().items() if isinstance(each, Foreseeing)}


def foresee(trial: Planned) -> dict[str, Sequence[Twin]]:
    """By property, the twins that a trial is compared with if its answers are right, as far as they are known now."""
    found = {
        name: each.foresee(trial)
        for name, each in foreseeing().items()
        if not properties()[name].why_untested(trial.kernel)
    }
    return {name: twins for name, twins in found.items() if twins}


def look_at(trial: Examined, at_all: bool) -> Iterator[Look]:
    """What a trial says of each property that it can show; `at_all`: of those that are not claimed, too."""
    for name, each in properties().items():
        is_claimed = each.is_claimed(trial.kernel)
        if each.why_untested(trial.kernel) or not (at_all or is_claimed or is_expected(trial.kernel, name)):
            continue
        seen = each.look(trial)
        if isinstance(seen, Finding) and not is_claimed:
            seen = replace(seen, severity="warning")
        if seen is not None:
            yield Look(name, seen if isinstance(seen, Finding) else None)


def is_reported(kernel: Kernel, name: str) -> bool:
    """Whether the failure of a property is a finding: an error if it is claimed, a warning if callers expect it."""
    return properties()[name].is_claimed(kernel) or is_expected(kernel, name)


def is_expected(kernel: Kernel, name: str) -> bool:
    """Whether callers expect a property that the kernel does not claim."""
    each = properties()[name]
    return isinstance(each, Expected) and each.is_expected(kernel)
