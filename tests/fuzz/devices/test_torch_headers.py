"""Which header of torch a compile error names."""

import pytest

from kfuzz.devices.gpu.hosting import SHIM
from kfuzz.devices.torch_headers import DECLARED_IN, suggest_header


@pytest.mark.parametrize(
    ("complaint", "header"),
    [
        ("mine.cu:9:3: error: 'C10_CUDA_CHECK' was not declared in this scope", "c10/cuda/CUDAException.h"),
        ("mine.cu:9:3: error: 'CUDAGuard' is not a member of 'at::cuda'", "c10/cuda/CUDAGuard.h"),
        ('identifier "AT_CUDA_CHECK" is undefined', "ATen/cuda/Exceptions.h"),
        ('namespace "at::cuda" has no member "getCurrentCUDAStream"', "c10/cuda/CUDAStream.h"),
        ("mine.cu:9:3: error: 'rows' was not declared in this scope", ""),
        ("mine.cu:9:3: error: expected ';' before 'C10_CUDA_CHECK'", ""),
    ],
)
def test_the_header_is_named_with_what_it_declares(complaint: str, header: str) -> None:
    assert suggest_header(complaint) == (f": include <{header}>, which torch/extension.h does not" if header else "")


def test_each_header_is_one_that_is_here() -> None:
    assert all((SHIM / "include" / header).exists() for header in DECLARED_IN.values())
