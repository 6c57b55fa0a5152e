"""What kfuzz builds for the cpu device while it still reads claims."""

from pathlib import Path

import pytest

from kfuzz.devices import DeviceError
from kfuzz.devices.cpu.toolchain import build_runtime
from kfuzz.ui.commands.fuzz import may_be_compiled


def test_a_build_that_is_not_needed_compiles_nothing_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path))
    with pytest.raises(DeviceError, match="nothing needs the runtime"):
        build_runtime(lambda: True)
    assert not list((tmp_path / "cpu").glob("*"))


def test_the_runtime_is_built_ahead_where_a_target_may_be_compiled(tmp_path: Path) -> None:
    assert may_be_compiled(())
    assert may_be_compiled(("mine.cu",))
    assert not may_be_compiled(("mine.py", "package.module:function"))
    (tmp_path / "inner").mkdir()
    assert not may_be_compiled((str(tmp_path),))
    (tmp_path / "inner" / "one.cu").touch()
    assert may_be_compiled((str(tmp_path),))
