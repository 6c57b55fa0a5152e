"""What kfuzz builds for the cpu device while it still reads claims."""

from pathlib import Path

import pytest

from kfuzz.devices import DeviceError
from kfuzz.devices.cpu.toolchain import build_runtime
from kfuzz.ui.commands.fuzz import may_be_cuda


def test_a_build_that_is_not_needed_compiles_nothing_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path))
    with pytest.raises(DeviceError, match="nothing needs the runtime"):
        build_runtime(lambda: True)
    assert not list((tmp_path / "cpu").glob("*"))


def test_the_runtime_is_built_ahead_where_a_target_may_be_cuda(tmp_path: Path) -> None:
    assert may_be_cuda(())
    assert may_be_cuda(("mine.cu",))
    assert not may_be_cuda(("mine.py", "package.module:function"))
    (tmp_path / "inner").mkdir()
    assert not may_be_cuda((str(tmp_path),))
    (tmp_path / "inner" / "one.cu").touch()
    assert may_be_cuda((str(tmp_path),))
