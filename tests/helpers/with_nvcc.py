"""A mark for the tests that compile with nvcc, which needs no GPU."""

import pytest

from kfuzz.devices import DeviceError, nvcc


def missing_nvcc() -> str:
    """Why there is no nvcc; empty if there is one."""
    try:
        nvcc.find_nvcc()
    except DeviceError as error:
        return str(error)
    return ""


needs_nvcc = pytest.mark.skipif(bool(missing_nvcc()), reason=missing_nvcc() or "nvcc is here")
