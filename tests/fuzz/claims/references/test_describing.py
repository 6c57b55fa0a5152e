"""How a reference is described: within its time, by what it imports, and in one line if it cannot be judged."""

import importlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kfuzz.claims.kernel import Kernel
from kfuzz.devices import ClaimError
from kfuzz.measure.roundings.guess_host import FunctionWords
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.oracle.judging.find_op import find
from tests.fuzz.claims.references.test_submissions import kinds

HEAD = (
    "import random\n\nimport numpy as np\nimport torch\nfrom torch._subclasses.fake_tensor import FakeTensorMode\n\n\n"
)
INPUTS = "\n\ndef get_inputs():\n    rows, cols = 4, 8\n    return [torch.randn(rows, cols)]\n"
WITHOUT_NUMBERS = {
    "return torch.empty(x.shape, device='meta')": "its output y is on the device meta",
    "return {'sum': x.sum(0), 'own': x.to('meta') * 2}": "its output y.own is on the device meta",
    "with FakeTensorMode(allow_non_fake_inputs=True):\n        return x * 2": "its output y is a FakeTensor",
}
DRAWN = {
    "return x + torch.rand_like(x)": "problem.py:9 draws random numbers (torch's rand_like)",
    "return x + random.random()": "it draws random numbers outside of torch",
    "return x + torch.from_numpy(np.random.rand(*x.shape)).float()": "it draws random numbers outside of torch",
}


KEPT_ROWS = """def reference(x, keep):
    return x[keep > 0]


def get_inputs():
    rows, cols = 24, 6
    return [torch.randn(rows, cols), torch.randint(0, 2, (rows,))]
"""
SEGMENTS = """def reference(x, starts, lengths):
    out = x.new_zeros(24, x.shape[1])
    for row in range(len(x)):
        out[starts[row] : starts[row] + lengths[row]] = x[row]
    return out


def get_inputs():
    rows, cols = 8, 6
    lengths = torch.randint(1, 4, (rows,))
    return [torch.randn(rows, cols), lengths.cumsum(0) - lengths, lengths]
"""
SMALL_NUMBERS = """def reference(x):
    assert float(x.max()) < 2.5
    return x.cumsum(0)[-1:]


def get_inputs():
    rows, cols = 48, 32
    return [torch.rand(rows, cols)]
"""


def described(folder: Path, body: str, remark: str = "") -> Kernel:
    """A submission with a reference of this body; one with another remark is read again."""
    pytest.importorskip("torch")
    (folder / "problem.py").write_text(f"{HEAD}def reference(x):\n    {body}\n{INPUTS}")
    (folder / "answer.py").write_text(f"import torch\n\n\ndef answer(x):\n    return x * 2  # {remark}\n")
    wanted = Unclaimed(op="reference", said=FunctionWords(entry="answer"), reference=folder / "problem.py")
    return kernel_with(folder / "answer.py", wanted)


def answered(folder: Path, text: str, old: str = "", new: str = "") -> Kernel:
    """A reference of this text, and itself as a submission, in which something is changed."""
    pytest.importorskip("torch")
    (folder / "problem.py").write_text(f"import torch\n\n\n{text}")
    (folder / "answer.py").write_text(f"import torch\n\n\n{text.replace(old, new)}".replace("reference", "answer"))
    wanted = Unclaimed(op="reference", said=FunctionWords(entry="answer"), reference=folder / "problem.py")
    return kernel_with(folder / "answer.py", wanted)


BLOCKS = """def reference(x, window):
    blocks = (x.shape[1] - len(window)) // 16 + 1
    parts = [x[:, start : start + len(window)] * window for start in range(0, 16 * blocks, 16)]
    return torch.stack(parts, 1).sum(2)


def get_inputs():
    rows, cols, taps = 2, 128, 32
    return [torch.randn(rows, cols), torch.randn(taps)]
"""


@pytest.mark.slow
def test_a_size_of_an_output_is_the_expression_that_holds_at_other_sizes_too(tmp_path: Path) -> None:
    """(cols - 22) // 15 was found, which is the same wherever one of the sizes moves alone."""
    assert find(answered(tmp_path, BLOCKS).op).outputs["y"].dimensions == ("rows", "(cols - taps) // 16 + 1")


