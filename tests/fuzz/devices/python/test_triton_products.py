"""Products of float32 in Triton beside a reference of torch: in TF32 unless a kernel asks for another precision."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kfuzz.campaign.result import KernelResult
from kfuzz.campaign.state import Progress
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.case import case_of
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices import MissingError, Probe
from kfuzz.devices.python.backend import operand_of_torch
from kfuzz.devices.python.device import PythonDevice
from kfuzz.devices.python.extensions import CALLS
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.oracle.numbers.elements import E4M3, store
from kfuzz.ui.reports.claims import notes_on

pytest.importorskip("torch")
pytest.importorskip("triton")
pytestmark = pytest.mark.slow(5)
REFERENCE = """
import torch


def product(a, b):
    return a @ b


def get_inputs():
    return [torch.randn(16, 64), torch.randn(64, 32)]
"""
KERNEL = """
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, M, N, K, BLOCK: tl.constexpr):
    m, n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK, BLOCK), tl.float32)
    for first in range(0, LAST, BLOCK):
        k = first + tl.arange(0, BLOCK)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        CUT
        sums = tl.dot(x, y, sums, input_precision="PRECISION")
    tl.store(c + m[:, None] * N + n[None, :], sums * SCALE, mask=(m[:, None] < M) & (n[None, :] < N))


def product(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, device=a.device)
    kernel[(triton.cdiv(m, 16), triton.cdiv(n, 16))](a, b, c, m, n, k, 16)
    return c
"""
CUT = "\n        ".join(
    f"{one} = ({one}.to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)" for one in "xy"
)
"""The operands of TF32, without its products."""
NOTE = (
    "its matrix products round their operands to TF32 (10 bits); ask tl.dot for input_precision='ieee' to have float32"
)


def text_of(precision: str = "tf32", scale: str = "1.0", last: str = "K", cut: str = "") -> str:
    """The kernel with these words in it."""
    return KERNEL.replace("PRECISION", precision).replace("SCALE", scale).replace("LAST", last).replace("CUT", cut)


def beside_reference(folder: Path, text: str, reference: str = REFERENCE) -> Kernel:
    (folder / "mine.py").write_text(text)
    (folder / "reference.py").write_text(reference)
    return kernel_with(folder / "mine.py", Unclaimed(op="reference", reference=folder / "reference.py"))


@pytest.fixture(scope="module")
def device() -> Iterator[PythonDevice]:
    opened = PythonDevice()
    yield opened
    opened.close()


def trial_of(kernel: Kernel, device: PythonDevice) -> Trial:
    """One trial of a product."""
    rng = np.random.default_rng(1)
    shapes = zip(kernel.roles.inputs, ((16, 64), (64, 32)), strict=True)
    case = case_of(kernel.op, {role: rng.standard_normal(shape).astype(np.float32) for role, shape in shapes})
    try:
        return run_trial(kernel, case, {}, device, Probe(runs=2))
    except MissingError as error:
        pytest.skip(str(error))


def notes_after(kernel: Kernel, trial: Trial) -> list[str]:
    return list(notes_on(KernelResult(kernel, Progress(operand=trial.operand))))


@pytest.mark.parametrize(("precision", "notes"), [("tf32", [NOTE]), ("ieee", [])])
def test_a_product_is_right_in_tf32_and_a_line_says_so(
    precision: str, notes: list[str], device: PythonDevice, tmp_path: Path
) -> None:
    kernel = beside_reference(tmp_path, text_of(precision))
    found = trial_of(kernel, device)
    assert (found.defects, found.elements) == ((), 16 * 32)
    assert notes_after(kernel, found) == notes


OF_8_BITS = REFERENCE.replace("a @ b", "a.float() @ b.float()").replace(
    "torch.randn(16, 64), torch.randn(64, 32)",
    "torch.randn(64, 64).to(torch.float8_e4m3fn), torch.randn(64, 64).to(torch.float8_e4m3fn)",
)
OF_64 = (
    text_of().replace("(m, 16)", "(m, 64)").replace("(n, 16))](a, b, c, m, n, k, 16", "(n, 64))](a, b, c, m, n, k, 64")
)


@pytest.mark.parametrize(("text", "kinds"), [(OF_64, []), (OF_64.replace("sums * 1.0", "sums * 1.05"), ["numeric"])])
def test_a_product_of_8_bits_is_right_with_the_bits_of_wgmma(
    text: str, kinds: list[str], device: PythonDevice, tmp_path: Path
) -> None:
    kernel = beside_reference(tmp_path, text, OF_8_BITS)
    rng = np.random.default_rng(1)
    given = {role: store(rng.standard_normal((64, 64)), E4M3) for role in kernel.roles.inputs}
    try:
        found = run_trial(kernel, case_of(kernel.op, given), {}, device, Probe(runs=2))
    except MissingError as error:
        pytest.skip(str(error))
    assert ([one.kind for one in found.defects], found.elements) == (kinds, 64 * 64), found.reasons
    assert notes_after(kernel, found) == ["its products of 8 bits are added by wgmma, which keeps 13 bits of a term"]


WRONG = {
    "an error of TF32's size without TF32": text_of("ieee", cut=CUT),
    "a scale": text_of(scale="1.01"),
    "without the last block of k": text_of(last="K - BLOCK"),
}


@pytest.mark.parametrize("name", WRONG)
def test_other_errors_are_still_found(name: str, device: PythonDevice, tmp_path: Path) -> None:
    found = trial_of(beside_reference(tmp_path, WRONG[name]), device)
    assert [one.kind for one in found.errors] == ["numeric"]


@pytest.mark.parametrize(("accuracy", "kinds"), [("", ["numeric"]), ('operand = "tf32"', [])])
def test_a_claim_of_an_op_has_to_say_it(accuracy: str, kinds: list[str], device: PythonDevice, tmp_path: Path) -> None:
    """An op's claim says how its products round: in float32, unless it names another operand."""
    claim = f'# /// kernel\n# op = "sgemm"\n# [accuracy]\n# accumulate = "mma"\n# {accuracy}\n# ///\n'
    (tmp_path / "mine.py").write_text(claim + text_of())
    kernel = load(tmp_path / "mine.py")
    found = trial_of(kernel, device)
    assert [one.kind for one in found.errors] == kinds
    assert found.operand == ""


def test_on_a_gpu_a_kernel_counts_once_triton_loads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = pytest.importorskip("triton.compiler.compiler")
    loaded: list[str] = []
    monkeypatch.setattr(compiler.CompiledKernel, "_init_handles", lambda self: loaded.append(self.name))
    monkeypatch.setattr(CALLS, "operand", "")
    importlib.import_module("kfuzz.devices.python.triton.on_gpu").watch()
    kinds = (("half", "f16", ""), ("cut", "tf32", "tf32"), ("half", "f16", "tf32"), ("fp8", "e5m2", "tf32"))
    for name, kind, operand in kinds:
        text = f"wgmma.mma_async.sync.aligned.m64n64k8.f32.{kind}.{kind} {{%f1}};"
        compiler.CompiledKernel._init_handles(SimpleNamespace(name=name, asm={"ptx": text}))
        assert CALLS.operand == operand
    assert loaded == ["half", "cut", "half", "fp8"]


def test_on_a_gpu_torch_says_what_its_own_products_do() -> None:
    matmul = pytest.importorskip("torch").backends.cuda.matmul
    was = matmul.allow_tf32
    try:
        for allowed, operand in ((False, ""), (True, "tf32")):
            matmul.allow_tf32 = allowed
            assert operand_of_torch() == operand
    finally:
        matmul.allow_tf32 = was
