"""The vendors of GPUs: found in their folder, and all that the storeys above ask of them."""

from kfuzz.devices import Ahead, DeviceError
from kfuzz.devices.gpu.device import why_not
from kfuzz.devices.vendors import vendor, vendors


def test_a_vendor_is_a_file_of_its_folder() -> None:
    assert vendors()["nvidia"] is vendor()


def test_without_a_gpu_the_reason_is_that_of_nvidia() -> None:
    assert vendor().why_not() == why_not()


def test_its_device_is_one_that_takes_jobs_ahead_or_the_reason_says_what_is_missing() -> None:
    try:
        device = vendor().open_device(sanitize=False)
    except DeviceError:
        assert vendor().why_not()
        return
    assert isinstance(device, Ahead)
    device.close()


def test_each_tool_says_where_it_is_or_what_to_do() -> None:
    answers = {}
    for name, question in vendor().tools().items():
        try:
            answers[name] = question()
        except DeviceError as error:
            answers[name] = str(error)
    assert list(answers) == ["nvcc", "driver", "compute-sanitizer"]
    assert all(answers.values())
