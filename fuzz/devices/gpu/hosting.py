"""Host functions on a GPU: nvcc compiles the file into a library, with a shim of torch over NVIDIA's own runtime.

Knows nvcc, ctypes and the library's functions (host_side/). It runs in a worker process, whose context owns the memory.
"""

import contextlib
import ctypes
import os
import re
from _ctypes import dlclose
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kfuzz.common.text.remembering import has_lasting_variables
from kfuzz.devices import Call, ClaimError, Entry, Finding, Job, Refusal, cache, is_host, nvcc
from kfuzz.devices.gpu import nvidia
from kfuzz.devices.gpu.far import Field
from kfuzz.devices.host_compiler import run_compiler
from kfuzz.devices.memory.repeats import Returned
from kfuzz.devices.nvcc_ptx import compiler_words, included_texts
from kfuzz.devices.tensors import make_tensor
from kfuzz.oracle.numbers.elements import BY_TORCH_NUMBER
from kfuzz.oracle.numbers.plural import plural

HERE = Path(__file__).with_name("host_side")
SHIM = Path(__file__).parents[2] / "cuda_on_cpu" / "host" / "torch"
TORCH = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:torch|ATen|c10|pybind11)/", re.MULTILINE)
COMMON = (
    *("-O2", "-w", "-std=c++17", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-Xcompiler", "-fPIC"),
    *("-Xcompiler", "-fno-gnu-unique"),  # a library with such symbols is never unloaded, and keeps its static state
)
MOST_SEEN, MOST_RANK = 16, 8
EarlierCall = tuple[Job, Mapping[str, int]]
"""A call before the one that counts, and the addresses of its arrays."""


class HostRefusedError(Exception):
    """A host function did not take its arguments."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.words)
        self.refusal = refusal


class HostFault(Exception):  # noqa: N818  a kernel caused it, not an error of this program
    """A kernel that a host function launched has failed, in the runtime's words; the context is lost."""


class GuardReport(ctypes.Structure):
    """The report of the guards, laid out as the struct in memory.cu."""

    _fields_ = (
        ("is_freed", ctypes.c_int32),
        ("line", ctypes.c_int32),
        ("place", ctypes.c_int64),
        ("bytes", ctypes.c_int64),
        ("count", ctypes.c_int64),
    )


class SlotReport(ctypes.Structure):
    """An allocation in a slot of a field, laid out as the struct in memory.cu."""

    _fields_ = (("start", ctypes.c_uint64), ("bytes", ctypes.c_int64), ("line", ctypes.c_int32))


def compile_library(job: Job, architecture: str) -> Path:
    """The library of a file and its entries, from the cache if this compiler has compiled the same text before."""
    nvidia.check_architecture(architecture)
    included = tuple(included_texts(job.path, job.source, job.flags))
    architecture = nvcc.target_of(architecture, job.source, *included)
    parts = [
        nvcc.nvcc_version(nvcc.find_nvcc()),
        architecture,
        *COMMON,
        *job.flags,
        *map(repr, job.entries),
        job.path.name,
        job.source,
    ]
    texts = [
        one.read_text(encoding="utf-8") for one in sorted((*HERE.iterdir(), *SHIM.parent.rglob("*"))) if one.is_file()
    ]
    name = "host/" + cache.key(*parts, *texts, *included)
    path = cache.folder() / name
    if cache.fetch(name) is None:
        with cache.scratch() as folder:
            cache.keep(name, _link(job, architecture, folder, cache.key(*texts)))
    return path


def _link(job: Job, architecture: str, folder: Path, shim: str) -> bytes:
    text, library = folder / "kernel.cu", folder / "kernel.so"
    exports = "".join(f"{export_function(number, one)}\n" for number, one in enumerate(job.entries) if is_host(one))
    with_torch = bool(TORCH.search(job.source))
    front = "#include <kfuzz_torch/all.h>\n" if with_torch else ""
    text.write_text(f'{front}#line 1 "{job.path.name}"\n{job.source}\n#line 1 "entries"\n{exports}', encoding="utf-8")
    with ThreadPoolExecutor() as pool:
        objects = list(pool.map(lambda one: build_part(one, architecture, folder, shim), list_parts(with_torch)))
    includes = [f"-I{job.path.parent}", f"-I{SHIM / 'include'}", "-include", str(HERE / "front.h"), *job.flags]
    command = ["-shared", "-Xlinker", "-Bsymbolic", *includes, "-o", str(library), str(text), *map(str, objects)]
    words = _run_nvcc(command, architecture, folder, job.path)
    if not library.exists():
        raise ClaimError(compiler_words(job.path, job.entries, words))
    return library.read_bytes()


def list_parts(with_torch: bool) -> list[Path]:
    """The sources that are linked to every library, and to those that use torch."""
    shim = [*sorted(SHIM.glob("*.cpp")), HERE / "reach.cu"]
    return [HERE / "memory.cu", HERE / "endings.cpp", *(one for one in shim if with_torch and one.name != "reach.cpp")]


def build_part(source: Path, architecture: str, folder: Path, shim: str) -> Path:
    """A part of the shim, compiled once."""
    name = f"host/{cache.key(shim, architecture, *COMMON, nvcc.nvcc_version(nvcc.find_nvcc()), source.name)}.o"
    made = folder / f"{source.name}.o"
    content = cache.fetch(name)
    if content is None:
        language = ["-x", "cu"] if source.name != "endings.cpp" else []
        includes = [f"-I{SHIM}", f"-I{SHIM / 'include'}"]
        words = _run_nvcc(["-c", *language, *includes, "-o", str(made), str(source)], architecture, folder, source.name)
        if not made.exists():
            raise ClaimError(f"{source.name} of kfuzz does not compile: {words.strip()[:300]}")
        cache.save(name, content := made.read_bytes())
    made.write_bytes(content)
    return made


def _run_nvcc(words: list[str], architecture: str, folder: Path, what: Path | str) -> str:
    command = [nvcc.find_nvcc(), *nvcc.code_for(architecture), *COMMON, *words]
    environment = {**os.environ, "TMPDIR": str(folder)}
    done = run_compiler(command, environment, what)
    return done.stdout + done.stderr


def export_function(number: int, entry: Entry) -> str:
    """The function that calls a host function: `kfuzz_call_0` takes the addresses of its arguments' values."""
    assert isinstance(entry, Call)
    taken = ""
    for place, declared in enumerate(entry.declared):
        name = re.split(r"[\s*&]", declared)[-1]
        kind = declared.removesuffix(name)
        taken += f"{declared} = ::kfuzz_host::argument<{kind.strip()}>(kfuzz_given[{place}]); (void){name}; "
    for name, rank in entry.tensors:
        taken += make_tensor(name, rank)
    body = f"::kfuzz_torch::give_what([&] {{ return {entry}; }});" if entry.tensors else f"{entry};"
    head = f'extern "C" int kfuzz_call_{number}(void **kfuzz_given)'
    return f"{head} {{ return ::kfuzz_host::called([&] {{ {taken}{body} }}); }}"


class HostLibrary:
    """A library of host functions, loaded."""

    def __init__(self, job: Job, path: Path) -> None:
        self.job, self.path = job, path
        self.is_fresh_each_run = has_lasting_variables(job.source)
        self._load()

    def _load(self) -> None:
        self.library = ctypes.CDLL(str(self.path))
        for name in ("kfuzz_refusal", "kfuzz_synchronized", "kfuzz_pending"):
            getattr(self.library, name).restype = ctypes.c_char_p

    def close(self) -> None:
        """Unload it, and with it the values of its variables."""
        dlclose(self.library._handle)

    def run(
        self,
        addresses: Mapping[str, int],
        word: int,
        steps: int,
        field: Field | None = None,
        earlier: Iterable[EarlierCall] | None = None,
        send: Callable[[], None] | None = None,
    ) -> Returned:
        """Call its functions, fetch what they return, and check the guards of the memory that they allocated.

        `field`: what they allocate lies in its slots, as far as they take it, and writes elsewhere are findings.
        After earlier calls, if there are any, `send` fills the arrays as at first.
        """
        library = self.library
        with silence_output():
            library.kfuzz_begin(ctypes.c_uint32(word))
            if field is not None:
                left = field.left
                library.kfuzz_use_slots(ctypes.c_uint64(left.first), ctypes.c_uint64(left.pitch), left.count)
            if earlier is not None and send is not None:
                for job, places in earlier:
                    any(self.call_function(job, number, places) for number in range(len(job.steps)))
                    if library.kfuzz_synchronized():  # the GPU takes no arrays of another call then
                        break
                if not library.kfuzz_synchronized():
                    library.kfuzz_again()
                    send()
            refused = any(self.call_function(self.job, number, addresses) for number in range(steps))
            fault = library.kfuzz_synchronized()
        if fault:
            raise HostFault(fault.decode())
        refusal = Refusal(library.kfuzz_refusal().decode(errors="replace"), library.kfuzz_refusal_line() or None)
        pending = library.kfuzz_pending()
        arrays, findings = ({}, ()) if refused else self._fetch_returned()
        if line := library.kfuzz_changed_earlier():
            message = "what an earlier call has returned is changed by the next: they lie in the same memory"
            findings = (*findings, Finding("stateful", message, line=line))
        if field is not None:
            findings = (*findings, *self._find_far_writes(field))
        seen = (GuardReport * MOST_SEEN)()
        for raw in seen[: library.kfuzz_end(seen, MOST_SEEN)]:
            findings = (*findings, describe_report(raw))
        if pending and not refused:
            message = f"a launch is refused: {pending.decode()}; the host does not check the error"
            findings = (*findings, Finding("launch-refused", message))
        if self.is_fresh_each_run:
            self.close()
            self._load()
        if refused:
            raise HostRefusedError(refusal)
        return Returned(arrays, findings)

    def _find_far_writes(self, field: Field) -> list[Finding]:
        """The writes outside all arrays of a field, with those that the functions allocated in it."""
        blocks = (SlotReport * field.left.count)()
        for one in blocks[: self.library.kfuzz_slots(blocks, len(blocks))]:
            field.add(f"the {plural(one.bytes, 'byte')} that line {one.line} allocates", "", one.start, one.bytes)
        return field.find_writes()

    def call_function(self, job: Job, number: int, addresses: Mapping[str, int]) -> bool:
        """Call one of its functions on these arrays; whether it refused its arguments."""
        step = job.steps[number]
        values = [ctypes.c_int64(addresses[one] if isinstance(one, str) else one) for one in step.args]
        given = (ctypes.c_void_p * max(1, len(values)))(*(ctypes.addressof(one) for one in values))
        return bool(getattr(self.library, f"kfuzz_call_{self.job.entries.index(step.entry)}")(given))

    def _fetch_returned(self) -> tuple[dict[str, NDArray[np.generic]], tuple[Finding, ...]]:
        """The arrays that were returned; one whose type or size differs from the claim's is a finding."""
        wanted = [buffer for buffer in self.job.buffers if buffer.is_returned]
        given = list(self._list_returned())
        if len(given) != len(wanted):
            names = ", ".join(one.name for one in wanted) or "nothing"
            raise ClaimError(f"{self.job.path}: it returns {len(given)} tensors; the claim wants {names}")
        arrays: dict[str, NDArray[np.generic]] = {}
        for place, (buffer, (kind, sizes)) in enumerate(zip(wanted, given, strict=True)):
            element = BY_TORCH_NUMBER.get(kind, f"type {kind} of torch")
            if element != buffer.element or int(np.prod(sizes)) != int(np.prod(buffer.answer)):
                shape, claimed = (f"[{', '.join(map(str, one))}]" for one in (sizes, buffer.answer))
                message = f"{buffer.name} is returned as {element}{shape}, not {buffer.element}{claimed}"
                return {}, (Finding("wrong-shape", message, array=buffer.name),)
            made = np.empty(buffer.answer, buffer.element.dtype)
            self.library.kfuzz_fetch(place, made.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(made.nbytes))
            arrays[buffer.name] = made
        return arrays, ()

    def _list_returned(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        kind, sizes = ctypes.c_int(), (ctypes.c_int64 * MOST_RANK)()
        place = 0
        while (rank := self.library.kfuzz_given(place, ctypes.byref(kind), sizes)) >= 0:
            yield kind.value, tuple(sizes[:rank])
            place += 1


def describe_report(raw: GuardReport) -> Finding:
    """A finding about a write beside an array, or into one that was freed."""
    array = f"the {plural(raw.bytes, 'byte')} that line {raw.line} allocates"
    if raw.is_freed:
        return Finding("use-after-free", f"byte {raw.place} of {array} is written after they are freed", line=raw.line)
    where = f"byte {raw.place}" if raw.place >= 0 else f"{plural(-raw.place, 'byte')} before it"
    message = f"write beside {array}: {where}, {plural(raw.count, 'byte')} in all"
    return Finding("out-of-bounds", message, line=raw.line)


@contextlib.contextmanager
def silence_output() -> Iterator[None]:
    """Discard what a host function prints."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    ours = os.dup(1)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(ours, 1)
        os.dup2(kept, 2)
        for one in (ours, kept, nowhere):
            os.close(one)