@pytest.mark.slow
@pytest.mark.parametrize("body", WITHOUT_NUMBERS)
def test_an_output_without_numbers_is_refused_in_one_line(body: str, tmp_path: Path) -> None:
    """Before, it was `Tensor on device meta is not on the expected device cpu!`."""
    with pytest.raises(ClaimError) as refused:
        described(tmp_path, body)
    assert f"not judged: {WITHOUT_NUMBERS[body]}, which has a shape and no numbers; let the" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize("body", DRAWN)
def test_a_reference_that_draws_is_refused_with_what_to_change(body: str, tmp_path: Path) -> None:
    with pytest.raises(ClaimError) as refused:
        described(tmp_path, body)
    assert DRAWN[body] in str(refused.value)
    assert "let get_inputs draw them and hand them over" in str(refused.value)


@pytest.mark.slow
def test_a_refusal_of_a_reference_holds_for_all_submissions_of_a_process(tmp_path: Path) -> None:
    here, ran = tmp_path / "here", tmp_path / "ran"
    here.mkdir()
    sizes = []
    for remark in ("one", "other"):
        with pytest.raises(ClaimError, match="never runs"):
            described(here, f"open({str(ran)!r}, 'a').write('x')\n    raise ValueError('never runs')", remark)
        sizes.append(ran.stat().st_size)
    assert sizes[0] == sizes[1] > 0


@pytest.mark.slow
def test_a_reference_that_does_not_run_at_its_own_sizes_gets_what_get_inputs_makes(tmp_path: Path) -> None:
    """Before, it ran at a few rows alone: no trial at its own sizes was judged."""
    kernel = answered(tmp_path, SMALL_NUMBERS)
    assert kernel.reference is not None
    assert kernel.reference.kept.endswith("with other integers and numbers it does not run at its own sizes")
    found, elements = kinds(kernel)
    assert not found
    assert elements


@pytest.mark.slow
def test_an_output_whose_size_depends_on_values_is_judged_by_what_get_inputs_makes(tmp_path: Path) -> None:
    """Before, an answer was refused in each trial that left another number of rows than the first."""
    kernel = answered(tmp_path, KEPT_ROWS)
    assert kernel.reference is not None
    assert kernel.reference.kept
    found, elements = kinds(kernel)
    assert not found
    assert elements


@pytest.mark.slow
def test_integers_that_fit_each_other_are_those_of_get_inputs(tmp_path: Path) -> None:
    """Before, starts and lengths were any integers: an answer that takes the segments in another order was BROKEN."""
    found, elements = kinds(answered(tmp_path, SEGMENTS, "range(len(x))", "reversed(range(len(x)))"))
    assert not found
    assert elements


PROGRAM = (
    "import json, sys\nfrom kfuzz.claims.references.torch.describing import described\n"
    "print(json.dumps(described(json.loads(sys.argv[1]), float(sys.argv[2]))))\n"
)
SLOW = f"{HEAD}def reference(x):\n    sum(range(500_000))\n    return x * 2\n{INPUTS}"


def answer_alone(path: Path, source: str, seconds: float = 60.0, is_cuda: bool = False) -> Any:  # noqa: ANN401  JSON
    """What the process that describes says of a reference within so many seconds."""
    path.write_text(source)
    asked = {
        "is_function": True, "path": str(path), "source": source, "reference": "reference", "inputs": {},
        "integers": {}, "narrow": [], "where": [], "title": "it", "axes": {}, "task": "", "config": "",
        "is_cuda": is_cuda,
    }  # fmt: skip
    words = [sys.executable, "-c", PROGRAM, json.dumps(asked), str(seconds)]
    return json.loads(subprocess.run(words, capture_output=True, check=True).stdout)


