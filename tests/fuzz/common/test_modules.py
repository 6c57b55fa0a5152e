"""The names of callables in modules, and the message for one that is not there."""

from pathlib import Path

import pytest

from kfuzz.common.errors import TargetError
from kfuzz.common.modules import find_callable


def test_a_callable_of_a_file_is_named_as_pytest_users_write_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "soft.py").write_text("def softmax(x): ...\n")
    for target in ("soft:softmax", "soft.py:softmax"):
        found = find_callable(target)
        assert (found.module, found.name) == ("soft", "softmax")
    with pytest.raises(TargetError, match=r"there is no module hard\.py here"):
        find_callable("hard.py:softmax")
