"""What an exception of a file says: in which line and module it was raised, and whether this machine lacks a GPU.

The module that raised decides it: torch.cuda and Triton work on a GPU, or compile for one, and what they lack is never
the callable's fault. Knows tracebacks; it does not know what was called.
"""

import dis
import re
import sys
import traceback
from dataclasses import dataclass
from types import ModuleType

from kfuzz.devices.python.installed import installed_release
from kfuzz.devices.python.libraries import libraries
from kfuzz.devices.python.library import PythonLibrary
from kfuzz.devices.worker.helping import is_boxed

ASKS = re.compile(r"\bcuda\b|nvidia|not implemented for", re.IGNORECASE)
"""torch's C++ has no frame. These are its words where it needs a GPU: a backend CUDA, an operation that CPUs lack."""
MOST_CAUSES = 32
"""Exceptions of one chain that are looked at."""
COLOUR = re.compile(r"\x1b\[[\d;]*m")
"""In the words of a compiler that writes to a terminal."""
CANNOT_IMPORT = re.compile(r"cannot import name '(\w+)' from ")
RAISE = dis.opmap["RAISE_VARARGS"]


@dataclass(frozen=True)
class Lack:
    """Why a file's process could not do something: words, and whether it may do it with another input.

    `is_of_compiler`: the kernel does not compile, which no GPU helps.
    """

    words: str
    is_of_input: bool = False
    is_of_compiler: bool = False


def find_lack(error: BaseException) -> Lack | None:
    """What this process, without a GPU, lacks if that is why it raised an exception; None if it lacks nothing."""
    raised = raising_module(error)
    for library in libraries().values():
        if refuses_launch(error, library):
            return Lack(f"{library.name} refuses the launch: {words_of(error)}", True)
        if name := name_it_lacks(error, library):
            return Lack(f"{library.name} {installed_release(library)} has no {name}", True, True)
        if is_raised_in_compiler(error, library) and not is_in(raised, library.of_gpu):
            return Lack(f"{library.name} does not compile this: {compiler_words(error)}", True, True)
        if is_in(raised, library.of_gpu):
            if any(one.__name__ in library.compile_errors for one in type(error).__mro__):
                return Lack(f"{library.name} does not compile this: {compiler_words(error)}", True, True)
            words = f"without a GPU {library.name} does not run this: {innermost_words(error)}"
            return Lack(words, library.run_without_gpu is not None)  # it compiles for one input, and may refuse another
    is_of_torch = isinstance(error, RuntimeError | AssertionError) and "torch" in sys.modules
    if is_of_torch and ASKS.search(error_text(error)) and not is_raised_by_statement(error):
        return Lack(f"without a GPU torch says: {words_of(error)}")
    return None


def name_it_lacks(error: BaseException, library: PythonLibrary) -> str:
    """The name that a file asks of a library of kernels, and that its installed release does not have: the file is for
    another release. Empty if it is none.
    """
    if isinstance(error, ModuleNotFoundError):
        name = error.name or ""
    elif isinstance(error, ImportError):
        asked = CANNOT_IMPORT.match(error_text(error))  # Python 3.12 has it in the exception itself
        name = f"{error.name}.{asked[1]}" if asked and error.name else ""
    elif isinstance(error, AttributeError) and isinstance(error.obj, ModuleType | type):
        owner = error.obj
        of = owner.__name__ if isinstance(owner, ModuleType) else f"{owner.__module__}.{owner.__qualname__}"
        name = f"{of}.{error.name}"
    else:
        return ""
    is_of_library = is_in(name, (*library.of_gpu, *library.of_releases))
    return name if is_of_library and name.partition(".")[0] in sys.modules else ""


def refuses_launch(error: BaseException, library: PythonLibrary) -> bool:
    """Whether a library says that no GPU takes a launch, such as one of no blocks."""
    return bool(library.launch_error) and library.launch_error in error_text(error)


def is_raised_in_compiler(error: BaseException, library: PythonLibrary) -> bool:
    """Whether an exception came through a function of a library that compiles."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    names = (f"{frame.f_globals.get('__name__', '')}.{frame.f_code.co_name}" for frame in frames)
    return not set(library.compilers).isdisjoint(names)


def module_half_imported(error: BaseException) -> str:
    """The module of a library whose own text an exception came through, as it was imported; empty if there is none.

    No call is at fault for that. What such a module has registered stays, so a second try fails in another way.
    """
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_code.co_name == "<module>")
    names = (str(frame.f_globals.get("__name__", "")) for frame in frames)
    packages = tuple(one for library in libraries().values() for one in library.packages)
    return next((name for name in names if is_in(name, packages)), "")


def is_of_sandbox(error: BaseException) -> bool:
    """Whether an exception comes of a call of the system that the sandbox of this process refuses."""
    every: list[BaseException | None] = [error]
    for one in every:
        if one is not None and len(every) < MOST_CAUSES:
            every += [one.__cause__, one.__context__]
    return is_boxed() and any(isinstance(one, PermissionError) for one in every)


def does_ask_for_gpu(words: str) -> bool:
    """Whether an error's words are those of torch where it needs a GPU."""
    return ASKS.search(words) is not None


def raising_module(error: BaseException) -> str:
    """The module that raised an exception; of C++ it is the module that called it."""
    names = [str(frame.f_globals.get("__name__", "")) for frame, _ in traceback.walk_tb(error.__traceback__)]
    return names[-1] if names else ""


def is_in(module: str, packages: tuple[str, ...]) -> bool:
    """Whether a module is one of these packages, or lies in one of them."""
    return f"{module}.".startswith(tuple(f"{one}." for one in packages))


def is_raised_by_statement(error: BaseException) -> bool:
    """Whether Python raised it by `raise` or `assert`, and not a function of C++."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None:
        return False
    return isinstance(error, AssertionError) or last.tb_frame.f_code.co_code[last.tb_lasti] == RAISE


def innermost_words(error: BaseException) -> str:
    """The first exception of a chain: Triton wraps what a kernel raises, once for each function."""
    while error.__cause__ is not None:
        error = error.__cause__
    return words_of(error)


def compiler_words(error: BaseException) -> str:
    """What a compiler says of a kernel, without the lines of the kernel that it quotes first, down to a caret."""
    while error.__cause__ is not None:
        error = error.__cause__
    quoted, caret, said = error_text(error).rpartition("^\n")
    return " ".join(said.split())[:200] if caret and said.strip() and "\n" in quoted else words_of(error)


def line_in_file(error: BaseException, file: str) -> int | None:
    """The last line of a file that an error, or one that it wraps, came through."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return lines[-1] if lines else None


def words_of(error: BaseException) -> str:
    """An error in one line."""
    words = " ".join(COLOUR.sub("", error_text(error)).split())[:200]
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def error_text(error: BaseException) -> str:
    """What an error says; nothing if its own `__str__` fails."""
    try:
        return str(error)
    except Exception:  # it is the callable's code, which raises what it likes
        return ""
