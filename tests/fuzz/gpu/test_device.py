"""What the gpu device says without a card: one line on what is missing, and what a second look confirms."""

import pytest

from kfuzz.devices import DeviceError, Finding, Outcome, Run
from kfuzz.devices.confirming import confirmed
from kfuzz.find.device import open_device
from kfuzz.gpu.device import why_not
from kfuzz.gpu.driver import Card
from kfuzz.gpu.nvidia import check_release

TRAP = Finding("trap", "launch 0 (k): unspecified launch failure", step=0)
RUN = Run("poison 7fbadbad", {})


def test_a_machine_without_a_card_says_in_one_line_what_to_do() -> None:
    reason = why_not()
    if reason is None:
        pytest.skip("this machine has a card")
    assert "\n" not in reason
    assert any(word in reason for word in ("install", "update", "check", "set CUDA_HOME"))


def test_a_driver_older_than_the_toolkit_is_named_with_both_versions() -> None:
    with pytest.raises(DeviceError, match=r"the driver runs CUDA 12\.4 and /opt/nvcc is 13\.0: update the driver"):
        check_release(Card("a card", (9, 0), (12, 4)), "/opt/nvcc", (13, 0))
    check_release(Card("a card", (9, 0), (13, 0)), "/opt/nvcc", (13, 1))
    assert Card("a card", (12, 1), (13, 0)).architecture == "sm_121"


def test_a_fault_seen_twice_is_an_error() -> None:
    assert confirmed(Outcome(findings=(TRAP,)), Outcome(findings=(TRAP,))).findings == (TRAP,)


def test_a_fault_seen_once_is_a_warning_and_the_answers_of_the_second_look_are_judged() -> None:
    outcome = confirmed(Outcome(findings=(TRAP,)), Outcome(runs=(RUN, RUN)))
    assert outcome.runs == (RUN, RUN)
    assert [(one.kind, one.severity) for one in outcome.findings] == [("trap", "warning")]
    assert outcome.findings[0].message.endswith("; not again in a new process")


def test_an_unknown_device_is_named_with_the_known_ones() -> None:
    with pytest.raises(DeviceError, match="device='tpu': expected one of auto, cpu, gpu"):
        open_device("tpu")
