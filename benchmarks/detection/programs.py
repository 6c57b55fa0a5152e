"""Other people's programs on the cpu device: whole ones, and single kernels with arrays made for them.

Knows how to build them, not what is right or wrong about one.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from kfuzz.claims.language.signature import Parameter, entries_of, host_functions_of
from kfuzz.common.text.headers import sources
from kfuzz.devices import Buffer, Call, Job, Step, cache
from kfuzz.devices.cpu.compiler import Library
from kfuzz.devices.cpu.options import Flavour
from kfuzz.devices.cpu.programs.build import Through, compile_source, link, load_program
from kfuzz.devices.cpu.programs.command_line import parse
from kfuzz.oracle.numbers.elements import F16, F32, F64, I32

CONTRACT = """
#define __requires(...) do { if (!(__VA_ARGS__)) __trap(__LINE__); } while (0)
#define __assume(...) do { if (!(__VA_ARGS__)) __trap(__LINE__); } while (0)
#define __ensures(...) ((void)0)
#define __assert(...) ((void)0)
#define __global_assert(...) ((void)0)
#define __invariant(...) true
#define __global_invariant(...) true
#define __function_wide_invariant(...) ((void)0)
#define __implies(a, b) (!(a) || (b))
#define __enabled() true
#line 1 "kernel.cu"
"""
"""GPUVerify's annotations that restrict the inputs: values that violate one are not an input."""
EXCLUDES = re.compile(r"\b__(?:requires|assume)\b")
ARRAY_WORDS = 1 << 16
FEW = 7
FLOATS = {one.bytes: one for one in (F16, F32, F64)}


def has_main(path: Path, include: Iterable[Path]) -> bool:
    """Whether the file, or a header that it includes, has a main()."""
    flags = [f"-I{one.resolve()}" for one in include]
    every = sources(path, path.read_text(encoding="utf-8", errors="replace"), flags)
    return any("main" in host_functions_of(one.text) for one in every)


def program(path: Path, include: Iterable[Path], flavour: Flavour = "check", through: str = "") -> Library:
    """The program of a file, built as `kfuzz check` does it, by its text or through nvcc."""
    command = parse([str(path), *(f"-I{one.resolve()}" for one in include)])
    by = Through() if through else None
    objects = [compile_source(one, command.flags, flavour, by).object for one in command.sources]
    with cache.scratch() as folder:
        link(objects, command, folder / "program", flavour, by)
        return load_program(folder / "program", flavour)


def kernels(
    path: Path, grid: tuple[int, int, int], block: tuple[int, int, int], flags: tuple[str, ...], in_step: bool
) -> Iterator[Job]:
    """A job for every kernel and every kind of input: arrays in which threads meet, and arrays that keep them apart.

    `in_step`: they are for hardware whose warps run in step.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    for name, parameters in entries_of(text).items():
        if re.search(rf"template\s*<[^;{{}}]*>\s*(?:extern\s+\S+\s+)?__global__[^;{{}}]*\b{name}\s*\(", text):
            continue  # the file does not say of what
        for kind in ("apart", "alike", "small"):
            one = _kernel(path, text, name, parameters, grid, block, flags, kind)
            yield replace(one, warp_synchronous=in_step)


def _kernel(
    path: Path,
    text: str,
    name: str,
    parameters: tuple[Parameter, ...],
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    flags: tuple[str, ...],
    kind: str,
) -> Job:
    threads = block[0] * block[1] * block[2] * grid[0] * grid[1] * grid[2]
    said = {one[1]: int(one[2]) for one in re.finditer(r"__requires\(\s*(\w+)\s*==\s*(\d+)\s*\)", text)}
    buffers: list[Buffer] = []
    names, declared, args = list[str](), list[str](), list[str | int]()
    for number, one in enumerate(parameters):
        plain = re.findall(r"\w+", one.text)[-1]
        names.append(f"{plain}_{number}")
        if one.is_pointer:
            buffers.append(_array(names[-1], one, kind, threads))
            declared.append(f"void *{names[-1]}")
            args.append(names[-1])
        else:
            declared.append(f"int {names[-1]}")
            args.append(said.get(plain, {"apart": threads, "alike": block[0], "small": FEW}[kind]))
    call = Call(name, tuple(names), tuple(declared))
    step = Step(call, grid, block, 0, tuple(args))
    shown = f"{path.parent.name}/{name}"
    return Job(shown, path.resolve(), CONTRACT + text, flags, 256, tuple(buffers), (step,), (call,))


def _array(name: str, one: Parameter, kind: str, threads: int) -> Buffer:
    """Indices within reach: a permutation, all the same, or a few; floats of the same values."""
    count = max(ARRAY_WORDS, 4 * threads)
    whole = np.arange(count, dtype=np.int64)
    values = {"apart": whole % threads, "alike": 0 * whole, "small": whole * 7919 % 5}[kind]
    if one.is_float and one.bytes in FLOATS:
        element = FLOATS[one.bytes]
        return Buffer(name, element, (count,), values.astype(element.dtype))
    if one.bytes == 1:
        values = (values % 2).astype(np.uint8).view(np.int32)[: count // 4]
    elif one.bytes == 2:
        values = values.astype(np.int16).view(np.int32)
    elif one.bytes == 8:
        values = values.view(np.int32)
    content = values.astype(np.int32)
    return Buffer(name, I32, content.shape, content)
