"""Python callables: wrong ones are found and right ones are not, whatever they do besides computing."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from forked import run_forked
from paths import DATA
from wrong_twins import list_callables

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.case import case_of
from kfuzz.claims.kernel import Kernel, load
from kfuzz.claims.language.kernel_file import file_has_claim
from kfuzz.devices import ClaimError, MissingError, Probe, Refusal, UnsupportedError
from kfuzz.devices.python.device import PythonDevice

EXHIBITS = DATA / "callables"
NAMES = [path.stem for path in list_callables(EXHIBITS)]
WRONG = [name for name in NAMES if name.startswith("wrong_")]
RIGHT = [name for name in NAMES if not name.startswith("wrong_")]
TRIALS = 24
PATIENT = 400
"""Trials for what is wrong by chance: 24 miss one call in 85 one time in seven, so many less than once in a million."""


@pytest.fixture(scope="module")
def device() -> Iterator[PythonDevice]:
    opened = PythonDevice()
    yield opened
    opened.close()


def trials(kernel: Kernel, device: PythonDevice, count: int = TRIALS) -> Iterator[Trial]:
    for index in range(count):
        attempt = attempt_of(kernel, 5, index)
        yield run_trial(kernel, attempt.case, attempt.tune, device, probe_of(kernel, 5, index, 3, 3.0))


@contextmanager
def skipped_if_missing() -> Iterator[None]:
    """Skip the test where a library is not installed, or does not work in this environment."""
    try:
        yield
    except MissingError as error:
        pytest.skip(str(error))


def possible_trials(kernel: Kernel, device: PythonDevice, count: int = TRIALS) -> list[Trial]:
    with skipped_if_missing():
        return list(trials(kernel, device, count))


def write_callable(folder: Path, text: str, claim: str = 'op = "row_sum"') -> Path:
    path = folder / "mine.py"
    lines = "\n".join(f"# {line}" for line in claim.split("\n"))
    path.write_text(f"# /// kernel\n{lines}\n# ///\n{text}")
    return path


def kfuzz(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_forked("kfuzz", *words, cwd=cwd)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_callable_is_found_as_what_it_is(name: str, device: PythonDevice) -> None:
    kernel = load(EXHIBITS / f"{name}.py")
    assert kernel.broken
    found = set[str]()
    for trial in trials(kernel, device, PATIENT if "at_random" in name else TRIALS):
        found |= {defect.kind for defect in trial.defects}
        if kernel.broken.kind in found:
            return
    pytest.fail(f"{name}: {kernel.broken.kind} wanted, found {found or 'nothing'}")


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_callable_is_not_accused(name: str, device: PythonDevice) -> None:
    kernel = load(EXHIBITS / f"{name}.py")
    found = list(trials(kernel, device))
    assert [defect.bucket for trial in found for defect in trial.defects] == []
    assert sum(trial.elements for trial in found) > 50


@pytest.mark.slow
def test_a_cache_that_forgets_nothing_is_one_bug(device: PythonDevice) -> None:
    kernel = load(EXHIBITS / "wrong_cache_by_address.py")
    buckets = {defect.bucket for trial in trials(kernel, device) for defect in trial.errors}
    assert buckets == {"wrong_cache_by_address: stale"}


def test_an_answer_that_is_wrong_for_the_earlier_input_as_well_is_not_stale(device: PythonDevice) -> None:
    """A division by a wrong constant was called stale where the weights are 0: the bias alone is the answer."""
    kernel = load(EXHIBITS / "wrong_for_all_inputs_alike.py")
    kinds = {defect.kind for trial in trials(kernel, device) for defect in trial.defects}
    assert kinds >= {"numeric"}
    assert "stale" not in kinds


@pytest.mark.slow
def test_a_refusal_is_reported_with_its_line(device: PythonDevice) -> None:
    kernel = load(EXHIBITS / "refuses_what_it_cannot.py")
    reasons = {reason for trial in trials(kernel, device, 100) for reason in trial.reasons}
    assert Refusal("ValueError: 5 columns are not for this", 9) in reasons


@pytest.mark.parametrize(
    ("text", "claim", "reported"),
    [
        ("def f(x: return", 'op = "row_sum"', "mine.py:4: is no Python: "),
        ("def f(x): ...\ndef g(x): ...", 'op = "row_sum"', "call.entry: missing: it has f, g; say which is meant"),
        ("_f = 1", 'op = "row_sum"', "call.entry: missing, and the file has no public function"),
        ("def f(x): ...", 'op = "row_sum"\ncall = { entry = "h" }', 'call.entry = "h": no such function in the file'),
        ("def f(x, k): ...", 'op = "row_sum"', 'call.args: missing: f also takes "k"'),
        ("def f(x): ...", 'op = "row_sum"\ncall = { args = ["x", "z"] }', "'z' is no array, no size and no literal"),
        ("def f(x): ...", 'op = "row_sum"\ncall = { args = ["x", 3] }', "f takes (x)"),
        ("def f(x): ...", 'op = "row_sum"\nlaunch = []', "no CUDA in its strings: [host] and [[launch]] are"),
        ("def f(x): ...", 'op = "row_sum"\nwarp_synchronous = true', "this is of CUDA; [call] is of a Python function"),
        ("def f(x): ...", 'op = "row_sum"\ncall = { strides = "all" }', "one of contiguous, any is expected"),
        ("def f(x): ...", 'op = "row_sum"\ncall = { given = { k = 3 } }', "f takes (x), no k"),
    ],
)
def test_a_mistake_in_a_claim_is_one_line(text: str, claim: str, reported: str, tmp_path: Path) -> None:
    with pytest.raises(ClaimError) as error:
        load(write_callable(tmp_path, text, claim))
    assert reported in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_imported_is_a_line_with_its_line(tmp_path: Path, device: PythonDevice) -> None:
    kernel = load(write_callable(tmp_path, "import nothing_of_this_name\ndef f(x): ...\n"))
    with pytest.raises(ClaimError, match=r"mine.py:4: the file cannot be imported: ModuleNotFoundError: No module"):
        list(trials(kernel, device, 1))


def test_parameters_are_the_inputs_an_output_a_dimension_and_what_is_given(tmp_path: Path) -> None:
    text = "def f(a, out, dim, eps): ..."
    kernel = load(write_callable(tmp_path, text, 'op = "row_sum"\ncall = { given = { eps = 1e-5 } }'))
    assert [str(one) for one in kernel.entries] == ["f(x, y, dim=dim, eps=1e-05)"]
    assert kernel.launches[0].returns == ()


def test_a_worker_of_kfuzz_that_starts_in_a_call_is_no_thread_of_the_call(tmp_path: Path, device: PythonDevice) -> None:
    """The first call with CUDA in its strings starts one; each such file, however right, was warned of `_read`."""
    text = "import os\nfrom kfuzz.devices.worker.printed import PrintedText\ndef row_sum(x):\n"
    text += "    printed = PrintedText()\n    os.dup(printed.end)\n    printed.begin()\n    return x.sum(-1)\n"
    found = list(trials(load(write_callable(tmp_path, text)), device, 2))
    assert [defect.message for trial in found for defect in trial.defects] == []


SOFTMAX = "    e = np.exp(x - x.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)\n"
FORMS = {
    "an object": f"class One:\n  def __call__(self, x):\n{SOFTMAX}\nforward = One()\n",
    "a lambda": "forward = lambda x: np.exp(x - x.max(-1, keepdims=True)) / "
    "np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)\n",
    "a partial": f"import functools\ndef _of(x, k):\n{SOFTMAX}\nforward = functools.partial(_of, k=1)\n",
    "by name alone": f"def forward(*, x, dim=-1):\n{SOFTMAX}",
    "a dict": f"def _of(x):\n{SOFTMAX}\ndef forward(x):\n    return {{'more': 1, 'y': _of(x)}}\n",
    "a dict of other names": f"def _of(x):\n{SOFTMAX}\ndef forward(x):\n    return {{'out': _of(x)}}\n",
    "whatever it is handed": f"def forward(**all):\n    x = all['x']\n{SOFTMAX}",
    "a private name": f"def _softmax_kernel_impl(x, dim=-1):\n{SOFTMAX}",
    "types of a task": f"from task import input_t, output_t\ndef custom_kernel(x: input_t) -> output_t:\n{SOFTMAX}",
    "a view": f"def _of(x):\n{SOFTMAX}\ndef forward(x):\n    return _of(x[:, ::-1])[:, ::-1]\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_right_callable_in_an_unusual_form_is_kept(form: str, tmp_path: Path, device: PythonDevice) -> None:
    found = list(
        trials(load(write_callable(tmp_path, f"import numpy as np\n{FORMS[form]}", 'op = "softmax"')), device, 4)
    )
    assert [defect.bucket for trial in found for defect in trial.defects] == []
    assert sum(trial.elements for trial in found) > 20


def test_a_claim_in_python_is_above_the_code(tmp_path: Path) -> None:
    assert file_has_claim(write_callable(tmp_path, "def f(x): ..."))
    inside = tmp_path / "inside.py"
    inside.write_text('import os\nTEXT = """\n# /// kernel\n# ///\n"""\n')
    assert not file_has_claim(inside)


