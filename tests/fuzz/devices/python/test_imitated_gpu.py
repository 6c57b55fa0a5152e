"""What the errors of files say about the GPUs that they take."""

import pytest

from kfuzz.devices.python.imitated_gpu import ImitatedGpu


@pytest.mark.parametrize(
    ("words", "asks_for_b200", "asks_for_another"),
    [
        ("Only SM 10.x and 11.x are supported", True, True),
        ("GemmAmax requires SM100+ compute capability, but found SM90 on device 0", True, True),
        ("sm12x_gpu_arch requires an SM12x device, got compute capability 9.0", False, True),
        ("needs compute capability 12.0", False, True),
        ("only 2 of 3 rows are there", False, False),
        ("requires contiguous tensors", False, False),
        ("ptx input, line 112; error   : Instruction 'cvt' not\n  supported on .target 'sm_90a'", True, False),
        ("libNVVM extra log: Failed to generate PTX from the compilation unit. (error 9)", True, False),
    ],
)
def test_an_error_of_a_file_that_takes_other_gpus_alone_is_known(
    words: str, asks_for_b200: bool, asks_for_another: bool
) -> None:
    """A file for SM12x alone was called broken: it refused the GPU that kfuzz imitates."""
    gpu = ImitatedGpu()
    assert gpu.does_ask_for_b200(words) == asks_for_b200
    assert gpu.is_another_asked(words) == asks_for_another
