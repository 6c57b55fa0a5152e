"""The runtime's mutable variables: each is a part of the run's state, which ends with the run, or of the process's."""

import re
import subprocess
from pathlib import Path

import pytest

from kfuzz.devices import host_compiler
from kfuzz.devices.cpu import toolchain

DECLARATION = re.compile(r"\bPer(?:Run|Process)<\w+> (\w+);")
OF_THE_ABI = {"cuda_on_cpu_settled", "cuda_on_cpu_lines", "cuda_on_cpu_dynamic_shared", "cuda_on_cpu_static_shared"}
"""What the code of kernels reads by name."""
OTHERS = {"run", "all_"}
"""The current run itself, and the list of the run's parts."""
OF_HOST_THREADS = {"current", "last_error", "is_inside_runtime", "has_signal_stack", "open_calls"}
"""What each thread of the host has of its own."""


def list_variables(library: Path) -> set[str]:
    """The names of the library's variables that can be written."""
    ran = subprocess.run(["objdump", "-t", "-C", str(library)], capture_output=True, text=True, check=True)
    found = re.findall(r" O (?:\.bss|\.data|\.tbss|\.tdata)\s+[0-9a-f]+\s+(.*)", ran.stdout)
    names = {one.removeprefix(".hidden ").strip() for one in found}
    of_the_compiler = r"guard variable|completed\.|__dso_handle|__TMC_END__|DW\.ref|__cpu_"
    return {one for one in names if not re.match(of_the_compiler, one)}


def find_strays(library: Path, texts: str) -> set[str]:
    """The variables of the library that no file declares as a part of the run's or the process's state."""
    declared = {*DECLARATION.findall(texts), *OF_THE_ABI, *OTHERS, *OF_HOST_THREADS}
    return {one for one in list_variables(library) if one.rpartition("::")[2] not in declared}


def read_sources() -> str:
    """The text of the runtime and the host layer."""
    return "\n".join(
        one.read_text(encoding="utf-8")
        for room in ("runtime", "host")
        for one in sorted((toolchain.HOME / room).glob("*"))
        if one.is_file()
    )


@pytest.mark.slow
def test_each_variable_that_can_change_belongs_to_the_run_or_to_the_process() -> None:
    variables = list_variables(toolchain.build_runtime())
    assert len(variables) > 30
    assert find_strays(toolchain.build_runtime(), read_sources()) == set()


@pytest.mark.slow
@pytest.mark.parametrize("stray", ["int stray;", "int count() { static int stray; return ++stray; }"])
def test_a_variable_of_its_own_is_found(tmp_path: Path, stray: str) -> None:
    source, library = tmp_path / "stray.cpp", tmp_path / "stray.so"
    source.write_text(f"namespace cuda_on_cpu {{ {stray} }}\n")
    subprocess.run([host_compiler.find_compiler(), "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    assert find_strays(library, read_sources())