@pytest.mark.soak
def test_a_callable_in_a_module_is_fuzzed_replayed_made_smaller_and_reproduced(tmp_path: Path) -> None:
    package = tmp_path / "mypkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "sums.py").write_text("def forward(x, dim):\n    return x[:, : max(1, x.shape[1] - 1)].sum(dim)\n")
    words = ("--op", "row_sum", "--device", "cpu")
    found = kfuzz("fuzz", "mypkg.sums:forward", *words, "--max-cases", "12", "--seed", "1", "--jobs", "1", cwd=tmp_path)
    assert found.returncode == 1, found.stderr
    assert 'args    = ["x", "dim=dim"]' in found.stderr
    assert "BROKEN  mypkg.sums:forward: numeric" in found.stdout
    case = next(tmp_path.glob("tests/corpus/row_sum/*.json"))
    named = ("--kernel", "mypkg.sums:forward")
    smaller = kfuzz("minimize", str(case), *named, *words, "--repro", "repro.py", cwd=tmp_path)
    assert smaller.returncode == 0, smaller.stderr
    assert "rows=1 cols=2" in smaller.stdout
    again = kfuzz("replay", *named, *words, cwd=tmp_path)
    assert again.returncode == 1, again.stderr
    script = subprocess.run([sys.executable, "repro.py"], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert script.returncode == 1, script.stderr
    assert "BROKEN  mypkg.sums:forward" in script.stdout


EVERY = sorted(
    path.relative_to(EXHIBITS).as_posix()
    for folder in EXHIBITS.iterdir()
    if folder.is_dir() and folder.name != "narrow"
    for path in list_callables(folder)
)
"""Those of narrow types have a test of their own: test_narrow_callables.py."""
OF_LIBRARIES = [name for name in EVERY if not name.startswith("gpu/")]
RIGHT_ON_GPU = ("torch/wrong_softmax_of_columns", "torch/wrong_log_softmax")
"""What torch does wrong on a CPU alone."""
COMPILED = ("triton/", "numba/", "cute/", "tilelang/", "warp/", "compiled/", "helion/", "pallas/")
"""Their kernels are compiled for each size, and the cpu device runs them."""
ON_GPU = [name for name in EVERY if not name.startswith(tuple(f"{one}wrong_" for one in COMPILED))]


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_LIBRARIES)
def test_a_callable_of_another_library_is_judged_as_numpys_are(name: str, device: PythonDevice) -> None:
    kernel = load(EXHIBITS / name)
    found = possible_trials(kernel, device, 8 if name.startswith(COMPILED) else TRIALS)
    refusals = [reason.words for trial in found for reason in trial.reasons if isinstance(reason, Refusal)]
    if any("Block pointers have been removed" in words for words in refusals):
        pytest.skip("this version of triton has no block pointers")
    kinds = {defect.kind for trial in found for defect in trial.errors}
    assert sum(trial.elements for trial in found) > 20
    assert kernel.broken.kind in kinds if kernel.broken else not kinds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "x", "reported"),
    [
        ("torch/wrong_softmax_of_columns_bf16.py", [[-0.04248046875, -1.234375]], "y[0, 1] is 0.232421875"),
        ("torch/softmax_of_rows_bf16.py", [[-0.04248046875, -1.234375]], ""),
        ("torch/wrong_log_softmax_bf16.py", [[0.0, -6.0]], "y[0, 0] is 0 "),
        ("jax/wrong_softmax_f16.py", [[0.0] * 65520], "all zero"),
        ("jax/wrong_softmax_bf16.py", [[0.4765625, 12.625]], "y[0, 0] is 5.42402267e-06"),
    ],
)
def test_a_defect_of_a_library_shows_with_its_smallest_input(
    name: str, x: list[list[float]], reported: str, device: PythonDevice
) -> None:
    kernel = load(EXHIBITS / name)
    with skipped_if_missing():
        found = run_trial(kernel, case_of(kernel.op, {"x": np.float32(x)}), {}, device, Probe()).errors
    assert reported in found[0].message if reported else not found


