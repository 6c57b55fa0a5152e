"""What a file raises because this machine lacks a GPU, or a library fails here, is no finding.

Long, since everything that a file asks of a GPU is tried in one place.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from forked import run_forked
from small_callables import X, trial_of

from kfuzz.claims.kernel import load
from kfuzz.claims.language.loaded import UsedLibraries, used_libraries
from kfuzz.devices import ClaimError, MissingError, OtherLibraryError, Probe, PythonCall, Refusal
from kfuzz.devices.python.device import PythonDevice
from kfuzz.devices.python.raising import find_lack

TRITON = """
import torch, triton
import triton.language as tl


@triton.jit
def kernel(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    {}


def forward(x):
    y = torch.zeros(x.shape[0])
    kernel[(1,)](x, y, 16)
    return y
"""


@pytest.fixture(scope="module")
def device() -> Iterator[PythonDevice]:
    opened = PythonDevice()
    yield opened
    opened.close()


def raised_in(module: str, text: str) -> Exception:
    """What code of a module of this name raises."""
    made = ModuleType(module)
    exec(compile(f"def f():\n    {text}\n", "", "exec"), vars(made))  # noqa: S102  it is the test's own
    function: Any = made.f  # type: ignore[attr-defined]  # the line before has made it
    with pytest.raises(Exception) as error:  # noqa: PT011  whatever it is
        function()
    return error.value


@pytest.mark.parametrize(
    "module", ["triton.runtime.interpreter", "triton", "cutlass.base_dsl.dsl", "torch.cuda", "torch.cuda.memory"]
)
def test_an_error_of_what_needs_a_gpu_is_a_lack(module: str) -> None:
    lack = find_lack(raised_in(module, "raise AttributeError('float has no to')"))
    assert lack
    assert "AttributeError: float has no to" in lack.words
    assert lack.is_of_input == module.startswith(("triton", "cutlass"))


@pytest.mark.parametrize("module", ["kfuzz_callable_0_mine", "tritonbench", "torch.nn.functional", "numpy"])
def test_an_error_of_anything_else_is_not(module: str) -> None:
    assert find_lack(raised_in(module, "raise RuntimeError('cuda is what I say')")) is None
    assert find_lack(raised_in(module, "return 1 / 0")) is None


def test_torchs_own_words_for_a_missing_gpu_are_a_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    words = "Could not run 'aten::empty' with arguments from the 'CUDA' backend"
    from_cpp = f"(_ for _ in ()).throw(NotImplementedError({words!r}))"
    assert find_lack(raised_in("mine", from_cpp))
    assert find_lack(raised_in("mine", "(_ for _ in ()).throw(RuntimeError('sizes differ'))")) is None


def package_of(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.py").write_text(text)


@pytest.mark.slow
def test_the_library_is_what_the_imported_module_has_loaded(tmp_path: Path) -> None:
    package_of(tmp_path, "torch", "")
    package_of(tmp_path, "triton", "")
    package_of(tmp_path, "built_on_torch", "import torch")
    package_of(tmp_path, "built_on_triton", "import built_on_torch, triton")
    package_of(tmp_path, "built_on_nothing", "import json")
    package_of(tmp_path, "jax", "")
    mine = tmp_path / "mine.py"
    found = {name: used_libraries(mine, f"import {name}\ndef f(x): ...\n") for name in (
        "built_on_torch", "built_on_triton", "built_on_nothing", "math", "torch", "no_such_package",
        "torch, built_on_triton", "jax, built_on_triton", "torch, built_on_torch",
    )}  # fmt: skip
    assert found == {
        "built_on_torch": UsedLibraries("torch", "torch", True, ("numpy",)),
        "built_on_triton": UsedLibraries("torch", "triton", True, ("numpy",)),
        "built_on_nothing": UsedLibraries("numpy", "numpy", True),
        "math": UsedLibraries("numpy", "numpy"),
        "torch": UsedLibraries("torch", "torch"),
        "no_such_package": UsedLibraries("numpy", "numpy", True),
        "torch, built_on_triton": UsedLibraries("torch", "triton"),
        "jax, built_on_triton": UsedLibraries("jax", "jax"),
        "torch, built_on_torch": UsedLibraries("torch", "torch"),
    }


@pytest.mark.slow
def test_a_language_that_a_package_names_comes_before_the_one_that_torch_loads(tmp_path: Path) -> None:
    package_of(tmp_path, "torch", "import triton")
    package_of(tmp_path, "triton", "")
    package_of(tmp_path, "warp", "")
    package_of(tmp_path, "built_on_warp", "import torch, warp")
    package_of(tmp_path, "built_on_both", "import triton, warp")
    found = [
        used_libraries(tmp_path / "mine.py", f"import torch, {name}\n") for name in ("built_on_warp", "built_on_both")
    ]
    assert found == [UsedLibraries("torch", "warp"), UsedLibraries("torch", "triton")]


def test_while_it_is_open_whose_arrays_a_file_takes_its_rounding_is_the_loosest() -> None:
    torch, numpy = (UsedLibraries(name, name).arithmetic for name in ("torch", "numpy"))
    either = UsedLibraries("torch", "torch", True, ("numpy",)).arithmetic
    functions = {name: max(of.get(name, (0, 0)) for of in (torch.functions, numpy.functions))
                 for name in (*torch.functions, *numpy.functions)}  # fmt: skip
    assert either == replace(numpy, functions=functions, flushed=torch.flushed) != torch
    assert UsedLibraries("torch", "triton", True, ("numpy",)).arithmetic.exp == "__expf"


def test_a_package_that_takes_other_arrays_is_no_finding(tmp_path: Path, device: PythonDevice) -> None:
    package_of(tmp_path, "picky", "def f(x):\n    raise TypeError('picky wants a Tensor, not an ndarray')\n")
    with pytest.raises(OtherLibraryError, match=r"mine.py: it takes no arrays of numpy: TypeError: picky wants"):
        trial_of(tmp_path, "mine", "import picky\ndef f(x):\n    return picky.f(x)\n", device)


PACKAGE = """
import numpy, torch


def total(x):
    if not isinstance(x, {wanted}):
        raise TypeError(f"total() takes {wanted}, not {{type(x)}}")
    return x.sum(1){more}
"""


@pytest.mark.slow
@pytest.mark.parametrize("wanted", ["torch.Tensor", "numpy.ndarray"])
@pytest.mark.parametrize(("more", "kinds"), [("", set()), (" + 1", {"numeric"})])
def test_a_file_that_imports_only_a_package_gets_the_arrays_that_the_package_takes(
    wanted: str, more: str, kinds: set[str], tmp_path: Path, device: PythonDevice
) -> None:
    """Of the libraries that the package loads, torch is the first; a package that takes numpy's gets them next."""
    pytest.importorskip("torch", reason="torch is not installed")
    package_of(tmp_path, "theirs", PACKAGE.format(wanted=wanted, more=more))
    found = trial_of(tmp_path, "mine", "import theirs\ndef f(x):\n    return theirs.total(x)\n", device)
    assert {defect.kind for defect in found.defects} == kinds
    assert found.elements == 3


@pytest.mark.parametrize(("others", "refuses"), [(("numpy",), False), ((), True)])
def test_the_next_library_is_tried_in_a_new_process(
    others: tuple[str, ...], refuses: bool, tmp_path: Path, device: PythonDevice
) -> None:
    """The first process of this file rejects its arrays, whatever they are."""
    path = tmp_path / "mine.py"
    path.write_text(
        '# /// kernel\n# op = "row_sum"\n# ///\nimport os, pathlib\nHERE = pathlib.Path(__file__).with_suffix(".pid")\n'
        "def f(x):\n    if not HERE.exists():\n        HERE.write_text(str(os.getpid()))\n"
        "    if HERE.read_text() == str(os.getpid()):\n        raise TypeError('not these')\n    return x.sum(1)\n"
    )
    job = load(path).bind({"x": X}, {}).job
    call = job.steps[0].entry
    assert isinstance(call, PythonCall)
    guessed = replace(call, is_guess=True, others=others)
    asked = replace(job, steps=(replace(job.steps[0], entry=guessed),))
    if refuses:
        with pytest.raises(OtherLibraryError, match="it takes no arrays of numpy: TypeError: not these"):
            device.run(asked, Probe(runs=2))
        return
    outcome = device.run(asked, Probe(runs=2))
    assert outcome.findings == ()
    assert [run.outputs["y"].tolist() for run in outcome.runs] == [X.sum(1).tolist()] * len(outcome.runs) != []


@pytest.mark.slow
def test_a_library_that_does_not_work_here_is_one_line_and_no_finding(tmp_path: Path) -> None:
    """A numba that is too old for the installed numpy raised ImportError, and 20 trials of 20 were exceptions."""
    package_of(tmp_path, "numba", "raise ImportError('Numba needs NumPy 2.3 or less')\n")
    (tmp_path / "mine.py").write_text("import numba\n@numba.njit\ndef f(x):\n    return x.sum(1)\n")
    words = ("fuzz", "mine.py", "--op", "row_sum", "--device", "cpu", "--max-cases", "3", "--seed", "1", "--jobs", "1")
    done = run_forked("kfuzz", *words, cwd=tmp_path)
    assert done.returncode == 2
    lines = [line for line in done.stderr.splitlines() if "Numba needs NumPy" in line]
    assert len(lines) == 1
    assert "BROKEN" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (TRITON.format("tl.store(y + i, tl.load(x + i).nothing_of_this_name)"), "nothing_of_this_name"),
        ("import torch\ndef f(x):\n    torch.cuda.CUDAGraph()\n    return x.sum(1)\n", "torch"),
        ("import torch\ntorch._C._cuda_init()\n", "mine.py"),
    ],
)
def test_a_call_that_needs_a_real_gpu_is_refused_without_a_finding(
    text: str, reported: str, tmp_path: Path, device: PythonDevice
) -> None:
    try:
        found = trial_of(tmp_path, "mine", text, device)
    except MissingError as error:
        pytest.skip(str(error))
    except ClaimError as error:
        assert reported in str(error)  # noqa: PT017  either is right
        return
    assert found.defects == ()
    assert any(isinstance(reason, Refusal) and reported in reason.words for reason in found.reasons)


