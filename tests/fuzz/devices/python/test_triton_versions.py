"""Triton's versions differ in how they ask for ptxas, and in how they write a configuration of a tuning.

Each is asked for ptxas before there is a sandbox, which starts nothing. Only one version can be installed, so the
functions here have the signatures of 3.4 and 3.5, and of 3.6 and newer, and a configuration has the words of 3.9.
"""

import importlib
from types import ModuleType, SimpleNamespace

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")


class Tool:
    """Counts how often it is started."""

    def __init__(self) -> None:
        self.starts = 0

    def start(self) -> str:
        self.starts += 1
        return "13.0"


def driver() -> ModuleType:
    return importlib.import_module("kfuzz.devices.python.triton.driver")


def as_in_3_4(tool: Tool) -> SimpleNamespace:
    return SimpleNamespace(get_ptxas=tool.start, get_ptxas_version=tool.start)


def as_in_3_6(tool: Tool) -> SimpleNamespace:
    return SimpleNamespace(get_ptxas=lambda arch: tool.start(), get_ptxas_version=lambda arch=80: tool.start())


@pytest.mark.parametrize(("version", "targets"), [(as_in_3_4, [()]), (as_in_3_6, [(80,), (90,), (100,)])])
def test_no_tool_is_started_after_its_version_is_known(version, targets: list[tuple[int, ...]]) -> None:  # noqa: ANN001  a version
    tool = Tool()
    compiler = version(tool)
    driver().keep_versions(compiler)
    known = tool.starts
    assert known == 2 * len(targets)
    for target in targets:
        assert compiler.get_ptxas(*target) == compiler.get_ptxas_version(*target) == "13.0"
    assert tool.starts == known


def test_a_version_without_these_functions_is_left_alone() -> None:
    compiler = SimpleNamespace(other=1)
    driver().keep_versions(compiler)
    assert vars(compiler) == {"other": 1}


def test_every_version_chooses_the_same_configurations() -> None:
    """3.9 writes one field more: a kernel of fp8 got blocks of 16 rows under 3.6, and of 64 under 3.9, on wgmma."""
    config = pytest.importorskip("triton").Config

    class In39(config):  # type: ignore[misc, valid-type]
        def __str__(self) -> str:
            return f"{config.__str__(self)}, ir_override: None"

    sizes, chosen = [(16, 128), 7], {"block": 64}
    here = driver().rank_config(*sizes, config=config(chosen, num_warps=8), block=64)
    assert driver().rank_config(*sizes, config=In39(chosen, num_warps=8), block=64) == here
    others = [config(chosen), config({"block": 32}, num_warps=8), config(chosen, num_warps=8, maxnreg=64)]
    assert here not in [driver().rank_config(*sizes, config=one, block=64) for one in others]
    assert driver().rank_config((16, 256), 7, config=config(chosen, num_warps=8), block=64) != here
