"""A PTX module with a claim: its arguments by the types of its parameters, and what it says of its launches."""

from pathlib import Path

import pytest
from paths import DATA

import kfuzz
from kfuzz.claims.kernel import load
from kfuzz.devices import Call, ClaimError

ROW_SUM = (DATA / "ptx" / "row_sum.ptx").read_text(encoding="utf-8")
OLD_PARAMETERS = "    .param .u32 n\n)\n.maxntid 128, 1, 1\n"
OLD_ARGS = 'args  = ["y", "x", "cols"]'


def written(folder: Path, *edits: tuple[str, str]) -> Path:
    text = ROW_SUM
    for old, new in edits:
        assert text.count(old) == 1
        text = text.replace(old, new)
    path = folder / "mine.ptx"
    path.write_text(text)
    return path


def test_arrays_and_sizes_are_passed_unchanged() -> None:
    kernel = load(DATA / "ptx" / "row_sum.ptx")
    assert kernel.entries == ("row_sum",)
    assert kernel.launches[0].args == ("y", "x", "cols")
    assert kernel.front.language.through == "ptx"


def test_numbers_and_structures_are_made_by_the_compiler(tmp_path: Path) -> None:
    parameters = "    .param .u32 n,\n    .param .f32 scale,\n    .param .align 8 .b8 both[16]\n)\n.maxntid 128, 1, 1\n"
    path = written(tmp_path, (OLD_PARAMETERS, parameters), (OLD_ARGS, 'args  = ["y", "x", "cols", "0.5", "x", "rows"]'))
    (entry,) = load(path).entries
    assert entry == Call(
        "row_sum", ("y", "x", "cols", "0.5", "x", "rows"), ("void *y", "void *x", "int cols", "long long rows")
    )


def test_a_block_and_a_cluster_may_come_from_the_module(tmp_path: Path) -> None:
    parameters = "    .param .u32 n\n)\n.reqntid 128\n.reqnctapercluster 2, 1, 1\n"
    path = written(
        tmp_path, (OLD_PARAMETERS, parameters), ('// block = "128"\n', ""), ('grid  = "rows"', 'grid  = "2 * rows"')
    )
    (launch,) = load(path).launches
    sizes = {"rows": 4, "cols": 5}
    assert [size(sizes) for size in launch.block] == [128, 1, 1]
    assert [size(sizes) for size in launch.cluster] == [2, 1, 1]


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        ((OLD_ARGS, 'args  = ["y", "x"]'), r"2 given; row_sum takes 3: \(.u64 y, .u64 x, .u32 n\)"),
        ((OLD_ARGS, 'args  = ["y", "cols", "x"]'), r"'x' is an array of f32; the parameter is '.u32 n'"),
        (('// block = "128"\n', ""), r"launch.block: missing"),
        ((".address_size 64", ".adress_size 64"), r"mine.ptx:\d+: the PTX text .adress_size 64 .*, which is not read"),
    ],
)
def test_what_does_not_fit_is_one_line(tmp_path: Path, edit: tuple[str, str], why: str) -> None:
    with pytest.raises(ClaimError, match=why) as error:
        load(written(tmp_path, edit))
    assert "\n" not in str(error.value)


EXPONENT = "shl.b32 %r1, %r1, 23;"


@pytest.mark.parametrize(("exponents", "exp"), [(0, "__expf"), (1, "__expf"), (2, None)])
def test_an_exp_without_an_exponent_of_its_own_is_a_fast_one(tmp_path: Path, exponents: int, exp: str | None) -> None:
    """nvcc's expf shifts the exponent of its answer into place, and is as exact as the claim says without the key."""
    text = (DATA / "ptx" / "softmax.ptx").read_text(encoding="utf-8")
    assert (text.count("ex2.approx"), text.count('// exp    = "__expf"\n'), text.count(", 23;")) == (2, 1, 0)
    text = text.replace('// exp    = "__expf"\n', "").replace("\tret;", f"\t{EXPONENT * exponents}\n\tret;")
    (tmp_path / "mine.ptx").write_text(text)
    said = {one.key: one.value for one in load(tmp_path / "mine.ptx").rounding.read_off}
    assert said.get("exp") == exp


@pytest.mark.slow(3)
def test_a_campaign_finds_a_deleted_barrier_and_nothing_without_it(tmp_path: Path) -> None:
    assert kfuzz.fuzz(DATA / "ptx" / "row_sum.ptx", device="cpu", cases=6, seed=1).exit_code == 0
    report = kfuzz.fuzz(written(tmp_path, ("bar.sync 0;", "")), device="cpu", cases=6, seed=1)
    assert report.exit_code == 1
    (kernel,) = report.to_dict()["kernels"]
    assert ("race", "row_sum.cu") in {(one["kind"], one["file"]) for one in kernel["findings"]}
