"""The vendors of GPUs, one file or folder each: `VENDOR` there is all that the storeys above know of it."""

import importlib
import pkgutil
from functools import cache

from kfuzz.devices.vendor import Vendor


@cache
def vendors() -> dict[str, Vendor]:
    """Every vendor, by the name of its file."""
    names = [one.name for one in pkgutil.iter_modules(__path__)]
    return {name: importlib.import_module(f"{__name__}.{name}").VENDOR for name in names}


@cache
def vendor() -> Vendor:
    """The vendor whose GPU this machine can use; NVIDIA if it can use none, so that the reasons are about that."""
    every = vendors()
    others = [one for name, one in every.items() if name != "nvidia"]
    if others and every["nvidia"].why_not() is not None:
        return next((one for one in others if one.why_not() is None), every["nvidia"])
    return every["nvidia"]
