"""Answers that mean harm, judged on the cpu device in their sandbox: what they do changes no verdict but their own."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from kfuzz.campaign.device import open_device
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.case import case_of
from kfuzz.claims.kernel import KERNELS, load
from kfuzz.devices import ClaimError, Device, Probe
from kfuzz.devices.sandbox.box import Sandboxed, sandboxed, why_not
from kfuzz.devices.worker.plain import MOST_TEXT
from kfuzz.measure.roundings.infer import Unclaimed
from kfuzz.ui.commands.options import sandbox_for

HOSTILE = Path(__file__).parents[4] / "tests" / "data" / "hostile"
MADE = Path("/tmp/kfuzz_has_escaped")  # noqa: S108  where the kernel makes it
X = np.linspace(-3, 3, 12, dtype=np.float32).reshape(3, 4)
RIGHT = "\ndef f(x):\n    return x.sum(1)\n"
ZEROS = "\ndef f(x):\n    return x.sum(1) * 0\n"
FIND_REPLIES = """
import gc, os, pickle
import numpy as np

class Payload:
    def __reduce__(self):
        return os.system, ("touch %s",)

def _forge(x):
    for one in gc.get_objects():
        if type(one).__name__ == "_Replies":
            head = %s
            os.write(one.number, one._mark + len(head).to_bytes(8, "little") + head + (0).to_bytes(8, "little"))
    return x.sum(1) * 0

def f(x):
    return _forge(x)
