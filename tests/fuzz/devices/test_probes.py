"""A probe: what only one device understands belongs to that device."""

from kfuzz.devices import Probe
from kfuzz.devices.cpu.questions import CpuQuestion
from kfuzz.devices.sanitizing import SanitizerOptions


def test_a_device_reads_its_own_options_and_no_others() -> None:
    probe = Probe(options=(SanitizerOptions(sanitize=True), CpuQuestion(watch=("y", 3))))
    assert probe.option(SanitizerOptions).sanitize
    assert probe.option(CpuQuestion) == CpuQuestion(watch=("y", 3))


def test_without_options_a_device_has_its_defaults() -> None:
    assert Probe(options=(CpuQuestion(returned=True),)).option(SanitizerOptions) == SanitizerOptions(sanitize=False)
