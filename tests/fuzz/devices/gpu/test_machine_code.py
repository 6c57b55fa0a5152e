"""Compiling for a GPU on a machine without one: entries, errors, the cache."""

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from our_kernels import every_kernel
from paths import DATA
from seldom import ONE_A_FAMILY
from with_nvcc import missing_nvcc, needs_nvcc

from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.common.time_limits import TimeLimits, limited
from kfuzz.devices import ClaimError, DeviceError, Entry, cache, nvcc, nvcc_ptx
from kfuzz.devices.gpu import hosting, machine_code
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

pytestmark = pytest.mark.slow

KERNEL = Path("kernels/mine.cu")
EXTENSIONS = DATA / "extensions"
TEMPLATE = """
template <int N, typename T> __global__ void scale(T *y, const T *x, int n) { if (n < N) y[0] = N * x[0]; }
namespace inner { __global__ void kernel(double *y, long long n, short s) { y[0] = n + s; } }
extern "C" __global__ void plain(float *y, int n) { y[0] = n; }
__device__ void helper() {}
"""


@pytest.fixture
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path))
    return tmp_path


def compiled(source: str, *entries: str, architecture: str = "sm_90", path: Path = KERNEL) -> machine_code.MachineCode:
    return machine_code.compile_kernel(path, source, (), entries, architecture)


