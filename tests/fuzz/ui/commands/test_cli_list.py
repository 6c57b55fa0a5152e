"""`kfuzz list`, `kfuzz show`, `kfuzz doctor`: what they print, on which stream, and their exit codes."""

import io
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from known_runtime import make_cache
from rich.console import Console
from seldom import one_in

from kfuzz.claims.kernel import KERNELS, kernel_files, load, name_of
from kfuzz.claims.language.front_matter import text_of
from kfuzz.common.errors import TargetError
from kfuzz.devices import ClaimError, Device, DeviceError, Finding, Job, Outcome, Probe
from kfuzz.oracle import op_names
from kfuzz.ui.commands.doctor import Check, try_device
from kfuzz.ui.commands.group import Commands, main
from kfuzz.ui.reports import listing
from kfuzz.ui.reports.listing import as_json, as_markdown, first_sentence, read_folder, size_text
from kfuzz.ui.targets.targets import find_files, find_one


@pytest.fixture(autouse=True)
def nothing_was_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path / "cache"))


def kfuzz(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_list_has_a_line_for_every_kernel() -> None:
    result = kfuzz("list")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split()[:3] == ["kernel", "op", "sizes"]
    assert [line.split()[0] for line in lines[1:]] == [name_of(path) for path in kernel_files()]


def test_on_a_terminal_of_80_columns_every_kernel_has_one_line() -> None:
    kernels, _ = listing.read_folder()
    screen = Console(file=io.StringIO(), width=80)
    with screen.capture() as shown:
        screen.print(listing.as_table(kernels, 80))
    assert [line.split()[0] for line in shown.get().splitlines()] == ["kernel", *(one.name for one in kernels)]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["gemv"], "gemv"),
        (["broken/*barrier*"], "^broken/.*barrier"),
        (["online_warp", "row_sum"], "online_warp|row_sum"),
    ],
)
def test_list_shows_the_kernels_that_a_pattern_names(patterns: list[str], expected: str) -> None:
    shown = json.loads(kfuzz("list", *patterns, "--json").stdout)
    assert 0 < len(shown) < len(kernel_files()) / 2
    assert all(re.search(expected, one["name"]) or one["op"] in patterns for one in shown)


def test_list_shows_a_file_of_your_own_and_a_wrong_word_is_a_proposal(tmp_path: Path) -> None:
    mine = tmp_path / "mine.cu"
    mine.write_text(text_of(KERNELS / "softmax" / "online_warp.cu"))
    assert [one["name"] for one in json.loads(kfuzz("list", str(mine), "--json").stdout)] == ["mine"]
    wrong = kfuzz("list", "onlin_block")
    assert wrong.exit_code == 2
    assert "did you mean softmax/online_block?" in wrong.stderr


def test_list_as_json_is_what_the_files_say() -> None:
    result = kfuzz("list", "--json")
    assert result.exit_code == 0
    found = {entry["name"]: entry for entry in json.loads(result.stdout)}
    assert list(found) == [name_of(path) for path in kernel_files()]
    assert found["softmax/online_block"] == {
        "name": "softmax/online_block",
        "op": "softmax",
        "path": found["softmax/online_block"]["path"],
        "broken": None,
        "axes": {
            "rows": {"min": 1, "max": 2**31 - 1, "multiple": 1, "listed": []},
            "cols": {"min": 1, "max": 2**30, "multiple": 1, "listed": []},
        },
        "where": [],
        "tune": {"threads": [32, 64, 128, 256, 512, 1024]},
        "last_run": None,
    }
    assert Path(found["softmax/online_block"]["path"]).name == "online_block.cu"
    assert found["broken/missing_barrier"]["broken"]["kind"] == "race"


@pytest.mark.soak
def test_list_says_how_often_a_kernel_was_run_last_time(tmp_path: Path) -> None:
    fuzz = ("fuzz", "--device", "cpu", "--jobs", "1", "--seed", "1", "--corpus", str(tmp_path), "transpose/naive")
    assert kfuzz(*fuzz, "broken/leading_neg_inf", "--max-cases", "60").exit_code == 1
    assert kfuzz(*fuzz, "--max-cases", "5").exit_code == 0
    today = datetime.now(UTC).date().isoformat()
    table = {line.split()[0]: line for line in kfuzz("list").stdout.splitlines()}
    assert f"5 trials, cpu, {today}" in table["transpose/naive"]
    assert re.search(f"30 trials, cpu, {today}, [1-9][0-9]* finding", table["broken/leading_neg_inf"])
    assert table["transpose/tiled"].rstrip().endswith("never")
    noted = {entry["name"]: entry["last_run"] for entry in json.loads(kfuzz("list", "--json").stdout)}
    assert noted["transpose/naive"]["trials"] == 5
    assert noted["transpose/tiled"] is None


