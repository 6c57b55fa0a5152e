"""Variables of the host that g++ needs in other words: those of each thread, and names that its own headers have."""

import re
from collections.abc import Iterator

from kfuzz.devices.cpu.launches import TextEdit
from kfuzz.devices.cpu.reach import find_functions

OTHER_THREADS = re.compile(r"\bstd\s*::\s*(?:j?thread|async)\b|\bpthread_create\b|#\s*pragma\s+omp\b|\btbb\s*::")
_OF_EACH_THREAD = re.compile(r"\b(?:thread_local|__thread)\b")
_IS_STATIC = re.compile(r"\b(?:static|extern|inline)\b")
_KNOWN_NAMES = re.compile(
    r"\btypedef\s+(?:unsigned\s+|signed\s+)?long\s+long(?:\s+int)?\s+u?int64_t\s*;|"
    r"\btypedef\s+struct\s+__align__\(\s*64\s*\)\s*\{\s*u?int64_t\s+opaque\[16\]\s*;\s*\}\s*CUtensorMap\s*;"
)


def write_as_static(code: str) -> Iterator[TextEdit]:
    """Edits after which a variable of each thread is one of the program, which has one thread.

    Thread-local memory is where the shared memory of blocks lies.
    """
    bodies = [(code.find("{", one.start, one.end), one.end) for one in find_functions(code)]
    for match in _OF_EACH_THREAD.finditer(code):
        at = match.start()
        first, last = max(code.rfind(end, 0, at) for end in ";{}") + 1, code.find(";", at)
        is_local = any(0 <= opened < at < end for opened, end in bodies)
        words = "static" if is_local and not _IS_STATIC.search(code, first, last) else ""
        yield at, match.end(), words.ljust(len(match[0]))


def leave_out_known_names(code: str) -> Iterator[TextEdit]:
    """Edits that leave out types which nvcc does not know and g++'s headers do: code for NVRTC declares them."""
    for match in _KNOWN_NAMES.finditer(code):
        yield *match.span(), re.sub(r"[^\n]", " ", match[0])
