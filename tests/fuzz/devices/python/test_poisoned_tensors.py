"""Poison in what torch.empty allocates: torch's compiler, which takes seconds to load, is not needed for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from kfuzz.devices.python.after_import import act_after_import

CALL = """
import sys
from kfuzz.devices.python.torch.arrays import poison_tensors
import torch
{before}
def call():
    made = torch.empty(4)
    return made, torch.zeros(3) + 1
with poison_tensors(0x7FC01234):
    made = {call}()[0]
print(hex(made.view(torch.int32)[3].item()))
compiler = sys.modules.get("torch._dynamo")
print(compiler and compiler.utils.counters["frames"]["total"])
"""
COMPILED = "torch.compile(call, backend='eager')"


@pytest.mark.parametrize(
    ("before", "call", "frames"),
    [
        pytest.param("", "call", None, marks=pytest.mark.slow(7), id="without the compiler"),
        pytest.param("import torch._dynamo", COMPILED, 0, marks=pytest.mark.soak, id="with it"),
        pytest.param("", COMPILED, 0, marks=pytest.mark.soak, id="loaded in the middle"),
    ],
)
def test_a_call_under_poison_neither_loads_the_compiler_nor_is_compiled(
    before: str, call: str, frames: int | None
) -> None:
    pytest.importorskip("torch")
    words = [sys.executable, "-c", CALL.format(before=before, call=call)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0x7fc01234", str(frames)]


def test_an_act_after_an_import_comes_once_the_module_has_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "imported_later.py").write_text("made = [1]")
    monkeypatch.syspath_prepend(str(tmp_path))
    finders, seen = list(sys.meta_path), list[object]()

    def act() -> None:
        seen.append(sys.modules["imported_later"].made[0])

    act_after_import("imported_later", act)
    act_after_import("imported_later", act)
    assert not seen
    __import__("imported_later")
    assert seen == [1, 1]
    assert sys.meta_path == finders
    act_after_import("imported_later", act)
    assert seen == [1, 1, 1]
    del sys.modules["imported_later"]
