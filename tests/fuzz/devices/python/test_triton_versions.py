"""Triton's versions ask for ptxas in different ways: each is asked before there is a sandbox, which starts nothing.

Only one version can be installed, so the functions here have the signatures of 3.4 and 3.5, and of 3.6 and newer.
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


@pytest.mark.parametrize(("version", "arguments"), [(as_in_3_4, ()), (as_in_3_6, (90,))])
def test_no_tool_is_started_after_its_version_is_known(version, arguments: tuple[int, ...]) -> None:  # noqa: ANN001  a version
    tool = Tool()
    compiler = version(tool)
    driver().keep_versions(compiler)
    known = tool.starts
    assert known == 2
    assert compiler.get_ptxas(*arguments) == compiler.get_ptxas_version(*arguments) == "13.0"
    assert tool.starts == known


def test_a_version_without_these_functions_is_left_alone() -> None:
    compiler = SimpleNamespace(other=1)
    driver().keep_versions(compiler)
    assert vars(compiler) == {"other": 1}
