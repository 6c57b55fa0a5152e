"""A file that is timed in a process of its own: its trouble is an error of one line, and reaches no other file."""

import os
import pickle

import pytest
from paths import DATA

from kfuzz.claims.kernel import load
from kfuzz.devices import ClaimError, DeviceError
from kfuzz.measure.speed.own_process import run_apart


def end_process() -> None:
    os._exit(3)


def fail(of_claim: bool) -> None:
    raise ClaimError("mine.py: no such size") if of_claim else ZeroDivisionError("1 / 0")


@pytest.mark.soak
def test_a_process_of_its_own_reports_how_it_ended() -> None:
    assert run_apart(os.getpid) != os.getpid()
    with pytest.raises(DeviceError, match="its process ended before it was timed"):
        run_apart(end_process)
    with pytest.raises(ClaimError, match="no such size"):
        run_apart(fail, True)
    with pytest.raises(DeviceError, match="kfuzz itself failed: ZeroDivisionError"):
        run_apart(fail, False)


def test_a_kernel_of_a_python_file_can_be_sent_to_another_process() -> None:
    kernel = load(DATA / "callables" / "any_strides.py")
    assert pickle.loads(pickle.dumps(kernel)).front == kernel.front  # noqa: S301  our own bytes