@pytest.fixture(scope="module")
def on_gpu() -> Iterator[PythonDevice]:
    opened = PythonDevice("gpu")
    yield opened
    opened.close()


@pytest.mark.gpu
@pytest.mark.parametrize("name", ON_GPU)
def test_a_callable_on_a_gpu_is_judged_as_one_on_a_cpu(name: str, on_gpu: PythonDevice) -> None:
    kernel = load(EXHIBITS / name)
    found = possible_trials(kernel, on_gpu)
    kinds = {defect.kind for trial in found for defect in trial.errors}
    reported = [defect.message for trial in found for defect in trial.errors]
    assert sum(trial.elements for trial in found) > 20 or kinds
    is_wrong = kernel.broken is not None and not name.startswith(RIGHT_ON_GPU)
    assert kernel.broken.kind in kinds if is_wrong else not kinds, reported[:3]


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("x", "reported"),
    [
        ([9.2e18, -9.2e18], ""),
        ([9.3e18, -9.3e18], "y[0, 0] is 0 "),
        ([9.3e18, -9.3e18, 0.0, 0.0], ""),
        ([-np.inf, 1.0, 1.0], "y[0, 1] is nan "),
        ([-np.inf, 1.0, 1.0, 1.0], ""),
    ],
)
def test_torchs_rms_norm_of_a_gpu_is_lost_in_a_row_whose_differences_overflow(
    x: list[float], reported: str, on_gpu: PythonDevice
) -> None:
    case = case_of("rms_norm", {"x": np.float32([x]), "w": np.ones(len(x), np.float32)})
    with skipped_if_missing():
        found = run_trial(load(EXHIBITS / "gpu" / "wrong_torch_rms_norm.py"), case, {}, on_gpu, Probe()).errors
    assert reported in found[0].message if reported else not found


@pytest.mark.gpu
def test_a_fault_on_a_gpu_costs_one_trial(on_gpu: PythonDevice) -> None:
    kernel = load(EXHIBITS / "gpu" / "wrong_cupy_illegal_address.py")
    kinds = [[defect.kind for defect in trial.errors] for trial in possible_trials(kernel, on_gpu, 12)]
    assert ["illegal-address"] in kinds
    assert [] in kinds[kinds.index(["illegal-address"]) :]


def test_a_library_of_gpus_is_left_out_without_one(device: PythonDevice) -> None:
    pytest.importorskip("cupy")
    with pytest.raises(UnsupportedError, match="cupy needs a GPU"):
        list(trials(load(EXHIBITS / "gpu" / "cupy_softmax.py"), device, 1))
