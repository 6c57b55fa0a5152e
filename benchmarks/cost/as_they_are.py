"""Measure whole programs and large files: `python -m benchmarks.cost measure as_they_are`.

It measures the cost of a checked run of a whole program compared with an unchecked one, the time to compile a large
file, and the time to the first trial of an extension. All times are processor time unless they are called wall time.
"""

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.measurement import Figures
from kfuzz.devices.cpu.experiments import Manner
from kfuzz.devices.cpu.options import Flavour
from kfuzz.devices.cpu.programs.build import compile_source, link, load_program
from kfuzz.devices.cpu.programs.command_line import parse
from kfuzz.devices.cpu.programs.messages import ProgramEnd, ProgramRun
from kfuzz.devices.cpu.programs.server import Server
from kfuzz.devices.memory.layout import POISONS

TESTS = Path(__file__).parents[2] / "tests" / "data"
PROGRAMS = {
    "saxpy_managed": ("1000000",),
    "scan_in_three_launches": ("200000",),
    "matmul_against_the_host": (),
    "life_with_pinned_memory": (),
    "sort_by_rounds": (),
    "last_block_adds_up": (),
}
"""The programs, with their arguments if they take any."""
TIMES = 3
LINES = 5000
HELPER = """\
static int helper_{n}(std::vector<float> &values, const std::map<std::string, int> &sizes) {{
  int count = 0;
  for (const auto &[name, size] : sizes)
    if (name.size() > {n} % 7) count += size;
  for (float &value : values) value = value * {n}.5f + static_cast<float>(count);
  float *device = nullptr;
  if (cudaMalloc(&device, values.size() * sizeof(float)) != cudaSuccess) return -1;
  cudaMemcpy(device, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
  {what}
  return cudaFree(device) == cudaSuccess ? count : -1;
}}
"""
LAUNCH, CLEAR = "scaled<<<1, 64>>>(device, static_cast<int>(values.size()), 2.0f);", "cudaMemset(device, 0, 4);"
TOP = """\
#include <map>
#include <string>
#include <vector>
__global__ void scaled(float *data, int n, float by) { if (threadIdx.x < n) data[threadIdx.x] *= by; }
"""
LOCALS = "  std::vector<float> values(32);\n  std::map<std::string, int> sizes;\n  int sum = 0;\n"


def measure(_: Sequence[str]) -> Figures:
    """Measure all of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = {"programs": [compare(folder, one, arguments) for one, arguments in PROGRAMS.items()]}
        return Figures({**time_large_file(folder), **time_first_trial(folder)}, tables)


def compare(folder: Path, name: str, arguments: tuple[str, ...]) -> dict[str, object]:
    """A run of a program's main with each access checked, and one without checks."""
    fast, checked = (least(folder, name, arguments, flavour) for flavour in ("fast", "check"))
    return {
        "program": " ".join((name, *arguments)), "fast": fast.seconds, "checked": checked.seconds,
        "ratio": checked.seconds / fast.seconds, "rate": checked.thread_steps / checked.seconds / 1e6,
    }  # fmt: skip


def least(folder: Path, name: str, arguments: tuple[str, ...], flavour: Flavour) -> ProgramEnd:
    """The fastest of a few runs."""
    command, program = parse([str(TESTS / "programs" / f"{name}.cu")]), folder / f"{name}-{flavour}"
    link([compile_source(one, command.flags, flavour).object for one in command.sources], command, program, flavour)
    asked = ProgramRun(load_program(program, flavour), Manner(0, POISONS[0]), 60.0)
    with closing(Server()) as server:
        ends = [server.run(asked, (str(program), *arguments))[0] for _ in range(TIMES)]
    return min((one for one in ends if isinstance(one, ProgramEnd)), key=lambda one: one.seconds)


def time_large_file(folder: Path) -> dict[str, float]:
    """The time to compile a program whose host code has thousands of lines."""
    helpers = [HELPER.format(n=n, what=LAUNCH if n % 10 == 0 else CLEAR) for n in range(LINES // HELPER.count("\n"))]
    calls = "".join(f"  sum += helper_{n}(values, sizes);\n" for n in range(len(helpers)))
    text = f"{TOP}{''.join(helpers)}int main() {{\n{LOCALS}{calls}  return sum != 0;\n}}\n"
    path = folder / "large.cu"
    path.write_text(text)
    command = [sys.executable, "-m", "kfuzz", "nvcc", "-c", str(path), "-o", str(folder / "large.o")]
    took = processor_seconds(command, folder)
    return {"large_lines": text.count("\n"), "large_launches": text.count("<<<"), "large_seconds": took}


def time_first_trial(folder: Path) -> dict[str, float]:
    """The time to the first trial of an extension whose library is in the cache."""
    path = folder / "softmax_rows.cu"
    text = (TESTS / "extensions" / "softmax_rows.cu").read_text()
    path.write_text(re.sub(r"// /// kernel.*?// ///\n", "", text, flags=re.DOTALL))
    command = [sys.executable, "-m", "kfuzz", "fuzz", str(path), "--op", "softmax", "--device", "cpu", "--seed", "1"]
    command += ["--jobs", "1", "--max-cases", "1", "--corpus", str(folder / "corpus")]
    processor_seconds(command, folder)
    began = time.perf_counter()
    took = processor_seconds(command, folder)
    return {"trial_seconds": took, "trial_wall": time.perf_counter() - began, "cores": os.cpu_count() or 1}


def processor_seconds(command: list[str], folder: Path) -> float:
    """The processor time of a command and of all processes that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
