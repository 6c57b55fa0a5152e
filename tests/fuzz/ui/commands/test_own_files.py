"""`kfuzz fuzz` without a TARGET, or with a file that has no claim, takes your files and says which."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from paths import DATA, ROOT

from kfuzz.claims.kernel import KERNELS
from kfuzz.common.errors import TargetError
from kfuzz.ui.commands.group import main
from kfuzz.ui.commands.own_files import leave_out, own_targets, passed_over
from kfuzz.ui.targets.project import Kernels

PROGRAM = """__global__ void twice(float *y, const float *x, int n) {
  int i = threadIdx.x;
  if (i <= n) y[i] = 2 * x[i];
}
int main() {
  float *x, *y;
  cudaMalloc(&x, 400);
  cudaMalloc(&y, 400);
  cudaMemset(x, 0, 400);
  twice<<<1, 128>>>(y, x, 100);
  return cudaDeviceSynchronize();
}
"""
CLAIMED = (KERNELS / "reduce" / "block_sum.cu").read_text()

BARE = re.sub(r"// /// kernel\n.*?// ///\n", "", CLAIMED, flags=re.DOTALL)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fuzz(*words: str) -> Result:
    return CliRunner().invoke(main, ["fuzz", *words])


def test_a_folder_of_cuda_without_claims_is_not_passed_over(folder: Path) -> None:
    """kfuzz fuzzed its own kernels beside the user's, and said that nothing was broken."""
    (folder / "mine.cu").write_text(PROGRAM)
    done = fuzz("--device", "cpu", "--max-cases", "1")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "mine.cu: no claim, and this folder has no settings; kfuzz init finds a claim for each, "
        "and kfuzz fuzz FILE guesses one\n"
    )


def test_the_claimed_kernels_of_the_folder_are_taken_and_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert own_targets(folder) == ()
    (folder / "sum.cu").write_text(CLAIMED)
    for number in range(8):
        (folder / f"raw{number}.cu").write_text(PROGRAM)
    (folder / "bare.cu").write_text(BARE)
    (folder / "twice.py").write_text("import triton\n\n\n@triton.jit\ndef twice(x): ...\n")
    (folder / "plain.py").write_text("def main(): ...\n")
    assert own_targets(Path()) == ("sum.cu",)
    assert capsys.readouterr().err == "kernels of this folder: sum.cu\n"
    kernels = leave_out(passed_over((".",)), Kernels((), {}), is_strict=False)
    said = capsys.readouterr().err
    assert said.startswith("not tested, programs with a main: raw0.cu, ")
    assert "and 2 more (kfuzz check" in said
    assert "\nNOT TESTED, without a claim: bare.cu, twice.py (kfuzz claim FILE" in said
    assert kernels.faults == {}
    assert [*leave_out(passed_over((".",)), kernels, is_strict=True).faults] == [Path("bare.cu"), Path("twice.py")]
    assert own_targets(ROOT) == ()


def test_files_that_have_no_claim_end_the_search_for_one(folder: Path) -> None:
    (folder / "raw.cu").write_text(PROGRAM)
    with pytest.raises(TargetError, match="kfuzz init"):
        own_targets(folder)


@pytest.mark.slow
def test_a_program_is_run_as_kfuzz_check_does(folder: Path) -> None:
    (folder / "prog.cu").write_text(PROGRAM)
    done = fuzz("prog.cu", "--seed", "3", "--max-cases", "9", "--json", "r.json")
    assert done.exit_code == 1, done.output
    assert done.stderr.startswith(
        "prog.cu: a program with a main and no claim, so this is kfuzz check, without --max-cases\n"
    )
    assert "thread 100 reads x[100]; x has 100 " in done.stdout
    assert json.loads((folder / "r.json").read_text())["seed"] == 3


def test_an_extension_whose_names_give_no_op_gets_the_command_to_type(folder: Path) -> None:
    text = (DATA / "extensions" / "softmax_rows.cu").read_text().partition("// ///\n")[2]
    (folder / "a.cu").write_text(text.replace("softmax", "thing"))
    done = fuzz("a.cu")
    assert done.exit_code == 2
    start = (
        "a.cu: a PyTorch extension without a claim; say what it computes: kfuzz fuzz a.cu --op OP; kfuzz op lists all"
    )
    assert done.stderr.startswith(start)


