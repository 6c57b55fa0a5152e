"""torch's load_inline and load without a GPU: modules whose functions the cpu device runs, on torch's own tensors."""

import functools
import linecache
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

from kfuzz.common.text.cuda_text import blank_non_code
from kfuzz.devices import ClaimError, UnsupportedError
from kfuzz.devices.python.built_texts import build_extension
from kfuzz.devices.python.extensions import CALLS, Extension, unfilled
from kfuzz.devices.python.handing import C_TYPES, Argument, Tensor
from kfuzz.devices.python.torch.elements import TYPES, as_array, as_tensor
from kfuzz.oracle.numbers.elements import BY_LIBRARY

OLD_STANDARD = re.compile(r"-{1,2}std=(?:c|gnu)\+\+(?:98|03|0x|11|1y|14)")
OWN_INCLUDE = re.compile(r"^\s*#\s*include\s*\"", re.MULTILINE)
ENDINGS = (".cu", ".cpp", ".cc", ".cxx")


class Address(int):
    """A tensor's address, which a kernel of the cpu device cannot use."""


class BuiltModule(ModuleType):
    """What load_inline returns: a module of functions."""

    def __init__(self, name: str, extension: Extension, file: str) -> None:
        super().__init__(name)
        self.__file__ = file
        for one in extension.functions:
            setattr(self, one, functools.partial(call, extension, one))


def load_inline(
    path: Path,
    name: str,
    cpp_sources: str | Sequence[str] = (),
    cuda_sources: str | Sequence[str] | None = None,
    functions: str | Sequence[str] | Mapping[str, str] | None = None,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    **_: object,
) -> BuiltModule:
    """A module of the functions that these texts have, each compiled when it is called.

    RuntimeError, as in torch, if C++ cannot bind one of them; the file may have another way.
    """
    texts = [*as_list(cpp_sources), *as_list(cuda_sources)]
    wanted = {one: one for one in as_list(list(functions) if isinstance(functions, Mapping) else functions)}
    check_declared(name, list(wanted), "\n".join(as_list(cpp_sources)))
    file = calling_file(path)
    options = [*(extra_cflags or ()), *(extra_cuda_cflags or ())]
    check_standard(name, options)
    text = "".join(linecache.getlines(file))
    where = path if Path(file).resolve() == path.resolve() else Path(file)
    folders = as_list(extra_include_paths)
    return BuiltModule(
        name, build_extension(where, text, texts, options, wanted, is_inline=True, folders=folders), file
    )


def check_declared(extension: str, functions: Sequence[str], text: str) -> None:
    """Raise torch's error if a function is not declared in the C++ texts, beside which torch writes what binds it."""
    if OWN_INCLUDE.search(text):
        return
    code = blank_non_code(text)
    for name in functions:
        if not re.search(rf"\b{re.escape(name)}\b", code):
            raise RuntimeError(f"Error building extension '{extension}': {name} is not declared in cpp_sources")


def check_standard(extension: str, options: Sequence[str]) -> None:
    """Raise torch's error if its headers are to be compiled as an older C++."""
    if old := next((one for one in options if OLD_STANDARD.fullmatch(one)), None):
        words = f"C++17 or later compatible compiler is required to use PyTorch ({old})"
        raise RuntimeError(f"Error building extension '{extension}': {words}")


def load(path: Path, name: str, sources: str | Sequence[str], *_: object, **named: Any) -> BuiltModule:  # noqa: ANN401
    """A module built from files: the first CUDA file keeps its lines, and the others follow it."""
    options = [*(named.get("extra_cflags") or ()), *(named.get("extra_cuda_cflags") or ())]
    check_standard(name, options)
    files = [Path(one) for one in as_list(sources) if Path(one).suffix in ENDINGS]
    files.sort(key=lambda one: one.suffix != ".cu")
    if not files:
        raise UnsupportedError(f"{path}: load() of no .cu or .cpp file")
    texts = [one.read_text(encoding="utf-8") for one in files]
    whole, folders = "\n".join(texts), as_list(named.get("extra_include_paths"))
    made = build_extension(files[0], whole, [whole], options, {}, is_inline=False, folders=folders)
    return BuiltModule(name, made, str(files[0]))


def as_list(given: str | Sequence[str] | None) -> list[str]:
    return [given] if isinstance(given, str) else list(given or ())


def calling_file(path: Path) -> str:
    """The file of the caller's caller, if its text is known."""
    frame = sys._getframe(2)
    file = frame.f_code.co_filename
    return file if linecache.getlines(file) else str(path.resolve())


def call(extension: Extension, name: str, *args: object, **named: object) -> object:
    """Call a function of an extension with torch's tensors."""
    with torch._C.DisableTorchFunction():
        try:
            given = [as_argument(one) for one in args]
            by_name = {key: as_argument(one) for key, one in named.items()}
            returned = extension.call(name, given, by_name, CALLS)
        except ClaimError as error:
            CALLS.trouble = error
            raise
        found = [tensor_of(dtype, array) for dtype, array in returned.arrays]
    if returned.how == "nothing":
        return None
    if returned.how == "one":
        return found[0] if found else None
    return tuple(found) if returned.how == "tuple" else found


def as_argument(value: object) -> Argument:
    """An argument as the cpu device takes it; UnsupportedError for any other."""
    if isinstance(value, torch.Tensor):
        return as_tensor_argument(value)
    if isinstance(value, list | tuple):
        return [as_argument(one) for one in value]
    if value is None or (isinstance(value, bool | int | float | str) and not isinstance(value, Address)):
        return value
    if isinstance(value, np.integer | np.floating):
        return value.item()
    what = "an address" if isinstance(value, Address) else f"a {type(value).__name__}"
    raise UnsupportedError(f"{what} is handed to a function of CUDA, which the cpu device does not take")


def as_tensor_argument(given: Any) -> Tensor:  # noqa: ANN401  a tensor
    """A tensor's memory itself, from its first element to its last."""
    dtype = str(given.dtype).removeprefix("torch.")
    if dtype not in C_TYPES or given.layout != torch.strided:
        raise UnsupportedError(
            f"a tensor of {dtype} is handed to a function of CUDA, which the cpu device does not take"
        )
    is_dense = given.is_contiguous()
    if CALLS.only_launches:
        span = 1 + sum((size - 1) * step for size, step in zip(given.shape, given.stride(), strict=True))
        element, _ = C_TYPES[dtype]
        if given.element_size() < element.bytes:
            raise UnsupportedError(f"a tensor of {dtype} without content is handed to a function of CUDA")
        held = unfilled(tuple(given.shape) if is_dense else (span,), element.dtype)
        return Tensor(dtype, held, tuple(given.shape), tuple(given.stride()), is_dense)
    plain = given.detach()
    if not is_dense:
        span = 1 + sum((size - 1) * step for size, step in zip(plain.shape, plain.stride(), strict=True))
        plain = plain.as_strided((span,), (1,))
    return Tensor(dtype, as_array(plain), tuple(given.shape), tuple(given.stride()), is_dense)


def tensor_of(dtype: str, array: Any) -> Any:  # noqa: ANN401  an array, a tensor
    """A returned array as a tensor of its own."""
    if CALLS.only_launches:
        return torch.empty(array.shape, dtype=TYPES[BY_LIBRARY[dtype]])
    own = np.array(array)
    return as_tensor(own, BY_LIBRARY[dtype])
