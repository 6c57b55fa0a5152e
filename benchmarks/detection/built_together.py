"""Extensions of several solutions as one: nvcc reads torch's headers for half a minute, and a solution for a second.

    python -m benchmarks.detection.built_together LIST.json KEY...

Writes one extension into the working folder for the solutions that call load_inline once when they are imported. Each
text is in a namespace of its own, after all includes, and its macros end with it. `stand_in` gives a solution its part.
"""

import argparse
import importlib.util
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from inspect import signature
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from benchmarks.detection.solutions import Solution, read_list

NAME = "together"
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
OLD_TYPE = re.compile(r"\bAT_DISPATCH_\w+\(\s*[\w.]+\.type\(\)")
"""It compiles with old versions of torch alone."""
USED = list[str]()
"""The solutions of this process that got their part of an extension."""


def main() -> None:
    """Build an extension of these solutions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("list", type=Path)
    parser.add_argument("keys", nargs="+")
    options = parser.parse_args()
    known = {one.key: one for one in read_list(options.list)}
    from torch.utils.cpp_extension import load_inline  # noqa: PLC0415  only with torch

    texts = {key: call for key in options.keys if (call := recorded_call(known[key])) is not None}
    flags = sorted({one for call in texts.values() for one in call["flags"]})
    bound = "".join(
        f'm.def("{space_of(key)}_{name}", torch::wrap_pybind_function({space_of(key)}::{name}));\n'
        for key, call in texts.items()
        for name in call["functions"]
    )
    load_inline(
        NAME,
        cpp_sources=in_spaces(texts, "cpp") + f"\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{\n{bound}}}\n",
        cuda_sources=in_spaces(texts, "cuda"),
        extra_cuda_cflags=flags,
        build_directory=str(Path.cwd()),
    )
    Path("together.json").write_text(json.dumps({key: call["functions"] for key, call in texts.items()}))


def recorded_call(solution: Solution) -> dict[str, Any] | None:
    """The texts, functions and flags of a solution's one call of load_inline; None if it has another form."""
    from torch.utils.cpp_extension import load_inline  # noqa: PLC0415  only with torch

    calls = list[dict[str, Any]]()

    def record(*args: object, **named: object) -> SimpleNamespace:
        given = signature(load_inline).bind(*args, **named).arguments
        cpp, cuda, functions, flags = (
            list_of(given.get(name)) for name in ("cpp_sources", "cuda_sources", "functions", "extra_cuda_cflags")
        )
        fast = ["--use_fast_math"] if any("use_fast_math" in one for one in flags) else []
        calls.append({"cpp": "\n".join(cpp), "cuda": "\n".join(cuda), "functions": functions, "flags": fast})
        return SimpleNamespace()

    with replaced(record), suppress(BaseException):
        run_file(solution.solution, "answer")
    if len(calls) != 1 or not calls[0]["functions"]:
        return None
    text = calls[0]["cpp"] + calls[0]["cuda"]
    has_own_module = "PYBIND11_MODULE" in text
    needs_include = "C10_CUDA" in text and "/cuda/" not in "".join(INCLUDE.findall(text))  # another has it, perhaps
    has_old_type = bool(OLD_TYPE.search(text))
    return None if has_own_module or needs_include or has_old_type else calls[0]


def list_of(given: Any) -> list[str]:  # noqa: ANN401  a text, some or None
    return [given] if isinstance(given, str) else list(given or ())


def space_of(key: str) -> str:
    return f"s{key.rpartition('-')[2]}"


def in_spaces(texts: Mapping[str, Mapping[str, Any]], language: str) -> str:
    """The texts, each in its namespace, after the includes of all."""
    whole = {key: call[language] for key, call in texts.items()}
    includes = dict.fromkeys(line.strip() for text in whole.values() for line in INCLUDE.findall(text))
    parts = [*includes]
    for key, text in whole.items():
        ends = "".join(f"\n#undef {one}" for one in dict.fromkeys(MACRO.findall(text)))
        parts.append(f"namespace {space_of(key)} {{\n{INCLUDE.sub('', text)}\n}}{ends}")
    return "\n".join(parts)


@contextmanager
def stand_in(key: str, folder: Path | None) -> Iterator[None]:
    """Let load_inline return a solution's part of the extension in a folder, if it has one."""
    functions = json.loads((folder / "together.json").read_text()).get(key) if folder else None
    if folder is None or functions is None:
        yield
        return
    import torch  # noqa: F401, PLC0415  it loads the libraries that the extension needs

    spec = importlib.util.spec_from_file_location(NAME, folder / f"{NAME}.so")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    parts = {name: getattr(module, f"{space_of(key)}_{name}") for name in functions}

    def give(*_: object, **__: object) -> SimpleNamespace:
        USED.append(key)
        return SimpleNamespace(**parts)

    with replaced(give):
        yield


@contextmanager
def replaced(function: Any) -> Iterator[None]:  # noqa: ANN401  one that takes what load_inline takes
    """Have another function for torch's load_inline."""
    from torch.utils import cpp_extension  # noqa: PLC0415  only with torch

    own = cpp_extension.load_inline
    cpp_extension.load_inline = function
    try:
        yield
    finally:
        cpp_extension.load_inline = own


def run_file(path: Path, name: str) -> ModuleType:
    """A file as a module of this name."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def batches(every: Sequence[Solution], size: int) -> list[list[Solution]]:
    """Groups of solutions to build as one: CUDA with the same flags together, Triton one by one."""
    groups: dict[bool, list[Solution]] = {}
    parts = []
    for one in every:
        if one.language != "cuda":
            parts.append([one])
            continue
        group = groups.setdefault(b"use_fast_math" in one.solution.read_bytes(), [])
        if not group:
            parts.append(group)
        group.append(one)
        if len(group) == size:
            groups.pop(b"use_fast_math" in one.solution.read_bytes())
    return parts


if __name__ == "__main__":
    main()
