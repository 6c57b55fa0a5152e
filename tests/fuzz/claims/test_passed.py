"""A claim whose sizes were checked is not checked again, and only passes are kept."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kfuzz.claims import kernel, passed
from kfuzz.claims.kernel import KERNELS, Kernel, facts_of, load
from kfuzz.devices import ClaimError
from kfuzz.oracle import ops

SOFTMAX = KERNELS / "softmax" / "online_block.cu"
CONV = KERNELS / "conv3d" / "grouped2d.cu"
TEXT = SOFTMAX.read_text(encoding="utf-8")
GRID, ROWS = 'grid   = "rows"', 'rows = "1..2147483647"'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path / "cache"))
    return tmp_path


def corners_tried(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """At how many sizes the claim of a new file is checked, by a process that has read no claim yet."""
    path = folder / f"{len([*folder.iterdir()])}.cu"
    path.write_text(text, encoding="utf-8")
    kernel.check_corners.cache_clear()
    usual, tried = Kernel.accuracy, []
    with monkeypatch.context() as context:
        context.setattr(Kernel, "accuracy", lambda *given: tried.append(given) or usual(*given))
        load(path)
    return len(tried)


def test_a_claim_is_checked_once_until_kfuzz_changes_or_the_mark_is_damaged(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = corners_tried(folder, TEXT, monkeypatch)
    assert first > 1
    assert corners_tried(folder, f"{TEXT}\n// more\n", monkeypatch) == 0
    (mark,) = (folder / "cache" / "claims").iterdir()
    mark.write_bytes(mark.read_bytes()[:-1])
    assert corners_tried(folder, TEXT, monkeypatch) == first
    with monkeypatch.context() as context:
        context.setattr(passed, "own_digest", lambda: "another version")
        assert corners_tried(folder, TEXT, monkeypatch) == first
    assert corners_tried(folder, TEXT, monkeypatch) == 0


def test_what_another_process_has_checked_meanwhile_is_not_checked_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = facts_of(load(SOFTMAX))

    @contextmanager
    def after_another() -> Iterator[None]:
        passed.note(facts)
        yield

    monkeypatch.setattr(passed, "one_at_a_time", after_another)
    assert corners_tried(folder, TEXT, monkeypatch) == 0


def test_other_sizes_are_checked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = corners_tried(folder, TEXT, monkeypatch)
    assert ROWS in TEXT
    assert corners_tried(folder, TEXT.replace(ROWS, 'rows = "2..2147483647"'), monkeypatch) == first


def test_a_claim_that_contradicts_itself_is_refused_each_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert GRID in TEXT
    for _ in range(2):
        with pytest.raises(ClaimError, match="divides by zero"):
            corners_tried(folder, TEXT.replace(GRID, 'grid   = "rows / (cols - 1)"'), monkeypatch)
    assert not (folder / "cache" / "claims").exists()


def test_a_claim_whose_op_is_a_file_is_checked_each_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    formula = Path(ops.__path__[0]) / "softmax.py"
    (folder / "mine.py").write_bytes(formula.read_bytes())
    mine = TEXT.replace('op     = "softmax"', 'op     = "mine.py"')
    assert corners_tried(folder, mine, monkeypatch) == corners_tried(folder, mine, monkeypatch) > 1


def test_facts_are_the_same_in_every_process() -> None:
    """A set of words has another order in each."""
    assert "set(" not in facts_of(load(SOFTMAX)) + facts_of(load(CONV))
