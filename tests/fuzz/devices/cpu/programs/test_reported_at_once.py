"""`kfuzz check` reports an error while the run that shows it still goes on, and keeps it when it is interrupted."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_an_interrupted_run_keeps_what_it_has_found(tmp_path: Path) -> None:
    (tmp_path / "own.cu").write_text(
        "#include <unistd.h>\n"
        "__global__ void everyone(int *a) { a[0] = threadIdx.x; }\n"
        "int main() {\n"
        "  int *a;\n"
        "  cudaMalloc(&a, 4);\n"
        "  everyone<<<1, 64>>>(a);\n"
        "  cudaDeviceSynchronize();\n"
        "  for (;;) pause();\n"
        "}\n"
    )
    command = [sys.executable, "-m", "kfuzz", "check", "own.cu", "--seed", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stderr is not None
        assert any(line.startswith("found race: own.cu:2: ") for line in process.stderr)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate()
    assert process.returncode == 130
    assert "BROKEN  own: race, `__global__ void everyone" in said
    assert "own: the first run was interrupted: it was in host code after launch 1 (own.cu:6)" in said
    assert "own: interrupted, broken in 1 way so far: 0 of 3 runs, 1 launch, 64 thread steps" in said
