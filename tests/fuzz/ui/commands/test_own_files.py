"""`kfuzz fuzz` without a TARGET, or with a file that has no claim, takes your files and says which."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from paths import DATA, ROOT

from kfuzz.claims.kernel import KERNELS
from kfuzz.common.errors import TargetError
from kfuzz.ui.commands.group import main
from kfuzz.ui.commands.own_files import own_targets

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
        "kfuzz fuzz FILE takes one file\n"
    )


def test_the_claimed_kernels_of_the_folder_are_taken_and_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert own_targets(folder) == ()
    (folder / "sum.cu").write_text(CLAIMED)
    for number in range(8):
        (folder / f"raw{number}.cu").write_text(PROGRAM)
    assert own_targets(Path()) == ("sum.cu",)
    said = capsys.readouterr().err
    assert said.startswith("kernels of this folder: sum.cu; without a claim: raw0.cu, ")
    assert "and 2 more (kfuzz init" in said
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


def test_options_for_files_without_a_claim_have_no_effect_on_a_claim(folder: Path) -> None:
    """--op sofmax on a softmax kernel was passed over without a word."""
    (folder / "sum.cu").write_text(CLAIMED)
    done = fuzz("sum.cu", "--op", "softmax", "--device", "cpu", "--max-cases", "1")
    assert "sum.cu: it has a claim, which kfuzz uses; --op softmax is for files without one\n" in done.stderr
    assert done.exit_code == 0
