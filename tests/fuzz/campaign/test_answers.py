"""A verdict on an answer: what it says, that it does not depend on names, and that what is not known is not kept."""

import json
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import kfuzz
from kfuzz.campaign import answers
from kfuzz.campaign.answers import EXIT_CODES, Judgement, JudgingTerms, limits_of, trials_of
from kfuzz.common.exit_codes import NOTHING_NEW
from kfuzz.common.time_limits import limited, time_limits
from kfuzz.devices import ClaimError, DeviceError
from kfuzz.devices.sandbox.box import why_not
from kfuzz.ui.commands.group import main
from kfuzz.ui.reports.judgements import as_dict

RIGHT = "import numpy as np\n\n\ndef f(x):\n    return x.sum(1, dtype=np.float32)\n"
WRONG = "import numpy as np\n\n\ndef f(x):\n    return x[:, :-1].sum(1) if x.shape[1] > 1 else x.sum(1)\n"
CUDA = (
    "__global__ void row_sum(const float *x, float *y, int rows, int cols) {\n"
    "    int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (row >= rows) return;\n"
    "    float sum = 0.0f;\n"
    "    for (int col = 0; col < cols; ++col) sum += x[row * cols + col];\n"
    "    y[row] = sum;\n"
    "}\n"
)
BUDGET = 5.0

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a sandbox")


def judge_text(folder: Path, text: str, name: str = "answer", seed: int = 3, budget: float = BUDGET) -> Judgement:
    path = folder / f"{name}.py"
    path.write_text(text)
    return kfuzz.judge_file(path, op="row_sum", budget=budget, seed=seed, device="cpu")


def outline(found: Judgement) -> object:
    """What must not depend on the machine's load."""
    return found.status, found.stage, found.kind, found.trials, found.rows, found.case_in_words


def test_a_right_answer_is_kept_at_all_stages(tmp_path: Path) -> None:
    found = judge_text(tmp_path, RIGHT)
    assert (found.status, found.exit_code, found.finding) == ("kept", NOTHING_NEW, "")
    assert found.stage == "properties"
    assert found.trials == found.planned
    assert found.rows > found.unjudged_rows
    assert found.sandbox.startswith("Landlock")


@pytest.mark.parametrize(("order", "status"), [("1", "kept"), ("1 - 2 * (os.urandom(1)[0] % 2)", "broken")])
def test_a_property_that_is_required_breaks_a_right_answer_without_it(tmp_path: Path, order: str, status: str) -> None:
    path = tmp_path / "answer.py"
    path.write_text(
        "import os\n\nimport numpy as np\n\n\ndef f(x):\n"
        f"    return x[:, ::{order}].cumsum(1, dtype=np.float32)[:, -1]\n"
    )
    found = kfuzz.judge_file(path, op="row_sum", budget=12.0, seed=3, device="cpu", require=("deterministic",))
    assert (found.status, found.properties["deterministic"]) == (status, status == "kept"), found
    assert ("not deterministic" in found.finding) == (status == "broken")


def test_a_property_that_no_one_knows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ClaimError, match="'fast' is no property; these are: absent_rows, batch_invariant"):
        kfuzz.judge_file(tmp_path / "answer.py", op="row_sum", require=["fast"])


def test_a_wrong_answer_is_broken_with_its_smallest_case_and_words_for_a_model(tmp_path: Path) -> None:
    found = judge_text(tmp_path, WRONG)
    assert (found.status, found.kind, found.exit_code) == ("broken", "numeric", 1)
    assert found.stage == "shapes right"
    assert found.case is not None
    assert found.got is not None
    assert found.want is not None
    x = found.case["x"]
    assert x.shape == (found.sizes["rows"], found.sizes["cols"])
    assert x.size <= 8
    right = float(x.astype(np.float64).sum(1)[found.at[0] if found.at else 0])
    assert found.want[0] <= right <= found.want[1]
    assert not found.want[0] <= found.got <= found.want[1]
    assert found.case_in_words in found.finding
    assert "every right computation gives" in found.finding


