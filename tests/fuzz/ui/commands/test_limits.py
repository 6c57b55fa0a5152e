"""A command ends with one line that names the file, whatever takes too long: a compiler, an import, a formula."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from paths import KERNELS

from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.ui.commands import bench
from kfuzz.ui.commands.group import main

pytestmark = pytest.mark.slow(6)

OP = 'INPUTS = {"x": "float[rows, cols]"}\nOUTPUTS = {"y": "float[rows, cols]"}\n'
BUSY = "import numpy as np\ndef f(x: np.ndarray) -> np.ndarray:\n    while True: pass\n"
SPINS = f"{OP}def formula(N, x):\n    while True: pass\n"
CATCHES = f"{OP}def formula(N, x):\n    while True:\n        try: list(range(9))\n        except Exception: pass\n"


@pytest.mark.parametrize(
    "command", ["check", *(pytest.param(one, marks=pytest.mark.soak) for one in ("bench", "fuzz", "score"))]
)
def test_a_compiler_that_hangs_is_one_line(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of them had no limit, and kfuzz itself was to blame: `kfuzz itself failed: ClaimError`."""
    (tmp_path / "cxx").write_text('#!/bin/sh\ncase "$*" in *-version*|*-dump*) exec g++ "$@";; esac\nsleep 1000\n')
    (tmp_path / "cxx").chmod(0o755)
    monkeypatch.setenv("CXX", str(tmp_path / "cxx"))
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(bench, "vendor", lambda: SimpleNamespace(why_not=lambda: None))
    monkeypatch.setattr(bench, "open_device", lambda _: CpuDevice())
    mine = tmp_path / "mine.cu"
    program = "__global__ void f() {}\nint main() { f<<<1, 1>>>(); }\n"
    mine.write_text(program if command == "check" else (KERNELS / "transpose" / "naive.cu").read_text())
    only_cpu = ["--device", "cpu"] if command == "fuzz" else []
    done = CliRunner().invoke(main, [command, str(mine), "--compile-time", "0.5s", *only_cpu])
    said, *_ = [line for line in done.output.splitlines() if "--compile-time" in line]
    assert re.search(rf"{re.escape(str(mine))}: [\w ]+(\.h)?: not compiled within 0\.5 s \(limit of one", said)
    assert (done.exit_code, "itself" in done.output) == (2, False)


@pytest.mark.parametrize("text", ["import time\ntime.sleep(1000)\n", SPINS, CATCHES])
def test_an_op_that_hangs_is_one_line(text: str, tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(text)
    done = CliRunner().invoke(main, ["op", str(mine), "--compile-time", "0.5s", "--call-time", "0.5s"])
    assert done.exit_code == 2
    hangs = "not imported within 0.5 s (limit of one import: --compile-time)"
    if "formula" in text:
        hangs = "the formula did not return within 0.5 s (limit of one call: --call-time)"
    assert done.output == f"{mine}: {hangs}\n"


@pytest.mark.soak
def test_a_call_that_had_its_limit_hangs_and_one_that_is_cut_off_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(BUSY)
    words = ["fuzz", "mine.py", "--op", "relu", "--device", "cpu", "--jobs", "1", "--max-time"]
    cut = CliRunner().invoke(main, [*words, "0.5s"])
    assert (cut.exit_code, "BROKEN" in cut.output) == (2, False)
    hangs = CliRunner().invoke(main, [*words, "60s", "--call-time", "0.5s"])
    assert (hangs.exit_code, "BROKEN  mine: hang" in hangs.output) == (1, True)
    (kept,) = tmp_path.rglob("hang-*.json")
    again = CliRunner().invoke(
        main, ["replay", str(kept), "--kernel", "mine.py", "--op", "relu", "--device", "cpu", "--call-time", "0.5s"]
    )
    assert (again.exit_code, "did not return within 0.5 s" in again.output) == (1, True)
