"""The file of a callable is loaded as a module."""

import sys
from pathlib import Path

import pytest

from kfuzz.devices import ClaimError
from kfuzz.devices.python.loading import execute_file


@pytest.fixture(autouse=True)
def _path_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])


def test_what_lies_beside_one_file_is_not_found_by_another(tmp_path: Path) -> None:
    """A folder called triton beside one callable was taken for the library by torch, which another one imports."""
    for folder in ("one/library_of_none", "two"):
        (tmp_path / folder).mkdir(parents=True)
    source = "import library_of_none\n"
    execute_file(tmp_path / "one" / "uses_it.py", source, 0)
    del sys.modules["library_of_none"]
    with pytest.raises(ClaimError, match="No module named 'library_of_none'"):
        execute_file(tmp_path / "two" / "has_none.py", source, 1)