def test_the_verdict_depends_on_seed_and_op_and_not_on_the_name_or_text_of_the_file(tmp_path: Path) -> None:
    first = judge_text(tmp_path, WRONG)
    again = judge_text(tmp_path, f"{WRONG}\n\nUNUSED = 12345\n", "another_name")
    assert outline(first) == outline(again)
    right = [outline(judge_text(tmp_path, RIGHT, name)) for name in ("one", "two")]
    assert right[0] == right[1]
    assert outline(judge_text(tmp_path, RIGHT, seed=4)) != right[0]


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        (f"{RIGHT}\nraise ValueError('no')\n", "cannot run", "the file cannot be imported: ValueError: no"),
        (f"import no_such_package_of_kfuzz\n{RIGHT}", "cannot run", "no_such_package_of_kfuzz"),
        ("def f(\n", "cannot run", "answer.py"),
        ("(" * 100_000, "cannot run", ""),
        ("def f(x):\n    raise NotImplementedError('not for me')\n", "not judged", "not for me"),
        ("import os\ndef f(x):\n    os._exit(0)\n", "broken", "trap"),
        ("import os\ndef f(x):\n    for one in range(3, 64):\n        try:\n            os.write(one, b'x' * 64)\n"
         "        except OSError:\n            pass\n    return x.sum(1)\n", "misbehaved", "misbehaved"),
        ("import ctypes\ndef f(x):\n    ctypes.CDLL(None).ptrace(16, 1, 0, 0)\n    return x.sum(1)\n", "misbehaved",
         "a call of the system that its sandbox forbids"),
        ("import subprocess\ndef f(x):\n    subprocess.run(['true'])\n    return x.sum(1)\n", "cannot run",
         "its sandbox does not allow this"),
        ("def f(x):\n    try:\n        __import__('os').listdir('/')\n    except OSError as error:\n"
         "        raise ValueError from error\n    return x.sum(1)\n", "cannot run", "its sandbox does not allow this"),
        ("def f(x):\n    return x.sum(1) * float('nan')\n", "broken", "nan"),
        ("def f(x):\n    return x\n", "broken", "wrong-shape"),
    ],
)  # fmt: skip
def test_what_is_not_shown_to_be_right_is_not_kept(tmp_path: Path, text: str, status: str, words: str) -> None:
    found = judge_text(tmp_path, text)
    assert found.status == status, found
    assert words in found.finding
    assert found.exit_code == EXIT_CODES[found.status] != NOTHING_NEW


def test_an_answer_that_is_right_for_some_calls_and_then_wrong_is_broken(tmp_path: Path) -> None:
    bomb = "CALLS = []\n\n\ndef f(x):\n    CALLS.append(1)\n    return x.sum(1) * (len(CALLS) < 9)\n"
    assert judge_text(tmp_path, bomb).status == "broken"


def test_an_answer_that_never_returns_ends_within_its_budget(tmp_path: Path) -> None:
    found = judge_text(tmp_path, "import time\n\n\ndef f(x):\n    time.sleep(600)\n", budget=3.0)
    assert (found.status, found.kind) == ("broken", "hang")
    assert found.seconds < 30


def test_a_slow_answer_is_cut_short_and_the_judgement_says_so(tmp_path: Path) -> None:
    slow = "import time\n\n\ndef f(x):\n    time.sleep(0.4)\n    return x.sum(1)\n"
    found = judge_text(tmp_path, slow, budget=2.0)
    assert found.is_cut_short
    assert found.trials < found.planned
    assert found.status in ("kept", "not judged")