@pytest.mark.parametrize("op", [(), ("--op", "x + r")])
def test_a_file_that_was_cut_off_is_named_with_its_line(op: tuple[str, ...], folder: Path) -> None:
    (folder / "cut.cu").write_text(
        "__global__ void thing(const float *x, float *y, int n) {\n  if (n) {\n    y[0] = x["
    )
    done = fuzz("cut.cu", *op)
    assert done.exit_code == 2
    assert done.stderr.startswith("cut.cu:2: this { is never closed: is the end of the file missing?\ncut.cu: ")
    assert op == () or "give an expression of ops: --op 'gelu_tanh(x + bias)'" in done.stderr


def test_options_for_files_without_a_claim_have_no_effect_on_a_claim(folder: Path) -> None:
    """--op sofmax on a softmax kernel was passed over without a word."""
    (folder / "sum.cu").write_text(CLAIMED)
    done = fuzz("sum.cu", "--op", "softmax", "--device", "cpu", "--max-cases", "1")
    assert "sum.cu: it has a claim, which kfuzz uses; --op softmax is for files without one\n" in done.stderr
    assert done.exit_code == 0


@pytest.mark.slow
def test_a_kernel_without_a_claim_below_the_settings_kernels_is_named_and_fails_with_strict(folder: Path) -> None:
    """Two of three files were broken, and the CI that kfuzz init writes passed without a word of them."""
    (folder / "src").mkdir()
    (folder / "src" / "sum.cu").write_text(CLAIMED)
    (folder / "src" / "helpers.cu").write_text("int half(int n) { return n / 2; }\n")
    (folder / "kfuzz.toml").write_text('kernels = ["src"]\n')
    few = ("--device", "cpu", "--max-cases", "2", "--seed", "1", "--jobs", "1")
    assert fuzz("--strict", *few).exit_code == 0
    (folder / "src" / "raw.cu").write_text(BARE)
    named = fuzz(*few)
    assert (named.exit_code, "NOT TESTED, without a claim: src/raw.cu" in named.stderr) == (0, True), named.output
    strict = fuzz("--strict", *few, "--json", "r.json")
    assert strict.exit_code == 2, strict.output
    assert "src/raw.cu: no claim, so it is not tested: kfuzz claim src/raw.cu finds one" in strict.stderr
    assert json.loads((folder / "r.json").read_text())["unusable_files"] == ["src/raw.cu"]
    (folder / "kfuzz.toml").unlink()
    assert fuzz("--strict", *few).exit_code == 2


@pytest.mark.slow
def test_each_of_several_files_without_a_claim_is_guessed(folder: Path) -> None:
    """`no front matter` was all that two of them gave, and either alone was guessed."""
    (folder / "row_sum.cu").write_text(BARE)
    (folder / "blur.cu").write_text(BARE.replace("row_sum", "blur").replace("block_sum", "blur"))
    (folder / "sum.cu").write_text(CLAIMED)
    done = fuzz("row_sum.cu", "sum.cu", "blur.cu", "--device", "cpu", "--max-cases", "4", "--seed", "1", "--jobs", "1")
    assert "row_sum.cu: CUDA without a claim; its names say row_sum, so this is --op row_sum\n" in done.stderr
    assert "blur.cu: CUDA without a claim; say what it computes: kfuzz fuzz blur.cu --op OP" in done.stderr
    assert "fuzzing 2 kernels" in done.stdout
    assert done.exit_code == 2


@pytest.mark.slow
def test_the_op_of_an_extension_among_several_files_is_a_guess_that_trials_test(folder: Path) -> None:
    """Its names say row_max, and it adds: its claim was taken from the text alone, and it was accused."""
    text = (DATA / "extensions" / "accessor_row_sum.cu").read_text().replace("row_sum", "row_max")
    (folder / "row_max.cu").write_text(re.sub(r"// /// kernel\n.*?// ///\n", "", text, flags=re.DOTALL))
    (folder / "sum.cu").write_text(CLAIMED)
    done = fuzz("row_max.cu", "sum.cu", "--device", "cpu", "--max-cases", "4", "--seed", "1", "--jobs", "1")
    assert "row_max.cu: no guess of how it computes row_max is kept" in done.stderr
    assert (done.exit_code, "BROKEN" in done.stdout) == (2, False), done.output