@pytest.mark.slow(10)
def test_a_reference_whose_sizes_take_too_long_gets_what_get_inputs_makes(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    late, early = (answer_alone(tmp_path / "problem.py", SLOW, seconds) for seconds in (0.2, 60.0))
    assert late["kept"].endswith("another seed in each trial: to try its sizes takes more than 0.2 s")
    assert late["inputs"] == {"draw": ["1"], "x": ["4", "8"]}
    assert "kept" not in early
    assert early["inputs"] == {"x": ["rows", "cols"]}


@pytest.mark.slow
def test_a_convolution_is_not_tried_at_sizes_that_take_minutes(tmp_path: Path) -> None:
    """No size of a pooled row follows from its window and from that before it: all were tried at 70 and more."""
    pytest.importorskip("torch")
    body = "def reference(x, w):\n    return torch.nn.functional.max_pool2d(torch.nn.functional.conv2d(x, w), 2)\n\n\n"
    sizes = "    batch, channels, height, width, out, kernel = 64, 2, 28, 28, 32, 3\n"
    made = "    return [torch.randn(batch, channels, height, width), torch.randn(out, channels, kernel, kernel)]\n"
    (tmp_path / "problem.py").write_text(f"{HEAD}{body}def get_inputs():\n{sizes}{made}")
    kernel = kernel_with(tmp_path / "problem.py", Unclaimed("reference", FunctionWords("reference")))
    assert {"batch", "out"} <= kernel.axes.keys()


def test_sizes_that_wait_for_a_busy_processor_take_too_long_as_well() -> None:
    """A loop over 200 steps was refused after 300 s, of which 27 were those of the processor."""
    pytest.importorskip("torch")
    describing = importlib.import_module("kfuzz.claims.references.torch.describing")
    with pytest.raises(describing.TooSlowError, match=r"more than 0\.02 s"), describing.limited(0.02):
        time.sleep(20)
    assert signal.getitimer(signal.ITIMER_REAL) == signal.getitimer(signal.ITIMER_PROF) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


@pytest.mark.slow
def test_cuda_gets_what_get_inputs_makes_as_arrays(tmp_path: Path) -> None:
    """Before, it ran at a few rows alone, of any numbers."""
    pytest.importorskip("torch")
    made = answer_alone(tmp_path / "problem.py", f"import torch\n\n\n{SMALL_NUMBERS}", is_cuda=True)
    assert made["kept"].endswith("with other integers and numbers it does not run at its own sizes")
    assert made["inputs"] == {"x": ["rows", "cols"]}
    assert made["home"] == {"rows": 48, "cols": 32}
    assert made["made"] == {"holder": "x", "most": 1 << 16, "per_seed": 2, "free": []}


@pytest.mark.slow
def test_what_a_reference_imports_is_looked_at_again_once_it_has_changed(tmp_path: Path) -> None:
    """Before, the sizes of its outputs were those of the old text, and a refusal stayed when its cause was gone."""
    body = "import kfuzz_test_of_imports as own\n    return own.made(x)"
    with pytest.raises(ClaimError, match="No module named 'kfuzz_test_of_imports'"):
        described(tmp_path, body)
    for text, shape in (("x * 2", ("rows", "cols")), ("x.sum(-1)", ("rows",))):
        (tmp_path / "kfuzz_test_of_imports.py").write_text(f"def made(x):\n    return {text}\n")
        assert find(described(tmp_path, body, text).op).outputs["y"].dimensions == shape


@pytest.mark.slow
@pytest.mark.parametrize(("first", "library"), [("import warp as wp", "warp"), ("from numba import cuda", "numba")])
def test_a_function_gets_the_tensors_that_its_reference_gets(first: str, library: str, tmp_path: Path) -> None:
    """wp.from_torch refused Warp's own array, so that three right functions of seven ended with an exception."""
    pytest.importorskip("torch")
    (tmp_path / "problem.py").write_text(f"{HEAD}def reference(x):\n    return x * 2\n{INPUTS}")
    (tmp_path / "solution.py").write_text(f"{first}\n\n\ndef solution(x):\n    return twice(x, x.numel())\n")
    words = FunctionWords("solution")
    kernel = kernel_with(tmp_path / "solution.py", Unclaimed("reference", words, reference=tmp_path / "problem.py"))
    used = kernel.written.libraries
    assert used is not None
    assert (used.arrays, used.language) == ("torch", library)
