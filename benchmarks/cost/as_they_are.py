"""Measure labelled programs and large files.

    python -m benchmarks.cost measure as_they_are [--suite LAYOUT FOLDER [INPUT]]...

It measures the cost of a checked run of each right program of a suite compared with an unchecked one (for the layouts
see benchmarks/detection/suites.py), and the time to compile a large file, in processor time.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median

from benchmarks.cost.check_speed import laid_out, seconds
from benchmarks.detection.labelled import LAYOUTS, Labelled, Program
from benchmarks.detection.programs import program
from benchmarks.detection.suites import nearby, words_of
from benchmarks.measurement import Figures, Record
from kfuzz.devices.cpu import toolchain
from kfuzz.devices.cpu.abi import Runtime
from kfuzz.devices.cpu.experiments import Manner
from kfuzz.devices.cpu.options import Flavour
from kfuzz.devices.cpu.programs.messages import ProgramRun
from kfuzz.devices.cpu.programs.server import Server
from kfuzz.devices.memory.layout import POISONS

TIMES, TIMES_OF_KERNEL = 3, 50
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


def measure(arguments: Sequence[str]) -> Figures:
    """Measure all of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", nargs="+", action="append", default=[], help="its layout, folder and input")
    suites = [(layout, *map(Path, paths)) for layout, *paths in parser.parse_args(arguments).suite]
    with tempfile.TemporaryDirectory() as name, closing(Server()) as server:
        pairs = {one[0]: list(seconds_of_suite(server, *one)) for one in suites}
        pairs["all"] = [pair for each in pairs.values() for pair in each]
        table = [compare(suite, each) for suite, each in pairs.items()]
        return Figures(time_large_file(Path(name)), {"suites": table})


def compare(suite: str, pairs: Sequence[tuple[float, float]]) -> Record:
    """What the right programs of a suite take without checks, and with each access checked."""
    ratios = [checked / fast for fast, checked in pairs]
    fast, checked = (median(column) for column in zip(*pairs, strict=True))
    return {
        "suite": suite, "programs": len(pairs), "fast": fast, "checked": checked, "ratio": median(ratios),
        "largest": max(ratios),
    }  # fmt: skip


def seconds_of_suite(
    server: Server, layout: str, folder: Path, file: Path | None = None
) -> Iterator[tuple[float, float]]:
    """Seconds of a run of each right program without checks, and of one with each access checked."""
    for one in LAYOUTS[layout](folder, words_of(None, file), tuple(nearby(folder))):
        if not one.wrong and not one.excluded:
            yield least(server, one, "fast"), least(server, one, "check")


def least(server: Server, one: Labelled, flavour: Flavour) -> float:
    """The seconds of the fastest of a few runs."""
    if isinstance(one.runs, Program):
        asked = ProgramRun(program(one.runs.path, one.runs.include, flavour), Manner(0, POISONS[0]), 60.0)
        return min(server.run(asked, (one.name, *one.runs.words))[0].seconds for _ in range(TIMES))
    runtime = Runtime(toolchain.build_runtime())
    placed = laid_out(next(one.runs()), flavour)
    return min(seconds(placed, runtime) for _ in range(TIMES_OF_KERNEL))


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


def processor_seconds(command: list[str], folder: Path) -> float:
    """The processor time of a command and of all processes that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