@pytest.mark.soak
def test_an_edit_since_the_last_run_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_text((KERNELS / "transpose" / "naive.cu").read_text())
    assert kfuzz("fuzz", str(path), "--device", "cpu", "--jobs", "1", "--max-cases", "3").exit_code == 0
    assert listing.run_text(load(path)).startswith("3 trials, cpu")
    path.write_text("// Edited.\n" + path.read_text())
    assert listing.run_text(load(path)).endswith(", edited since")


def test_a_kernel_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "good.cu").write_text((KERNELS / "transpose" / "naive.cu").read_text())
    (tmp_path / "bad.cu").write_text("int x;")
    kernels, errors = read_folder(tmp_path)
    assert [kernel.name for kernel in kernels] == ["good"]
    assert [type(error) for error in errors] == [ClaimError]
    assert "bad.cu:1: no front matter" in str(errors[0])


def test_show_prints_the_prose_and_the_whole_claim() -> None:
    result = kfuzz("show", "softmax/online_block")
    assert result.exit_code == 0
    kernel = load(KERNELS / "softmax" / "online_block.cu")
    assert kernel.prose in result.stdout
    for said in ("rows         1 to 2^31-1", "any of 32,64,128", "f32[rows, cols] -> x", "softmax_online_block"):
        assert said in result.stdout
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize("path", one_in(7, kernel_files()), ids=map(name_of, kernel_files()))
def test_show_knows_every_kernel(path: Path) -> None:
    result = kfuzz("show", name_of(path))
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{name_of(path)}  ")


def test_show_says_what_is_wrong_with_a_broken_kernel() -> None:
    assert "kind         race" in kfuzz("show", "broken/missing_barrier").stdout


def test_show_prints_the_edit_and_the_whole_text_of_an_exhibit() -> None:
    shown = kfuzz("show", "broken/missing_barrier").stdout
    assert "edit of online_block.cu:\n-    __syncthreads();  // every thread has read the maximum" in shown
    assert "// Wrong on purpose: softmax/online_block with 1 edit (missing_barrier.toml). Thread 0 may write" in shown
    assert shown.endswith(text_of(KERNELS / "broken" / "missing_barrier.cu"))
    assert "edit of" not in kfuzz("show", "softmax/online_block").stdout


