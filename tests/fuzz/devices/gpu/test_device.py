"""What the gpu device says without a GPU, and what it needs to accuse a kernel that ended its process."""

import pytest

from kfuzz.campaign.device import open_device
from kfuzz.devices import Circumstances, DeviceError, Finding, Outcome, Run
from kfuzz.devices.gpu.device import why_not
from kfuzz.devices.gpu.driver import Gpu
from kfuzz.devices.gpu.nvidia import check_release
from kfuzz.devices.worker.confirming import LOOKS, confirm

TRAP = Finding("trap", "launch 0 (k): unspecified launch failure", step=0)
RUN = Run(Circumstances(poison=0x7FBADBAD), {})
TRAPS = Outcome(findings=(TRAP,))
HANGS = Outcome(findings=(Finding("hang", "launch 0 (k): no end after 1 s", step=0),))
FAULTS = Outcome(findings=(Finding("illegal-address", "launch 0 (k): an access of no memory", step=0),))
RUNS = Outcome(runs=(RUN, RUN))


def test_a_machine_without_a_gpu_says_in_one_line_what_to_do() -> None:
    reason = why_not()
    if reason is None:
        pytest.skip("this machine has a GPU")
    assert "\n" not in reason
    assert any(word in reason for word in ("install", "update", "check", "set CUDA_HOME"))


def test_a_driver_older_than_the_toolkit_is_named_with_both_versions() -> None:
    with pytest.raises(DeviceError, match=r"the driver runs CUDA 12\.4 and /opt/nvcc is 13\.0: update the driver"):
        check_release(Gpu("a GPU", (9, 0), (12, 4)), "/opt/nvcc", (13, 0))
    check_release(Gpu("a GPU", (9, 0), (13, 0)), "/opt/nvcc", (13, 1))
    assert Gpu("a GPU", (12, 1), (13, 0)).architecture == "sm_121"


def looks_at(*outcomes: Outcome) -> tuple[list[tuple[str, str]], int]:
    """The kinds and severities that these looks at one job come to, and how many looks were needed."""
    left = list(outcomes)
    outcome = confirm(left.pop(0), lambda: left.pop(0))
    return [(one.kind, one.severity) for one in outcome.findings], len(outcomes) - len(left)


def test_a_fault_seen_twice_is_an_error() -> None:
    assert looks_at(TRAPS, TRAPS, HANGS) == ([("trap", "error")], 2)


def test_a_fault_seen_once_is_a_warning_and_the_answers_of_the_second_look_are_judged() -> None:
    outcome = confirm(TRAPS, lambda: RUNS)
    assert outcome.runs == (RUN, RUN)
    assert [(one.kind, one.severity) for one in outcome.findings] == [("trap", "warning")]
    assert outcome.findings[0].message.endswith("; not again in a new process")


@pytest.mark.parametrize("first", [HANGS, TRAPS])
def test_a_timeout_of_a_busy_machine_is_a_warning_whichever_look_has_it(first: Outcome) -> None:
    """A launch that traps timed out in one of the two processes, and was called a hang."""
    second = TRAPS if first is HANGS else HANGS
    assert looks_at(first, second, TRAPS) == ([("trap", "error"), ("hang", "warning")], LOOKS)


def test_looks_that_never_agree_accuse_of_nothing() -> None:
    findings, looks = looks_at(TRAPS, HANGS, FAULTS, TRAPS)
    assert looks == LOOKS
    assert {severity for _, severity in findings} == {"warning"}


def test_a_kind_that_the_kernel_is_known_for_needs_no_second_look_of_its_own() -> None:
    outcome = confirm(TRAPS, lambda: HANGS, ("hang",))
    assert [(one.kind, one.severity) for one in outcome.findings] == [("hang", "error"), ("trap", "warning")]


def test_an_unknown_device_is_named_with_the_known_ones() -> None:
    with pytest.raises(DeviceError, match="device='tpu': expected one of auto, cpu, gpu"):
        open_device("tpu")
