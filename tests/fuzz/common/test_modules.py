"""The names of callables in modules, and what is said about one that is not there."""

from pathlib import Path

import pytest

from kfuzz.common.errors import TargetError
from kfuzz.common.modules import find_callable


def test_a_file_with_a_colon_gets_the_ways_to_name_a_callable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "soft.py").write_text("def softmax(x): ...\n")
    with pytest.raises(TargetError, match=r"say soft.py --entry softmax, or soft:softmax$"):
        find_callable("soft.py:softmax")
    assert find_callable("soft:softmax").name == "softmax"