OF_CUDA = """import torch


@torch.library.custom_op("kfuzz_tests::doubled", mutates_args=(), device_types="cuda")
def _doubled(y: torch.Tensor) -> torch.Tensor:
    return y * 2


@torch.library.custom_op("kfuzz_tests::written", mutates_args={"y"})
def _written(y: torch.Tensor) -> None:
    assert y.is_cuda and y.device == torch.zeros(1, device="cuda").device, y.device
    y.zero_()


"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "y = torch.zeros(x.shape[0], device='cuda:0')",
        "with torch.cuda.device(x.device): y = torch.zeros(x.shape[0], device=torch.cuda.current_device())",
        "y = torch.zeros(x.shape[0]).cuda() * torch.cuda.get_device_properties('cuda').major",
        "torch.cuda.synchronize(); y = torch.zeros(x.shape[0]).to('cuda')",
        "y = torch.zeros(x.shape[0], device=torch.device('cuda')); assert x.device == torch.device('cuda', 0)",
        "y = torch.zeros(len(x), pin_memory=True).cuda(); assert torch.get_device_module(x.device.type) is torch.cuda",
        "g = torch.Generator(device='cuda').manual_seed(1); y = 0 * torch.rand(len(x), generator=g, device='cuda')",
        "y = torch.zeros(x.shape[0]); y.record_stream(torch.cuda.current_stream()); torch.cuda.nvtx.range_push('y')",
        "y = torch.zeros(len(x), device='cuda') * getattr(torch.cuda.get_device_properties(0), 'of_another_gpu', 2)",
        "y = torch.zeros(len(x), device='cuda'); y = _doubled(y)",
        "torch.cuda.synchronize(); y = torch.ones(len(x)); _written(y)",
    ],
)
def test_a_file_that_asks_for_a_gpu_runs_without_one(line: str, tmp_path: Path, device: PythonDevice) -> None:
    try:
        found = trial_of(tmp_path, "mine", f"{OF_CUDA}def f(x):\n    {line}\n    return y + x.sum(1)\n", device)
    except MissingError as error:
        pytest.skip(str(error))
    assert found.defects == ()
    assert found.elements == 3


BACKWARD = """
import torch