def test_a_template_is_printed_for_the_op_that_is_named() -> None:
    assert '// op     = "softmax"' in kfuzz("show", "--template").stdout
    assert '// op     = "transpose"' in kfuzz("show", "--template", "transpose").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "softmax/onlin_block"], "of that name, did you mean softmax/online_block?"),
        (["show", "softmax/*"], "softmax/*: stands for "),
        (["show"], "name a KERNEL or a CASE, or give --template"),
        (["show", "--template", "sofmax"], "sofmax: unknown op, did you mean softmax?"),
        (["op", "sofmax"], "sofmax: unknown op, did you mean softmax?"),
        (["op", "bwx"], "bwx: unknown op; kfuzz op lists all"),
        (["lisst"], "No such command 'lisst'"),
        (["list", "--yaml"], "No such option"),
        (["fuzz", ""], "a name is expected; write ."),
    ],
)
def test_a_mistake_of_the_user_is_reported_and_exits_with_two(arguments: list[str], said: str) -> None:
    result = kfuzz(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""


def test_op_lists_all_ops_and_shows_one() -> None:
    lines = kfuzz("op").stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == list(op_names())
    shown = kfuzz("op", "linear").stdout
    assert shown.startswith("gemm(a[m, k], b[n, k], bias)\n\n## gemm\n")
    assert "def formula(" in shown


def test_a_faulty_file_ends_with_two_and_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_text("int x;")
    result = kfuzz("show", str(path))
    assert result.exit_code == 2
    assert "mine.cu:1: no front matter" in result.stderr


def test_list_writes_its_table_between_the_markers(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text("before\n<!-- kernels -->\nsome stale line\n<!-- /kernels -->\nafter\n")
    assert kfuzz("list", "--into", str(path)).exit_code == 0
    text = path.read_text()
    assert text.startswith("before\n<!-- kernels -->\n| kernel | op |")
    assert text.endswith("|\n<!-- /kernels -->\nafter\n")
    assert "some stale line" not in text
    path.write_text("no markers")
    result = kfuzz("list", "--into", str(path))
    assert result.exit_code == 2
    assert "no place for the table" in result.stderr
    assert path.read_text() == "no markers"


def test_the_markdown_names_every_kernel_once() -> None:
    kernels, _ = read_folder()
    table = as_markdown(kernels)
    for kernel in kernels:
        assert table.count(f"| `{kernel.name}` |") == 1


def test_targets_are_names_globs_files_and_folders(tmp_path: Path) -> None:
    assert find_files("softmax/online_block") == (KERNELS / "softmax" / "online_block.cu",)
    assert find_files("online_warp") == (KERNELS / "softmax" / "online_warp.cu",)
    assert set(find_files("sgemm/*")) == set((KERNELS / "sgemm").glob("*.cu"))
    assert set(find_files("tiled")) == {KERNELS / "sgemm" / "tiled.cu", KERNELS / "transpose" / "tiled.cu"}
    assert set(find_files(str(KERNELS / "reduce"))) == set((KERNELS / "reduce").glob("*.cu"))
    path = tmp_path / "mine.cu"
    path.write_text("")
    assert find_one(str(path)) == path
    with pytest.raises(TargetError, match="see kfuzz list"):
        find_files("zzz")
    with pytest.raises(TargetError, match="stands for 2 kernels, name one of sgemm/tiled, transpose/tiled"):
        find_one("tiled")


def test_sizes_are_powers_of_two_where_digits_hide_it() -> None:
    assert [size_text(size) for size in (1, 1024, 65535, 65536, 2**31 - 1, 2**30, 524280)] == [
        "1",
        "1024",
        "2^16-1",
        "2^16",
        "2^31-1",
        "2^30",
        "524280",
    ]


def test_the_first_sentence_says_what_a_kernel_is() -> None:
    assert first_sentence("Softmax of each row,\none warp. Then more.\n\nAnd more.") == "Softmax of each row, one warp."
    assert first_sentence("") == ""


class WellDevice:
    """Answers every job with the outcome it was made with."""

    name = "well"

    def __init__(self, outcome: Outcome) -> None:
        self.outcome, self.closed = outcome, False

    def run(self, job: Job, probe: Probe) -> Outcome:
        del job, probe
        return self.outcome

    def close(self) -> None:
        self.closed = True


def absent() -> Device:
    raise DeviceError("no driver: install one")


def test_a_device_is_well_only_when_a_kernel_ran_on_it() -> None:
    assert try_device("gpu", absent) == Check("gpu", "", "no driver: install one")
    silent = WellDevice(Outcome())
    assert "no answer" in try_device("cpu", lambda: silent).missing
    assert silent.closed
    racy = WellDevice(Outcome(findings=(Finding("race", "two writes"),)))
    assert "should run without a finding: two writes" in try_device("cpu", lambda: racy).missing


@pytest.mark.slow
def test_doctor_names_what_is_there_and_how_to_get_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("KFUZZ_CACHE", str(make_cache(tmp_path / "known")))
    result = kfuzz("doctor")
    assert result.exit_code in (0, 2)
    lines = {line.split()[1]: line for line in result.stdout.splitlines()}
    assert {"python", "numpy", "hypothesis", "pycuda", "c++", "nvcc", "driver", "cpu", "gpu"} <= lines.keys()
    assert lines["numpy"].startswith("ok")
    spelled = re.findall(r"\S+ -m pip install|\S*\bpip install", result.stdout)
    assert set(spelled) == {"python -m pip install"}
    assert (result.exit_code == 0) == any(lines[name].startswith("ok") for name in ("cpu", "gpu"))


def test_json_of_no_kernels_is_an_empty_list() -> None:
    assert as_json([]) == []


def interrupted() -> None:
    raise KeyboardInterrupt


def test_an_interrupt_ends_with_130() -> None:
    group = Commands("kfuzz", commands=[click.Command("wait", callback=interrupted)])
    assert CliRunner().invoke(group, ["wait"]).exit_code == 130


def test_listing_reads_the_kernels_folder_by_default() -> None:
    assert len(listing.read_folder()[0]) == len(kernel_files())