def test_the_budget_is_a_number_of_trials(tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    path.write_text(RIGHT)
    kernel = kfuzz.load(path, op="row_sum")
    assert [trials_of(kernel, seconds) for seconds in (0.1, 10.0, 100.0)] == [8, 20, 245]
    assert [limits_of(JudgingTerms(budget=one), now=0.0).call for one in (7.0, 30.0)] == [10.0, 30.0]


def test_an_answer_with_a_claim_of_its_own_chooses_no_op(tmp_path: Path) -> None:
    claimed = f'# /// kernel\n# op = "softmax"\n# ///\n{RIGHT}'
    found = judge_text(tmp_path, claimed)
    assert found.status == "cannot run"
    assert "it has a claim" in found.finding


def test_the_command_prints_json_and_exits_as_the_verdict_says(tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    for text, code in ((RIGHT, 0), (WRONG, 1), ("1 / 0\n", 2)):
        path.write_text(text)
        ran = CliRunner().invoke(main, ["judge", str(path), "--op", "row_sum", "--budget", "3", "--device", "cpu"])
        said = json.loads(ran.stdout)
        assert (ran.exit_code, said["exit_code"], said["schema"]) == (code, code, "kfuzz-judgement/1")
        json.dumps(said, allow_nan=False)


def test_json_has_arrays_and_no_number_that_json_lacks() -> None:
    found = Judgement("broken", "ran", case={"x": np.float32([[np.inf, 1.5]])}, got=float("nan"))
    said = json.loads(json.dumps(as_dict(found), allow_nan=False))
    assert said["case"]["x"] == {"dtype": "float32", "shape": [1, 2], "elements": ["inf", 1.5]}
    assert said["got"] == "nan"


def test_a_cu_file_without_a_claim_is_judged_in_the_sandbox(tmp_path: Path) -> None:
    path = tmp_path / "answer.cu"
    path.write_text(CUDA)
    found = kfuzz.judge_file(path, op="row_sum", budget=3.0, device="cpu")
    assert found.status == "kept", found


ONE_AFTER_ANOTHER = """
import time
import kfuzz
from kfuzz.common.time_limits import TimeLimits, limited

with limited(TimeLimits(until=time.monotonic() + 2.0)):
    kfuzz.judge_file("first.cu", op="row_sum", budget=1.0, device="cpu")
    time.sleep(max(0.0, kfuzz.common.time_limits.time_limits().left))
print(kfuzz.judge_file("second.cu", op="row_sum", budget=1.0, device="cpu").status)
"""


@pytest.mark.slow(4)
def test_the_end_of_the_time_of_one_answer_is_not_that_of_the_next(tmp_path: Path) -> None:
    """What compiles for both was started for the first, and kept its limits."""
    for name in ("first", "second"):
        (tmp_path / f"{name}.cu").write_text(f"{CUDA}// {name}\n")
    words = [sys.executable, "-c", ONE_AFTER_ANOTHER]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stdout == "kept\n", ran


def test_an_op_that_is_unknown_is_no_fault_of_the_answer(tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    path.write_text(RIGHT)
    for op, words in (("sofmax", "did you mean softmax"), ("no_such.py", "no such file"), ("softmax(x +", "op=")):
        with pytest.raises(ClaimError, match=words):
            kfuzz.judge_file(path, op=op)


def test_a_gpu_has_no_sandbox(tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    path.write_text(RIGHT)
    with pytest.raises(DeviceError, match="the gpu device has no sandbox"):
        kfuzz.judge_file(path, op="row_sum", device="gpu")


SLOW = """import sys
import time

import torch

AT_HOME = []


def reference(x):
    if sys.stdin.fileno() > 0 and x.shape == (8, 16):  # where its sets are made, and not where it is described
        AT_HOME.append(1)
        time.sleep(100 * (len(AT_HOME) > {most}))
    return torch.relu(x)


def get_inputs():
    return [torch.randn(8, 16)]
"""


@pytest.mark.slow(20)
@pytest.mark.parametrize(("most", "seconds", "status"), [(6, 60, "kept"), (0, 15, "not judged")])
def test_a_budget_that_ends_while_the_reference_runs_ends_the_trials_alone(
    most: int, seconds: float, status: str, tmp_path: Path
) -> None:
    """The answer was accused of nothing, but `cannot run: kfuzz itself failed: OracleError`."""
    pytest.importorskip("torch")
    problem, answer = tmp_path / "problem.py", tmp_path / "answer.py"
    problem.write_text(SLOW.replace("{most}", str(most)))
    answer.write_text("def f(x):\n    return x.clamp(min=0)\n")
    with limited(replace(time_limits(), until=time.monotonic() + seconds)):
        found = kfuzz.judge_file(answer, reference=f"{problem}:reference", budget=2.0, device="cpu")
    assert (found.status, found.is_cut_short) == (status, True), found
    assert bool(found.trials) == (status == "kept")
    assert "kfuzz itself" not in found.finding
    assert ("not judged: the reference was still running" in found.finding) == (status == "not judged")


RELU = "import torch\n\n\ndef reference(x):\n    return torch.relu(x)\n\n\ndef get_inputs():\n    return [{inputs}]\n"


@pytest.mark.slow(20)
@pytest.mark.parametrize(
    ("inputs", "answer", "status"),
    [
        ("torch.randn(8, 16)", "x * (x > 0)", "kept"),
        ("torch.randn(8, 16) / (torch.rand(8, 16) > 0.5)", "x * (x > 0)", "broken"),
        ("torch.randn(8, 16)", "x * (x > 1)", "broken"),
    ],
)
def test_an_infinity_that_the_problem_never_makes_decides_no_verdict(
    inputs: str, answer: str, status: str, tmp_path: Path
) -> None:
    """-inf * 0 is NaN, where torch.relu gives 0: right answers were suspect, and are no success then."""
    pytest.importorskip("torch")
    (tmp_path / "problem.py").write_text(RELU.replace("{inputs}", inputs))
    (tmp_path / "answer.py").write_text(f"def f(x):\n    return {answer}\n")
    found = kfuzz.judge_file(tmp_path / "answer.py", reference=f"{tmp_path}/problem.py:reference", budget=4.0, seed=3)
    assert found.status == status, found


HEAVY = """import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv3d(8, 32, 3)

    def forward(self, x):
        return torch.nn.functional.gelu(self.conv(x))


def get_inputs():
    return [torch.rand(64, 8, 32, 64, 64)]


def get_init_inputs():
    return []
"""


def test_a_problem_of_67_million_numbers_is_read_in_seconds(tmp_path: Path) -> None:
    """Its reference was tried with six million numbers, and then with all: the verdict came after 300 seconds."""
    pytest.importorskip("torch")
    (tmp_path / "problem.py").write_text(HEAVY)
    (tmp_path / "answer.py").write_text("class ModelNew:\n    def forward(self, x):\n        return x\n")
    with limited(replace(time_limits(), until=time.monotonic() + 60)):
        found = kfuzz.judge_file(tmp_path / "answer.py", reference=f"{tmp_path}/problem.py", budget=1.0)
    assert (found.status, found.kind) == ("broken", "wrong-shape"), found


def test_a_reference_that_does_not_end_gets_no_more_time_than_the_first_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was read for 300 seconds, before the budget began."""
    pytest.importorskip("torch")
    monkeypatch.setattr(answers, "COLD_START", 2.0)
    (tmp_path / "problem.py").write_text(RELU.replace("{inputs}", "time.sleep(1000)").replace("import", "import time,"))
    (tmp_path / "answer.py").write_text("def f(x):\n    return x\n")
    began = time.monotonic()
    found = kfuzz.judge_file(tmp_path / "answer.py", reference=f"{tmp_path}/problem.py:reference", budget=1.0)
    assert found.status == "cannot run"
    assert time.monotonic() - began < 30


KILLED = "import os\n\nimport numpy\n\n\ndef f(x):\n    os.kill(os.getpid(), 9)\n    return numpy.sum(x, 1)\n"


def test_a_process_that_the_system_kills_accuses_no_answer(tmp_path: Path) -> None:
    """Where memory was short, a right answer was broken by a trap: the system had killed its process."""
    (tmp_path / "answer.py").write_text(KILLED)
    found = kfuzz.judge_file(tmp_path / "answer.py", op="row_sum", budget=1.0)
    assert (found.status, found.kind) == ("not judged", None), found
    assert "want of memory" in found.finding


UNCOMPILED = """import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, value + {more}, mask=at < n)


def f(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=512)
    return torch.relu(x)
"""


@pytest.mark.slow(10)
@pytest.mark.parametrize(("more", "status"), [("tl.arange(0, 16)", "cannot run"), ("tl.arange(0, 512)", "kept")])
def test_a_kernel_that_does_not_compile_cannot_run_and_the_compiler_says_why(
    more: str, status: str, tmp_path: Path
) -> None:
    """It was `not judged: without a GPU triton does not run this`, though no GPU helps."""
    pytest.importorskip("triton")
    (tmp_path / "problem.py").write_text(RELU.replace("{inputs}", "torch.randn(8, 16)"))
    (tmp_path / "answer.py").write_text(UNCOMPILED.replace("{more}", more))
    found = kfuzz.judge_file(tmp_path / "answer.py", reference=f"{tmp_path}/problem.py:reference", budget=4.0)
    assert found.status == status, found
    assert ("triton does not compile this: ValueError" in found.finding) == (status == "cannot run"), found


MODEL = """import torch


class Model(torch.nn.Module):
    def forward(self, A, B):
        return {answer}


N = 4096


def get_inputs():
    return [torch.rand(N, N), torch.rand(N, N)]


def get_init_inputs():
    return []
"""
ANSWER = MODEL.replace("class Model", "class ModelNew").partition("N = 4096")[0]


@pytest.mark.slow(20)
@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        ("torch.matmul(A.reshape(4096, -1), B)[:4096]", "not judged", "it is written for N=4096, which is too large"),
        ("torch.matmul(A, B) + 4096", "broken", "numeric"),
        ("torch.matmul(A, B)", "kept", ""),
    ],
)
def test_an_answer_that_is_written_for_its_own_size_alone_is_not_accused_at_a_smaller_one(
    answer: str, status: str, words: str, tmp_path: Path
) -> None:
    """A loop to 4096 reads out of bounds of 256 columns: an answer that a GPU finds right at 4096 was broken."""
    pytest.importorskip("torch")
    (tmp_path / "problem.py").write_text(MODEL.format(answer="torch.matmul(A, B)"))
    (tmp_path / "answer.py").write_text(ANSWER.format(answer=answer))
    found = kfuzz.judge_file(tmp_path / "answer.py", reference=f"{tmp_path}/problem.py", budget=4.0)
    assert found.status == status, found
    assert words in found.finding
    assert (found.kind is None) == (status != "broken")


@pytest.mark.slow(20)
@pytest.mark.parametrize(
    ("right", "answer", "status"),
    [
        ("x.sum()", "x.sum()", "kept"),
        ("x.sum()", "x.sum().reshape(1)", "broken"),
        ("x.sum(1, keepdim=True)", "x.sum(1, keepdim=True)", "kept"),
        ("x.sum(1, keepdim=True)", "x.sum(1)", "broken"),
    ],
)
def test_a_problem_whose_own_test_compares_shapes_takes_no_other_shape(
    right: str, answer: str, status: str, tmp_path: Path
) -> None:
    """KernelBench refuses a loss of the shape [1] where the model returns a number; it was kept."""
    pytest.importorskip("torch")
    model = MODEL.replace("N, N), torch.rand(N, N)", "8, 16)").replace("A, B", "x")
    (tmp_path / "problem.py").write_text(model.format(answer=right))
    (tmp_path / "answer.py").write_text(ANSWER.replace("A, B", "x").format(answer=answer))
    found = kfuzz.judge_file(tmp_path / "answer.py", reference=f"{tmp_path}/problem.py", budget=2.0)
    assert (found.status, found.kind) == (status, "wrong-shape" if status == "broken" else None), found


TEMPLATE = """{include}
template <int TILE, int WIDE>
__global__ void multiply(const float *A, const float *B, float *C, int M, int N, int K) { C[0] = A[0]; }
extern "C" void solve(const float *A, const float *B, float *C, int M, int N, int K) {
  const int tile = 64;
  cudaMemset(C, 0, sizeof(float) * M * K);
  multiply<tile, 4><<<M, 32>>>(A, B, C, M, N, K);
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("include", "words"),
    [("#include <boost/none.hpp>", "it does not run: .*boost"), ("", r"the likeliest fails: y\[")],
)
def test_what_a_host_function_lacks_is_said_and_not_what_its_kernel_would_need(
    include: str, words: str, tmp_path: Path
) -> None:
    """`multiply is a template of several numbers` was said of a public file whose header was missing."""
    pytest.importorskip("torch")
    model = MODEL.replace("torch.rand(N, N), torch.rand(N, N)", "torch.rand(64, 96), torch.rand(96, 48)")
    (tmp_path / "problem.py").write_text(model.format(answer="A @ B"))
    (tmp_path / "answer.cu").write_text(TEMPLATE.replace("{include}", include))
    found = kfuzz.judge_file(tmp_path / "answer.cu", reference=f"{tmp_path}/problem.py", budget=2.0)
    assert found.status == "cannot run"
    assert re.search(words, found.finding), found.finding


@pytest.mark.slow(20)
@pytest.mark.parametrize(
    ("answer", "status"),
    [("A + B", "kept"), ("A - B", "broken"), ("A + B + (A.shape[0] != 4096)", "not judged")],
)
def test_an_answer_that_takes_too_much_at_home_is_tried_at_a_far_smaller_shape(
    answer: str, status: str, tmp_path: Path
) -> None:
    """A convolution in Triton took 4 GB for 131,072 numbers on a processor, and no trial had a verdict."""
    pytest.importorskip("torch")
    (tmp_path / "problem.py").write_text(MODEL.format(answer="A + B"))
    large = "        if A.numel() > 10000:\n            raise MemoryError\n        return "
    (tmp_path / "answer.py").write_text(ANSWER.format(answer=answer).replace("        return ", large))
    found = kfuzz.judge_file(tmp_path / "answer.py", reference=f"{tmp_path}/problem.py", budget=4.0)
    assert found.status == status, found