class Sums(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sum(1)

    @staticmethod
    def backward(ctx, g):
        ones = torch.ones(3, 4, device="cuda")
        assert g.is_cuda
        return ones * g[:, None]


def forward(x):
    x = x.clone().requires_grad_()
    Sums.apply(x).sum().backward()
    (more,) = torch.autograd.grad(Sums.apply(x).sum(), x)
    return (x.detach() * x.grad * more).sum(1)
"""


@pytest.mark.slow
def test_gradients_of_a_file_that_asks_for_a_gpu_run_without_one(tmp_path: Path, device: PythonDevice) -> None:
    try:
        found = trial_of(tmp_path, "mine", BACKWARD, device)
    except MissingError as error:
        pytest.skip(str(error))
    assert found.defects == ()
    assert found.elements == 3, found.reasons


AT_IMPORT = """
import torch, triton
import triton.language as tl


@triton.jit
def fill(y, N: tl.constexpr):
    tl.store(y + tl.arange(0, N), 1.0)


def forward(x):
    return x.sum(1)


fill[(1,)](torch.empty(4), {})
"""


@pytest.mark.slow
@pytest.mark.parametrize(("size", "kinds"), [(4, set()), (1 << 16, {"out-of-bounds"})])
def test_a_write_out_of_bounds_at_import_is_a_warning_and_not_made(
    size: int, kinds: set[str], tmp_path: Path, device: PythonDevice
) -> None:
    """Tests at the end of files did it: the process ended by a broken heap, for no reason that anyone saw."""
    try:
        found = trial_of(tmp_path, "mine", AT_IMPORT.format(size), device)
    except MissingError as error:
        pytest.skip(str(error))
    assert found.errors == ()
    assert {defect.kind for defect in found.defects} == kinds
    assert all("while the file is imported" in defect.message and defect.line == 11 for defect in found.defects)


def test_a_module_of_a_library_that_fails_as_it_is_imported_is_no_finding(device: PythonDevice, tmp_path: Path) -> None:
    """Right kernels were accused: `Only a single TORCH_LIBRARY can be used to register the namespace _inductor_...`."""
    pytest.importorskip("torch", reason="torch is not installed")
    twice = (
        "import importlib, sys\n\nimport torch\n\nNAME = 'torch._inductor.test_operators'\n\n\ndef f(x):\n"
        "    first = importlib.import_module(NAME)\n    del sys.modules[NAME]\n    importlib.import_module(NAME)\n"
        "    return x.sum(1)\n"
    )
    with pytest.raises(MissingError, match=r"torch\._inductor\.test_operators cannot be imported here: RuntimeError"):
        trial_of(tmp_path, "twice", twice, device)


def test_an_operator_has_the_implementation_of_the_gpu_beside_that_of_the_host(
    device: PythonDevice, tmp_path: Path
) -> None:
    """torch._dynamo has such an operator of its own: a right kernel was accused where its import came late."""
    pytest.importorskip("triton", reason="triton is not installed")
    both = (
        (
            TRITON.format("tl.store(y + i, i.to(tl.float32), mask=i < 0)")
            + """
LIBRARY = torch.library.Library("kfuzz_tests_both", "DEF")
LIBRARY.define("summed(Tensor x) -> Tensor")
for key, sign in (("CPU", -1), ("CUDA", 1), ("CPU", -1)):
    LIBRARY.impl("summed", lambda x, sign=sign: sign * x.sum(1), key)


def f(x):
    forward(x)
    import torch._dynamo
    return torch.ops.kfuzz_tests_both.summed(x)
"""
        )
        .replace("def forward", "def _forward")
        .replace("    forward(x)", "    _forward(x)")
    )
    found = trial_of(tmp_path, "both", both, device)
    assert not found.errors, found.errors
    assert found.elements
