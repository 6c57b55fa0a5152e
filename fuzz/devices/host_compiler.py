"""The C++ compiler of this machine: finds it, identifies it, and keeps its output in the cache."""

import functools
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from kfuzz.common.errors import DeviceError
from kfuzz.devices import cache

INSTALL = "install a C++ compiler: apt-get install g++ (or dnf install gcc-c++), or set CXX to one"


def find_compiler() -> str:
    """The host's C++ compiler; if there is none, raise a DeviceError that says how to install one.

    It prefers g++ to clang: clang does not check alignment when a whole struct (float4) is copied, and loses the lines
    of atomics.
    """
    chosen = os.environ.get("CXX")
    for name in [chosen] if chosen else ["g++", "c++", "clang++"]:
        if path := shutil.which(name):
            return path
    missing = f"CXX={chosen} is no program" if chosen else "no g++ on PATH"
    raise DeviceError(f"{missing}: {INSTALL}")


@functools.cache
def identity(compiler: str) -> str:
    """The compiler's own name and version, and the machine for which it compiles."""
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    target = subprocess.run([compiler, "-dumpmachine"], capture_output=True, text=True, check=False)
    if version.returncode or target.returncode:
        raise DeviceError(f"{compiler} does not run: {version.stderr.strip() or target.stderr.strip()}; {INSTALL}")
    return version.stdout.splitlines()[0] + " for " + target.stdout.strip()


def build_library(source: Path) -> Path:
    """The shared library built from a single C++ file of kfuzz; it needs nothing from the runtime."""
    compiler = find_compiler()
    words = [compiler, "-std=c++17", "-O2", "-Wall", "-fPIC", "-shared", str(source), "-ldl"]

    def build(made: Path) -> None:
        ran = subprocess.run([*words, "-o", str(made)], capture_output=True, text=True, check=False)
        if ran.returncode:
            raise DeviceError(f"{identity(compiler)} cannot compile {source.name}: {ran.stderr.strip()}")

    return build_once(f"cpu/{source.stem}-{cache.key(identity(compiler), source.read_bytes())[:32]}.so", build)


def build_once(name: str, build: Callable[[Path], None]) -> Path:
    """The path of a cached file, which is built again when it is missing or damaged."""
    path = cache.folder() / name
    if cache.fetch(name) is not None:
        return path
    with cache.hold(name):
        if cache.fetch(name) is None:
            with cache.scratch() as folder:
                made = folder / "made"
                build(made)
                cache.keep(name, made.read_bytes())
    return path


def environment(folder: Path) -> dict[str, str]:
    """The environment in which a compiler writes English messages and keeps its scratch files in this folder."""
    return {**os.environ, "LC_ALL": "C", "TMPDIR": str(folder)}