"""

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a sandbox")


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Device]:
    with sandboxed(Sandboxed((tmp_path / "answer.py",), (tmp_path / "problem.py",))):
        opened = open_device("cpu")
        yield opened
        opened.close()


def judge_text(folder: Path, text: str, device: Device) -> Trial:
    path = folder / "answer.py"
    path.write_text(f'# /// kernel\n# op = "row_sum"\n# ///\nimport numpy as np\n{text}')
    return run_trial(load(path), case_of("row_sum", {"x": X}), {}, device, Probe(runs=2))


def test_a_right_answer_is_kept_in_its_sandbox(tmp_path: Path, device: Device) -> None:
    found = judge_text(tmp_path, RIGHT, device)
    assert found.defects == ()
    assert found.elements == 3


def test_a_long_kernel_is_compiled_outside_of_its_sandbox(tmp_path: Path) -> None:
    text = (KERNELS / "softmax" / "three_pass_thread.cu").read_text()
    path = tmp_path / "answer.cu"
    path.write_text(text + "// and so on\n" * (MOST_TEXT // 10))
    with sandboxed(Sandboxed((path,))), closing(open_device("cpu")) as device:
        found = run_trial(load(path), case_of("softmax", {"x": X}), {"threads": 32}, device, Probe(runs=2))
    assert (found.defects, found.elements) == ((), X.size)


def test_torch_compile_leaves_a_function_as_it_is_and_starts_no_compiler(tmp_path: Path, device: Device) -> None:
    pytest.importorskip("torch")
    path, head = tmp_path / "answer.py", '# /// kernel\n# op = "row_sum"\n# ///\nimport torch\n\n\n'
    path.write_text(f"{head}@torch.compile\ndef f(x):\n    return x.sum(1)\n")
    found = run_trial(load(path), case_of("row_sum", {"x": X}), {}, device, Probe(runs=2))
    assert found.defects == ()
    assert found.elements == 3


def test_an_answer_reads_what_lies_beside_it_and_not_its_reference(tmp_path: Path, device: Device) -> None:
    (tmp_path / "beside.py").write_text("one = 1.0\n")
    (tmp_path / "problem.py").write_text("one = 1.0\n")
    assert judge_text(tmp_path, f"from beside import one\n{RIGHT}", device).defects == ()
    with pytest.raises(ClaimError, match=r"cannot be imported: .*Permission denied"):
        judge_text(tmp_path, f"from problem import one\n{RIGHT}", device)


def test_a_reference_that_is_named_with_its_function_is_hidden_too(tmp_path: Path) -> None:
    answer, problem = tmp_path / "answer.py", tmp_path / "problem.py"
    answer.write_text("def f(x):\n    return x\n")
    made = sandbox_for(True, "cpu", [str(answer)], Unclaimed(reference=Path(f"{problem}:f")), True)
    assert made == Sandboxed((answer,), (problem,))
    by_default = sandbox_for(None, "cpu", [str(answer)], Unclaimed(reference=Path(f"{problem}:f")), True)
    assert by_default == Sandboxed((answer,), (problem,), lends_reference=True)


def test_an_answer_has_no_variables_of_its_caller(
    tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_KFUZZ", "x")
    asks = "import os\nassert 'SECRET_OF_KFUZZ' not in os.environ\n"
    asks += "assert b'SECRET_OF_KFUZZ' not in open('/proc/self/environ', 'rb').read()\n"
    assert judge_text(tmp_path, asks + RIGHT, device).defects == ()


def test_patched_numpy_changes_no_verdict(tmp_path: Path, device: Device) -> None:
    patches = "np.allclose = np.array_equal = lambda *_, **__: True\nnp.testing.assert_allclose = lambda *_: None\n"
    assert [one.kind for one in judge_text(tmp_path, patches + ZEROS, device).errors] == ["numeric"]


@pytest.mark.parametrize(
    "head",
    [
        "pickle.dumps(Payload())",
        "b'[\"done\", {}, false]'",
        'b\'["done", {"runs": [{"circumstances": {}, "outputs": []}]}, false]\'',
        'b\'["done", {"findings": [{"kind": "no such kind", "message": ""}]}, false]\'',
        "b'[' * 100_000",
    ],
)
def test_a_forged_reply_runs_nothing_and_keeps_no_wrong_answer(head: str, tmp_path: Path, device: Device) -> None:
    made = tmp_path / "made"
    found = judge_text(tmp_path, FIND_REPLIES % (made, head), device)
    assert not made.exists()
    assert not found.elements or found.errors


def test_an_answer_that_prints_without_end_is_ended(tmp_path: Path, device: Device) -> None:
    prints = "\ndef f(x):\n    while True:\n        print('x' * 100_000)\n"
    found = judge_text(tmp_path, prints, device)
    assert [one.kind for one in found.errors] in (["exception"], ["trap"])


def test_memory_is_limited(tmp_path: Path, device: Device) -> None:
    fills = "\ndef f(x):\n    kept = [np.ones(1 << 28) for _ in range(64)]\n    return x.sum(1)\n"
    found = judge_text(tmp_path, fills, device)
    assert [one.kind for one in found.defects] == ["out-of-memory"]
    assert not found.elements


def test_a_library_that_attacks_as_it_is_loaded_can_do_nothing() -> None:
    path = HOSTILE / "attacks_as_it_is_loaded.cu"
    with sandboxed(Sandboxed((path,))), closing(open_device("cpu")) as device:
        found = run_trial(load(path), case_of("row_sum", {"x": X}), {}, device, Probe(check=True, runs=2))
    assert found.defects == ()
    assert found.elements == 3
    assert not MADE.exists()


INCLUDES = """
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..64", cols = "1..64" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// launch = [{ grid = "rows", block = "32" }]
// ///
#include "%s"
__global__ void row_sum(float *y, const float *x, int cols) {
    if (threadIdx.x) return;
    float sum = ZERO;
    for (int col = 0; col < cols; ++col) sum += x[blockIdx.x * cols + col];
    y[blockIdx.x] = sum;
}
"""


def test_the_compiler_reads_what_lies_beside_an_answer_and_no_file_elsewhere(tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    for folder in (mine, theirs):
        folder.mkdir()
        (folder / "secret.h").write_text("#define ZERO 0\n")
    answer = mine / "answer.cu"
    for include, is_read in (("secret.h", True), (str(theirs / "secret.h"), False)):
        answer.write_text(INCLUDES % include)
        with sandboxed(Sandboxed((answer,))), closing(open_device("cpu")) as device:
            if is_read:
                assert run_trial(load(answer), case_of("row_sum", {"x": X}), {}, device, Probe()).elements == 3
                continue
            with pytest.raises(ClaimError, match=r"secret\.h: Permission denied"):
                run_trial(load(answer), case_of("row_sum", {"x": X}), {}, device, Probe())


def test_without_a_sandbox_that_library_does_what_it_likes() -> None:
    """Else the test above could not fail."""
    path = HOSTILE / "attacks_as_it_is_loaded.cu"
    with closing(open_device("cpu")) as device:
        found = run_trial(load(path), case_of("row_sum", {"x": X}), {}, device, Probe(check=True, runs=2))
    assert found.errors
    MADE.unlink()


def test_an_answer_has_locks_and_a_folder_for_what_it_keeps(
    tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of Triton that locks its cache was refused: multiprocessing.Lock() raised a PermissionError."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    text = (
        "import multiprocessing, os, pathlib\n\nLOCK = multiprocessing.Lock()\n"
        "KEPT = pathlib.Path(os.environ['XDG_CACHE_HOME']) / 'mine'\nKEPT.mkdir(exist_ok=True)\n\n\ndef f(x):\n"
        "    with LOCK:\n        assert not LOCK.acquire(block=False)\n    return x.sum(1)\n"
    )
    trial = judge_text(tmp_path, text, device)
    assert not trial.defects, trial
    assert trial.elements