@needs_nvcc
def test_an_nvcc_that_sleeps_is_ended(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sleeps = 'case "$*" in *-ptx*) sleep 1000;; esac'
    (own_cache / "nvcc").write_text(f'#!/bin/sh\n{sleeps}\nexec {nvcc.find_nvcc()} "$@"\n')
    (own_cache / "nvcc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{own_cache}:{os.environ['PATH']}")
    reported = r"mine\.cu: not compiled within 0\.5 s \(limit of one compilation: --compile-time\)"
    with limited(TimeLimits(compile=0.5)), pytest.raises(ClaimError, match=reported):
        compiled(TEMPLATE, "plain")


@needs_nvcc
@pytest.mark.usefixtures("own_cache")
def test_a_ptx_module_becomes_machine_code_of_its_own_kernels() -> None:
    kernel = load(DATA / "ptx" / "row_sum.ptx")
    text = kernel.source
    made = machine_code.compile_kernel(kernel.path, text, (), kernel.entries, "sm_90", is_ptx=True)
    assert made.entries["row_sum"].parameters == (8, 8, 4)
    wrong = text.replace("bar.sync 0;", "bar.sink 0;")
    with pytest.raises(ClaimError, match=r"row_sum\.ptx: nvcc: ptxas .* Unknown modifier '\.sink'"):
        machine_code.compile_kernel(kernel.path, wrong, (), kernel.entries, "sm_90", is_ptx=True)


@needs_nvcc
@pytest.mark.usefixtures("own_cache")
def test_an_entry_is_found_by_the_words_of_the_claim() -> None:
    found = compiled(TEMPLATE, "scale<4, float>", "scale<2+2,double>", "inner::kernel", "plain").entries
    assert found["scale<4, float>"].symbol == "_Z5scaleILi4EfEvPT0_PKS0_i"
    assert found["scale<2+2,double>"].symbol == "_Z5scaleILi4EdEvPT0_PKS0_i"
    assert found["inner::kernel"].symbol == "_ZN5inner6kernelEPdxs"
    assert found["plain"].symbol == "plain"


def codes(image: bytes) -> dict[str, bytes]:
    """The machine code of each function of a cubin."""
    return {
        one.name.removeprefix(".text."): one.data
        for one in machine_code.read_sections(image)
        if one.name.startswith(".text.")
    }


@needs_nvcc
@pytest.mark.soak
@pytest.mark.usefixtures("own_cache")
def test_the_code_of_an_entry_is_that_of_the_users_own_build(tmp_path: Path) -> None:
    """An assembler that sees the address of this kernel taken makes a seventh more of it."""
    kernel = load(KERNELS / "softmax" / "block_in_registers.cu")
    entries = tuple(f"softmax_block_in_registers<float, {size}>" for size in ("128, 2", "512, 8"))
    ours = machine_code.compile_kernel(kernel.path, kernel.source, (), entries, "sm_90")
    built = {}
    for before in ("static", "__device__"):
        pointers = "".join(f"{before} void *p{place} = (void *)({entry});\n" for place, entry in enumerate(entries))
        (tmp_path / "own.cu").write_text(f'#include "{kernel.path}"\n{pointers}', encoding="utf-8")
        command = [
            nvcc.find_nvcc(),
            "-cubin",
            "-arch=sm_90",
            "-o",
            str(tmp_path / "own.cubin"),
            str(tmp_path / "own.cu"),
        ]
        subprocess.run(command, check=True)
        built[before] = codes((tmp_path / "own.cubin").read_bytes())
    for entry in entries:
        symbol = ours.entries[entry].symbol
        assert codes(ours.image)[symbol] == built["static"][symbol] != built["__device__"][symbol]


@needs_nvcc
@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("architecture", ["sm_75", pytest.param("sm_90", marks=pytest.mark.soak), "newest"])
def test_the_sizes_of_parameters_are_read_from_the_code(architecture: str) -> None:
    architecture = nvcc.architectures(nvcc.find_nvcc())[-1] if architecture == "newest" else architecture
    found = compiled(TEMPLATE, "scale<4, float>", "inner::kernel", "plain", architecture=architecture).entries
    assert [entry.parameters for entry in found.values()] == [(8, 8, 4), (8, 8, 2), (8, 4)]


@needs_nvcc
@pytest.mark.usefixtures("own_cache")
def test_device_variables_are_seen_and_our_own_pointers_are_not() -> None:
    assert not compiled(TEMPLATE, "plain").has_variables
    assert compiled(TEMPLATE + "__device__ int kept = 1;\n", "plain").has_variables
    assert compiled(TEMPLATE + "__device__ int kept;\n", "plain").has_variables


@needs_nvcc
@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize(
    ("source", "entry", "message"),
    [
        ("\n\nint i = nowhere;\n", "k", f'{KERNEL}:3: nvcc: identifier "nowhere" is undefined'),
        ('\n#include "nowhere.h"\n', "k", f"{KERNEL}:2: nvcc: nowhere.h: No such file or directory"),
        (TEMPLATE, "skale", f"{KERNEL}: entry = 'skale': nvcc: identifier \"skale\" is undefined"),
        (TEMPLATE, "helper", f"{KERNEL}: entry = 'helper' is no kernel: it is not declared __global__"),
    ],
)
def test_an_error_shows_the_compilers_words_with_the_line_of_the_kernel(source: str, entry: str, message: str) -> None:
    with pytest.raises(ClaimError) as caught:
        compiled(source, entry)
    assert str(caught.value) == message


@needs_nvcc
@pytest.mark.usefixtures("own_cache")
def test_an_unknown_architecture_is_an_error_of_the_machine() -> None:
    with pytest.raises(DeviceError, match=r"writes no code for this GPU's sm_35, only for sm_\d+"):
        compiled(TEMPLATE, "plain", architecture="sm_35")


@needs_nvcc
def test_a_cubin_is_compiled_once_and_again_when_anything_changes(own_cache: Path, tmp_path: Path) -> None:
    def files() -> int:
        return len(list((own_cache / "cubin").iterdir()))

    compiled(TEMPLATE, "plain")
    assert compiled(TEMPLATE, "plain") == compiled(TEMPLATE, "plain")
    assert files() == 1
    compiled(TEMPLATE + "\n", "plain")
    compiled(TEMPLATE, "plain", "inner::kernel")
    compiled(TEMPLATE, "plain", architecture="sm_80")
    machine_code.compile_kernel(KERNEL, TEMPLATE, ("-use_fast_math",), ("plain",), "sm_90")
    assert files() == 5


@pytest.mark.soak
@needs_nvcc
def test_a_changed_include_is_compiled_again(own_cache: Path, tmp_path: Path) -> None:
    path, header = tmp_path / "kernel.cu", tmp_path / "part.cuh"
    source = '#include "part.cuh"\nextern "C" __global__ void k(float *y) { y[0] = VALUE; }\n'
    for value in ("1", "2"):
        header.write_text(f"#define VALUE {value}\n", encoding="utf-8")
        compiled(source, "k", path=path)
    assert len(list((own_cache / "cubin").iterdir())) == 2


def test_what_is_included_is_found_beside_the_kernel_and_in_the_folders_of_its_flags(tmp_path: Path) -> None:
    """By name and text, for either may change: a cubin that was compiled from other headers must not be taken."""
    near, far = tmp_path / "near", tmp_path / "far"
    for folder in (near, far):
        folder.mkdir()
    (near / "a.cuh").write_text('#include <b.cuh>\n#include "a.cuh"\n', encoding="utf-8")
    (far / "b.cuh").write_text('# include "c.cuh"\n', encoding="utf-8")
    (far / "c.cuh").write_text("int c;\n", encoding="utf-8")
    source = '#include "a.cuh"\n#include <cstdio>\n#include "nowhere.cuh"\n'
    found = list(nvcc_ptx.included_texts(near / "kernel.cu", source, (f"-I{far}", "-DX")))
    assert found[::2] == [str(near / "a.cuh"), str(far / "b.cuh"), str(far / "c.cuh")]
    assert found[1::2] == [Path(name).read_text(encoding="utf-8") for name in found[::2]]
    assert list(nvcc_ptx.included_texts(near / "kernel.cu", "#include <b.cuh>", ())) == []


@pytest.mark.soak
@needs_nvcc
def test_a_damaged_cubin_is_built_again(own_cache: Path) -> None:
    good = compiled(TEMPLATE, "plain")
    (file,) = (own_cache / "cubin").iterdir()
    for damage in (b"", file.read_bytes()[:-1], b"\0" + file.read_bytes()[1:]):
        file.write_bytes(damage)
        assert compiled(TEMPLATE, "plain") == good
    assert cache.fetch(f"cubin/{file.name}") == b"plain\0" + good.image


@needs_nvcc
def test_a_cache_that_cannot_be_written_costs_nothing_but_time(own_cache: Path) -> None:
    (own_cache / "cubin").write_text("a file where a folder should be", encoding="utf-8")
    assert compiled(TEMPLATE, "plain").entries["plain"].symbol == "plain"


def test_the_words_of_a_key_do_not_run_together() -> None:
    assert len({cache.key("ab", "c"), cache.key("a", "bc"), cache.key("abc"), cache.key("abc", "")}) == 4


def test_without_nvcc_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("PATH", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.setenv(name, str(tmp_path))
    with pytest.raises(DeviceError, match=r"no nvcc .*: install the CUDA toolkit, or set CUDA_HOME"):
        nvcc.find_nvcc(default=tmp_path)


def gpus() -> list[str]:
    """The GPUs that matter, and the newest that this nvcc knows."""
    known = () if missing_nvcc() else nvcc.architectures(nvcc.find_nvcc())
    return [*dict.fromkeys([name for name in ("sm_75", "sm_80", "sm_90") if name in known] + [*known[-1:]])]


NEEDS = {
    r"__reduce_\w+_sync": lambda gpu: gpu >= 80,
    r"mma\.sync\S*e[45]m[23]": lambda gpu: gpu >= 89,
    r"mbarrier|barrier_init|cp_?\.?async_?\.?bulk": lambda gpu: gpu >= 90,
    r"wgmma": lambda gpu: gpu == 90,
}
"""The GPUs that have what a kernel's text asks for, by the numbers in their names."""


def targets_of(kernel: Kernel) -> list[str]:
    """The GPUs among `gpus` that a kernel is for."""
    texts = (kernel.source, *nvcc_ptx.included_texts(kernel.path, kernel.source, kernel.flags))
    needs = [has for word, has in NEEDS.items() if any(re.search(word, text) for text in texts)]
    needs += [lambda gpu: gpu >= 90] if any(launch.cluster for launch in kernel.launches) else []
    return [name for name in gpus() if all(has(int(name.removeprefix("sm_"))) for has in needs)]


def in_namespace(name: str, entry: Entry) -> Entry:
    return f"{name}::{entry}" if isinstance(entry, str) else replace(entry, function=f"{name}::{entry.function}")


def together(kernels: Sequence[Kernel]) -> tuple[str, tuple[Entry, ...]]:
    """One source of many kernels, each in a namespace of its own, and the entries in it.

    nvcc takes 0.4 s for a kernel alone, and all but 0.04 s of that for the headers. The texts are pasted, not included:
    an exhibit is no file.
    """
    system = dict.fromkeys(line for one in kernels for line in one.source.splitlines() if line.startswith("#include <"))
    spaces = [f'namespace k{number} {{\n#line 1 "{one.path}"\n{one.source}\n}}' for number, one in enumerate(kernels)]
    entries = tuple(in_namespace(f"k{number}", entry) for number, one in enumerate(kernels) for entry in one.entries)
    return "\n".join([*system, *spaces]), entries


def by_flags(gpu: str, every: bool = True) -> list[list[Kernel]]:
    """Every kernel for a GPU, with those that are compiled alike; none with headers of its own, which are read but
    once, and none for one generation of GPUs alone.

    Or one of each family.
    """
    groups: dict[tuple[str, ...], list[Kernel]] = {}
    for kernel in (one for one in every_kernel() if '#include "' not in one.source):
        if (every or kernel.name in ONE_A_FAMILY) and gpu in targets_of(kernel) and "wgmma" not in kernel.source:
            groups.setdefault(kernel.flags, []).append(kernel)
    return list(groups.values())


@needs_nvcc
@pytest.mark.parametrize(
    ("architecture", "every"), [("sm_75", False), *(pytest.param(gpu, True, marks=pytest.mark.soak) for gpu in gpus())]
)
def test_every_kernel_compiles_for_gpus_old_and_new(architecture: str, every: bool) -> None:
    """From the user's own cache: 7 s of nvcc for every kernel the first time, and again only after a change."""
    if architecture not in gpus():
        pytest.skip(f"this nvcc does not know {architecture}")
    for kernels in by_flags(architecture, every):
        source, entries = together(kernels)
        cubin = machine_code.compile_kernel(KERNELS / "all.cu", source, kernels[0].flags, entries, architecture)
        assert cubin.entries.keys() == set(entries)
        assert not cubin.has_variables


def words_of_nvcc(
    source: str, entries: Sequence[Entry], flags: Sequence[str], codes: Sequence[str], folder: Path
) -> str:
    """All that nvcc has to say of a source that it must accept, every entry instantiated."""
    unit = folder / "unit.cu"
    names = (entry if isinstance(entry, str) else entry.function for entry in entries)
    pointers = ", ".join(f"(void *)({name})" for name in names)
    unit.write_text(f"{source}\nvoid *entries[] = {{{pointers}}};\n", encoding="utf-8")
    targets = [f"-gencode=arch={name.replace('sm', 'compute')},code={name}" for name in codes]
    command = [nvcc.find_nvcc(), "--fatbin", *targets, *flags, "-o", str(folder / "unit"), str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


@needs_nvcc
@pytest.mark.soak
def test_nvcc_warns_of_no_kernel(tmp_path: Path) -> None:
    newest = gpus()[-1]
    for kernels in by_flags(newest):
        assert words_of_nvcc(*together(kernels), kernels[0].flags, [newest], tmp_path) == ""
    unused = "__global__ void k() { int never_used; }"
    assert "never_used" in words_of_nvcc(unused, ["k"], (), gpus()[-1:], tmp_path)


@needs_nvcc
@pytest.mark.soak
@pytest.mark.parametrize("kernel", [pytest.param(kernel, id=kernel.name) for kernel in every_kernel()])
def test_each_kernel_compiles_alone_for_every_gpu(kernel: Kernel, tmp_path: Path) -> None:
    """As it stands, with no other's headers before it. Some GPUs have too few threads for as many blocks as a kernel
    asks for, which the assembler says, and then asks for none.
    """
    texts = nvcc_ptx.included_texts(kernel.path, kernel.source, kernel.flags)
    targets = [nvcc.target_of(gpu, kernel.source, *texts) for gpu in targets_of(kernel)]
    assert targets
    flags = (f"-I{kernel.path.parent}", *kernel.flags)
    said = words_of_nvcc(kernel.source, kernel.entries, flags, targets, tmp_path).splitlines()
    if kernel.broken is None:  # what an exhibit leaves out may leave a variable unused
        assert [line for line in said if ".minnctapersm will be ignored" not in line] == []


@needs_nvcc
def test_no_header_of_the_shim_hides_one_of_the_toolkit() -> None:
    said = subprocess.run(
        [nvcc.find_nvcc(), "--dryrun", "-x", "cu", "/dev/null"], capture_output=True, text=True, check=True
    )
    folders = re.findall(r'(?:"-I|"-isystem" ")([^"]+)"', said.stderr)
    toolkit = {name for one in folders for name in os.listdir(one)}
    assert {"thrust", "cub", "cuda"} <= toolkit
    assert toolkit.isdisjoint(os.listdir(hosting.SHIM / "include"))


@needs_nvcc
@pytest.mark.soak
def test_a_library_of_host_functions_is_unloaded_with_all_that_it_keeps() -> None:
    kernel = kernel_with(EXTENSIONS / "pairs" / "known_by_its_place.cu", Unclaimed("row_sum"))
    job = kernel.bind({"x": np.ones((2, 3), np.float32)}, {}).job
    one = hosting.HostLibrary(job, hosting.compile_library(job, "sm_90"))
    assert str(one.path) in Path("/proc/self/maps").read_text(encoding="utf-8")
    one.close()
    assert str(one.path) not in Path("/proc/self/maps").read_text(encoding="utf-8")


@pytest.mark.slow
@needs_nvcc
def test_code_of_one_generation_of_gpus_is_made_without_code_for_later_ones(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text('__global__ void k() { asm volatile("wgmma.fence.sync.aligned;"); }\n')
    subprocess.run(["nvcc", *nvcc.code_for("sm_90a"), "-c", str(source), "-o", str(tmp_path / "k.o")], check=True)
