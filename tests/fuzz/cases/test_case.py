"""Cases and their files: bits survive, damage is one clear error, and a stranger's file can do no harm."""

import json
import multiprocessing
import os
import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kfuzz.campaign.minimizing.subject import subject_of
from kfuzz.campaign.trials.trial import unfit
from kfuzz.cases import atomic, case_file, corpus
from kfuzz.cases.case import Case, Origin, Record, case_of
from kfuzz.cases.case_reader import MAX_FILE_BYTES, MAX_LITERAL
from kfuzz.cases.errors import CaseError
from kfuzz.cases.recipe import MAX_BANDS, Band, Base, Edit, Recipe, bits_of
from kfuzz.claims.kernel import KERNELS, load
from kfuzz.common.text.json_lines import WIDTH, write_document
from kfuzz.ui.targets.project import kernels_for

ORIGIN = Origin(
    "softmax/online", "softmax/online numeric", "numeric", "row 0 is off", "cpu", {"threads": 32}, True, 3, 7
)
HOSTILE = np.array([0x7F812345, 0xFFC00001, 0x80000000, 1, 0x7F7FFFFF, 0xFF800000], np.uint32).view(np.float32)

KERNEL = load(KERNELS / "softmax" / "online_block.cu")


def softmax(values: np.ndarray) -> Case:
    return case_of("softmax", {"x": values})


def ramp(rows: int, cols: int) -> Case:
    return case_of("softmax", {"x": Recipe(rows, cols, (Band(Base("ramp", 0, bits_of(0.5))),))})


def saved(folder: Path, record: Record) -> dict:
    case_file.write(folder / "case.json", record)
    return json.loads((folder / "case.json").read_bytes())


def test_a_dim_that_counts_from_the_end_is_read_back(tmp_path: Path) -> None:
    record = Record(softmax(np.zeros(3, np.float32)), replace(ORIGIN, tune={"dim": -1}))
    saved(tmp_path, record)
    assert case_file.read(tmp_path / "case.json") == record


def test_a_vector_is_one_row() -> None:
    assert dict(softmax(np.zeros(5, np.float32)).axes) == {"rows": 1, "cols": 5}


def test_a_recipe_of_one_column_is_a_vector(tmp_path: Path) -> None:
    column = Recipe(5000, 1, (Band(Base("normal", 0, bits_of(1.0), 3)),))
    case = case_of("merge_all", {"m": column, "s": column})
    assert dict(case.axes) == {"n": 5000}
    saved(tmp_path, Record(case))
    assert case_file.read(tmp_path / "case.json").case == case


def test_dimensions_bind_across_arrays() -> None:
    a, b = np.zeros((2, 3), np.float32), np.zeros((4, 5), np.float32)
    with pytest.raises(CaseError, match="b of sgemm: k=4; k=3 is expected"):
        case_of("sgemm", {"a": a, "b": b})


@pytest.mark.parametrize(
    ("op", "arrays", "words"),
    [
        ("softmaxx", {}, "op='softmaxx': unknown"),
        ("softmax", {}, "got none"),
        ("softmax", {"x": np.zeros(3)}, "dtype=float64; float32 is expected"),
        ("softmax", {"x": np.zeros((1, 1, 1), np.float32)}, "shape=[1, 1, 1]; [rows, cols] is expected"),
        ("merge_all", {"m": np.zeros((2, 2), np.float32), "s": np.zeros(4, np.float32)}, "[n] is expected"),
    ],
)
def test_a_case_that_does_not_fit_its_op_is_one_clear_line(op: str, arrays: dict, words: str) -> None:
    with pytest.raises(CaseError) as error:
        case_of(op, arrays)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_the_arrays_of_a_case_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        softmax(np.zeros(3, np.float32)).arrays["x"][0, 0] = 1


def test_cases_are_equal_by_their_bits() -> None:
    zero, minus = np.zeros(3, np.float32), np.array([0, 0, -0.0], np.float32)
    assert softmax(zero) == softmax(zero.copy())
    assert softmax(zero) != softmax(minus)
    assert len({softmax(zero), softmax(zero.copy()), softmax(minus)}) == 2


def test_a_case_reads_as_words() -> None:
    values = np.array([-np.inf, -np.inf, 0.5], np.float32)
    assert str(softmax(values)) == "softmax rows=1 cols=3; x: -inf x2, 0.5"


def test_every_bit_pattern_survives(tmp_path: Path) -> None:
    saved(tmp_path, Record(softmax(HOSTILE), ORIGIN))
    record = case_file.read(tmp_path / "case.json")
    assert record == Record(softmax(HOSTILE), ORIGIN)
    assert np.array_equal(record.case.arrays["x"].view(np.uint32)[0], HOSTILE.view(np.uint32))


def test_the_file_is_sorted_and_ends_in_a_newline(tmp_path: Path) -> None:
    saved(tmp_path, Record(softmax(HOSTILE), ORIGIN))
    text = (tmp_path / "case.json").read_text()
    assert text.startswith('{\n "schema": "kfuzz-case/1",\n "arrays": {\n')
    assert text.endswith("}\n")
    keys = list(json.loads(text))[1:]
    assert keys == sorted(keys) == ["arrays", "axes", "op", "origin"]


def test_what_fits_is_a_line_and_short_items_share_lines(tmp_path: Path) -> None:
    saved(tmp_path, Record(softmax(np.resize(HOSTILE, (2, 10)))))
    lines = (tmp_path / "case.json").read_text().splitlines()
    first = lines.index('   "bits": [')
    words = [f'"{bits:08x}"' for bits in np.resize(HOSTILE, 20).view(np.uint32).tolist()]
    rows = [", ".join(words[start : start + 9]) for start in (0, 9, 18)]
    assert lines[first + 1 : first + 5] == [f"    {rows[0]},", f"    {rows[1]},", f"    {rows[2]}", "   ],"]
    assert lines[first + 5] == '   "shape": [2, 10], "show": "20 values, first nan(7f812345)"'
    assert ' "axes": {"cols": 10, "rows": 2}, "op": "softmax"' in lines
    saved(tmp_path, Record(softmax(HOSTILE), replace(ORIGIN, message="row 0 is off " * 7)))
    (head,) = (line for line in (tmp_path / "case.json").read_text().splitlines() if '"bucket"' in line)
    assert head.startswith('  "bucket": "softmax/online numeric", "check": true, "device": "cpu"')
    saved(tmp_path, Record(softmax(np.ones((1, 1), np.float32))))
    assert (tmp_path / "case.json").read_text().splitlines() == [
        "{",
        ' "schema": "kfuzz-case/1", "arrays": {"x": {"bits": ["3f800000"], "shape": [1, 1], "show": "1"}},',
        ' "axes": {"cols": 1, "rows": 1}, "op": "softmax"',
        "}",
    ]


@pytest.mark.parametrize("count", [0, 1, 8, 9, 10, 4096])
def test_lines_of_several_values_are_no_longer_than_they_may_be(count: int, tmp_path: Path) -> None:
    document = saved(tmp_path, Record(softmax(np.resize(HOSTILE, (1, count)))))
    assert len(document["arrays"]["x"]["bits"]) == count
    lines = (tmp_path / "case.json").read_text().splitlines()
    assert max(len(line) for line in lines if '"show"' not in line) <= WIDTH


@pytest.mark.slow
@given(st.recursive(st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_whatever_is_laid_out_reads_the_same(value: object) -> None:
    assert json.loads(write_document({"value": value})) == {"value": value}


def test_a_case_with_a_line_for_each_value_is_the_same_case(tmp_path: Path) -> None:
    """Earlier cases are laid out that way, and have equal neighbours one by one."""
    values = np.repeat(HOSTILE, 4)[:20]
    record = Record(softmax(values.reshape(2, 10)), ORIGIN)
    place = corpus.save(tmp_path, record)
    now = place.read_bytes()
    document = json.loads(now)
    assert document["arrays"]["x"]["bits"] == [f"{bits:08x} x4" for bits in HOSTILE[:5].view(np.uint32).tolist()]
    document["arrays"]["x"]["bits"] = [f"{bits:08x}" for bits in values.view(np.uint32).tolist()]
    place.write_text(json.dumps(document, indent=1) + "\n")
    assert place.read_bytes() != now
    assert case_file.read(place) == record
    assert corpus.save(tmp_path, record) == place
    assert corpus.paths([tmp_path]) == [place]


@pytest.mark.parametrize(
    ("bits", "words"),
    [
        (["3f800000 x2"], "arrays.x.bits: 2 values, at most 4096; shape [1, 3] has 3"),
        (["3f800000", "3f800000 x9999"], "arrays.x.bits: 10000 values, at most 4096; shape [1, 3] has 3"),
        (["3f800000 x0", "3f800000 x3"], "arrays.x.bits[0]: '3f800000 x0'; the 8 hex digits"),
        (["3f800000 x10000"], "arrays.x.bits[0]: '3f800000 x10000'; the 8 hex digits"),
        (["3f8 x3"], "arrays.x.bits[0]: '3f8'; the 8 hex digits"),
        ([["3f800000", 3]], "arrays.x.bits[0]: ['3f800000', 3]; the 8 hex digits"),
    ],
)
def test_equal_neighbours_are_counted(bits: list[object], words: str, tmp_path: Path) -> None:
    document = saved(tmp_path, Record(softmax(np.ones(3, np.float32))))
    document["arrays"]["x"]["bits"] = bits
    with pytest.raises(CaseError, match=re.escape(words)):
        case_file.decode(json.dumps(document).encode(), tmp_path / "case.json")


def test_writing_what_was_read_gives_the_same_bytes(tmp_path: Path) -> None:
    hostile = np.tile(HOSTILE, 1000)
    for case in (softmax(HOSTILE), ramp(3, 2000), softmax(hostile), ramp(1, 5)):
        saved(tmp_path, Record(case, ORIGIN))
        first = (tmp_path / "case.json").read_bytes()
        saved(tmp_path, case_file.read(tmp_path / "case.json"))
        assert (tmp_path / "case.json").read_bytes() == first


def test_the_form_follows_the_size(tmp_path: Path) -> None:
    def form(case: Case) -> set[str]:
        return set(saved(tmp_path, Record(case))["arrays"]["x"])

    assert form(ramp(1, MAX_LITERAL)) == {"bits", "shape", "show"}
    assert form(ramp(1, MAX_LITERAL + 1)) == {"recipe", "sha256", "shape", "show"}
    assert form(softmax(np.zeros(MAX_LITERAL + 1, np.float32))) == {"npy", "shape", "show"}
    every = tuple(Band(Base("normal", 0, 0, row)) for row in range(MAX_BANDS + 1))
    assert form(case_of("softmax", {"x": Recipe(MAX_BANDS + 1, 4, every)})) == {"npy", "shape", "show"}


@pytest.mark.slow
def test_the_largest_recipe_fits_the_bound_of_a_file() -> None:
    edits = tuple(Edit(-(2**26), -(2**26), 2**32 - 1, "set", 2**26) for _ in range(8))
    bands = tuple(Band(Base("constant", 0, 0, 2**64 - 1), edits) for _ in range(MAX_BANDS))
    recipe = Recipe(MAX_BANDS, 5, bands)
    document, _ = case_file.encode(Record(case_of("sgemm", {"a": recipe, "b": Recipe(5, 1024, bands)})))
    assert len(document) < MAX_FILE_BYTES


def test_a_recipe_is_worked_out_once_from_file_to_trial_and_not_sent_along(tmp_path: Path) -> None:
    kept = case_of("softmax", {"x": Recipe(2, 5000, (Band(Base("normal", 0, bits_of(1.0), 7)),))})
    case_file.write(tmp_path / "case.json", Record(kept))
    case = case_file.read(tmp_path / "case.json").case
    subject = subject_of(KERNEL, case, {"threads": 32}, False, 0)
    assert np.shares_memory(case.arrays["x"], case.recipes["x"].values)
    assert np.shares_memory(case.arrays["x"], subject.case.arrays["x"])
    assert len(pickle.dumps(case.recipes["x"])) < 1000
    assert pickle.loads(pickle.dumps(case.recipes["x"])) == case.recipes["x"]  # noqa: S301  our own


def test_show_is_never_read(tmp_path: Path) -> None:
    document = saved(tmp_path, Record(softmax(HOSTILE)))
    document["arrays"]["x"]["show"] = "1, 2, 3"
    (tmp_path / "case.json").write_text(json.dumps(document))
    assert case_file.read(tmp_path / "case.json").case == softmax(HOSTILE)


X = ("arrays", "x")
BAND = (*X, "recipe", "bands", 0)
DAMAGE = {
    "unknown schema": (("schema",), "kfuzz-case/9", "schema: 'kfuzz-case/9'; this version reads"),
    "no schema": (("schema",), None, "schema: None"),
    "unknown key": (("more",), 1, "'more': unknown key"),
    "no op": (("op",), None, "'op' is missing"),
    "op is a number": (("op",), 3, "op: 3; a text"),
    "unknown op": (("op",), "cumsum", "op: 'cumsum': unknown"),
    "arrays is a list": (("arrays",), [], "arrays: []; an object is expected"),
    "axes disagree": (("axes", "cols"), 7, "axes: {'cols': 7, 'rows': 3}; the shapes of the arrays give"),
    "negative size": ((*X, "shape"), [-1, 2], "arrays.x.shape: -1; an integer from 0"),
    "size is true": ((*X, "shape"), [True, 2], "arrays.x.shape: True; an integer from 0"),
    "size is a float": ((*X, "shape"), [3.0, 2000], "arrays.x.shape: 3.0; an integer"),
    "too many elements": ((*X, "shape"), [2**20, 2**20], "1099511627776 elements in all; at most"),
    "a few too many": ((*X, "shape"), [2**14, 2**13], "134217728 elements in all; at most 67108864"),
    "two forms": ((*X, "bits"), [], "bits and recipe given; exactly one"),
    "no form": ((*X, "recipe"), None, "none given; exactly one"),
    "wrong hash": ((*X, "sha256"), "0" * 64, "x.sha256: 0000000000000000... expected, the recipe"),
    "no hash": ((*X, "sha256"), None, "'sha256' is missing"),
    "unknown generator": ((*X, "recipe", "generator"), "numpy", "generator: 'numpy'; this version reads"),
    "no bands": ((*X, "recipe", "bands"), [], "bands: empty"),
    "too many bands": ((*X, "recipe", "bands"), [{}] * 1025, "a list of at most 1024 items"),
    "unknown kind": ((*BAND, "base", "kind"), "cauchy", "bands[0].base.kind: 'cauchy'; one of constant"),
    "bits too short": ((*BAND, "base", "offset"), "3f8", "base.offset: '3f8'; the 8 hex digits"),
    "bits in capitals": ((*BAND, "base", "offset"), "3F800000", "the 8 hex digits"),
    "seed too large": ((*BAND, "base", "seed"), 2**64, "an integer from 0 to 18446744073709551615"),
    "edit is no object": ((*BAND, "edits"), [3], "edits[0]: 3; an object"),
    "size of a recipe": ((*X, "recipe", "cols"), 1999, "recipe: 3 x 1999 values; shape [3, 2000] has 6000"),
    "limits": ((*X, "recipe", "limits"), ["00000000"], "null or two bit patterns"),
    "sidecar elsewhere": (X, {"npy": "../etc/passwd", "shape": [1]}, "name <sha256>.npy of a file beside"),
    "absolute sidecar": (X, {"npy": "/" + "0" * 64 + ".npy", "shape": [1]}, "the name <sha256>.npy"),
    "no sidecar": (X, {"npy": "0" * 64 + ".npy", "shape": [1]}, "cannot be read: No such file"),
    "origin is a text": (("origin",), "here", "origin: 'here'; an object"),
    "tune is a text": (("origin", "tune", "threads"), "32", "origin.tune.threads: '32'; an integer"),
    "check is a number": (("origin", "check"), 1, "origin.check: 1; true or false"),
    "message too long": (("origin", "message"), "x" * 5000, "a text of at most 4000"),
}
"""A change of a sound file: path to a key, new value (None takes the key away), words of the error."""


@pytest.mark.parametrize("kind", list(DAMAGE))
def test_damage_is_one_line_that_names_file_key_and_expectation(kind: str, tmp_path: Path) -> None:
    document = saved(tmp_path, Record(ramp(3, 2000), ORIGIN))
    (*parents, last), value, words = DAMAGE[kind]
    table = document
    for key in parents:
        table = table[key]
    if value is None:
        del table[last]
    else:
        table[last] = value
    path = tmp_path / "case.json"
    path.write_text(json.dumps(document))
    before = path.read_bytes()
    with pytest.raises(CaseError) as error:
        case_file.read(path)
    assert str(error.value).startswith(str(tmp_path))
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before


def test_the_undamaged_file_is_read(tmp_path: Path) -> None:
    document = saved(tmp_path, Record(ramp(3, 2000), ORIGIN))
    (tmp_path / "case.json").write_text(json.dumps(document))
    assert case_file.read(tmp_path / "case.json") == Record(ramp(3, 2000), ORIGIN)


SOUND, _ = case_file.encode(Record(softmax(HOSTILE), ORIGIN))


@pytest.mark.parametrize(
    "text",
    [
        b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b"{\"a\":" * 100_000, b"1" * 10_000,
        SOUND[:-3], SOUND[: len(SOUND) // 2], SOUND.replace(b'"op"', b'"axes"'),
        SOUND.replace(b'"7f812345"', b"NaN"), SOUND + b"{}",
    ],
)  # fmt: skip
def test_what_is_no_case_is_one_clear_line(text: bytes) -> None:
    with pytest.raises(CaseError, match=r"mine\.json: ") as error:
        case_file.decode(text, Path("mine.json"))
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


@given(st.binary(max_size=200))
def test_no_bytes_do_anything_but_raise_a_case_error(text: bytes) -> None:
    with pytest.raises(CaseError):
        case_file.decode(text, Path("mine.json"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


def places(value: object, path: tuple = ()) -> list[tuple]:
    """Every place in a document."""
    found = [path]
    if isinstance(value, dict):
        for key, item in value.items():
            found += places(item, (*path, key))
    elif isinstance(value, list):
        for key, item in enumerate(value):
            found += places(item, (*path, key))
    return found


RECIPE_DOCUMENT = json.loads(case_file.encode(Record(ramp(3, 2000), ORIGIN))[0])
LITERAL_DOCUMENT = json.loads(SOUND)


@pytest.mark.slow
@given(st.sampled_from([RECIPE_DOCUMENT, LITERAL_DOCUMENT]), st.data())
@settings(max_examples=100)
def test_any_change_of_one_value_is_read_or_refused_in_one_line(sound: dict, data: st.DataObject) -> None:
    document = json.loads(json.dumps(sound))
    *parents, last = data.draw(st.sampled_from(places(sound)[1:]))
    table = document
    for key in parents:
        table = table[key]
    table[last] = data.draw(json_values)
    said = ""
    try:
        case_file.decode(json.dumps(document).encode(), Path("mine.json"))
    except CaseError as error:
        said = str(error)
    assert "\n" not in said
    assert said == "" or said.startswith("mine.json: ")


def with_sidecar(folder: Path) -> tuple[Path, Path]:
    case_file.write(folder / "case.json", Record(softmax(np.tile(HOSTILE, 1000))))
    (sidecar,) = folder.glob("*.npy")
    return folder / "case.json", sidecar


def test_a_sidecar_is_named_by_its_hash_and_read_back(tmp_path: Path) -> None:
    path, sidecar = with_sidecar(tmp_path)
    assert len(sidecar.stem) == 64
    assert case_file.read(path).case == softmax(np.tile(HOSTILE, 1000))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda content: content[:-4], "not the little-endian float32 array"),
        (lambda content: content + b"0000", "not the little-endian float32 array"),
        (lambda content: content[:-1] + b"\x01", "do not have the sha256 in its name"),
        (lambda content: content.replace(b"<f4", b"|O "), "not the little-endian float32 array"),
        (lambda content: content.replace(b"<f4", b"<i4"), "not the little-endian float32 array"),
        (lambda content: b"\x80\x04cos\nsystem\n" + content, "not the little-endian float32 array"),
        (lambda _: b"", "not the little-endian float32 array"),
        (lambda content: content * 2, "at most 28096 are read"),
    ],
)
def test_a_damaged_sidecar_is_refused(damage, words: str, tmp_path: Path) -> None:  # noqa: ANN001  a lambda
    path, sidecar = with_sidecar(tmp_path)
    sidecar.write_bytes(damage(sidecar.read_bytes()))
    with pytest.raises(CaseError, match="npy") as error:
        case_file.read(path)
    assert words in str(error.value)


@given(st.binary(max_size=300), st.integers(0, 200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.slow
def test_no_sidecar_does_anything_but_raise_a_case_error(tmp_path: Path, junk: bytes, keep: int) -> None:
    path, sidecar = with_sidecar(tmp_path)
    content = sidecar.read_bytes()
    changed = content[:keep] + junk + content[keep + len(junk) :]
    sidecar.write_bytes(changed)
    try:
        record = case_file.read(path)
    except CaseError:
        record = None
    sidecar.unlink()
    assert record is None or record.case == softmax(np.tile(HOSTILE, 1000))


def test_a_sidecar_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    path, sidecar = with_sidecar(tmp_path)
    sidecar.rename(tmp_path / "elsewhere")
    sidecar.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CaseError, match="cannot be read"):
        case_file.read(path)


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path / "pipe.json", tmp_path, Path("/dev/zero")):
        with pytest.raises(CaseError, match="not a regular file"):
            case_file.read(path)


def test_a_file_above_the_bound_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "big.json"
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(CaseError, match="at most 16777216 are read"):
        case_file.read(path)


def write_often(path: Path, value: int) -> None:
    for _ in range(40):
        atomic.write(path, bytes([value]) * 50_000)


@pytest.mark.slow
def test_two_writers_of_one_file_never_mix(tmp_path: Path) -> None:
    path = tmp_path / "file"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_often, args=(path, value)) for value in (1, 2)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        if path.exists():
            content = path.read_bytes()
            assert content == content[:1] * 50_000
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    atomic.write(path, b"old")
    with pytest.raises(TypeError):
        atomic.write(path, None)  # type: ignore[arg-type]  # what fails in the middle of a write
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("is_by_place", [True, False])
def test_a_case_of_a_formula_runs_nothing(is_by_place: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A case file is data: the Python file that it names is not even opened, and by its place it names none."""
    monkeypatch.chdir(tmp_path)
    code = tmp_path / "op.py"
    code.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    document = {
        "schema": "kfuzz-case/1",
        "arrays": {"x": {"bits": ["00000000"], "shape": [1, 1]}},
        "axes": {"cols": 1, "rows": 1},
        "dimensions": {"x": ["rows", "cols"]},
        "op": str(code) if is_by_place else code.name,
    }
    path = tmp_path / "case.json"
    path.write_text(json.dumps(document))
    if is_by_place:
        with pytest.raises(CaseError, match=r"op: .*: unknown; .*, or a formula's file by its name"):
            case_file.read(path)
    else:
        assert case_file.read(path).case.op == "op.py"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({}, "dimensions: 'x' is missing"),
        ({"x": ["rows", "k", "cols"]}, r"x of op.py: shape=\[1, 1\]; \[rows, k, cols\] is expected"),
        (
            {"x": ["rows", "../cols"]},
            "dimensions.x: '../cols'; a name, a number of at most nine digits, or an expression is expected",
        ),
        ({"x": ["rows", "2"]}, "x of op.py: 2=1; 2=2 is expected"),
        ({"x": ["rows"] * 9}, "dimensions.x: .*; a list of at most 8"),
        ({"x": ["rows", "cols"], "y": []}, "dimensions: 'y': unknown key"),
    ],
)
def test_what_a_case_says_of_an_op_that_is_not_here_is_held_against_its_arrays(
    said: dict[str, list[str]], message: str, tmp_path: Path
) -> None:
    array = {"bits": ["00000000"], "shape": [1, 1]}
    document = {"schema": "kfuzz-case/1", "arrays": {"x": array}, "axes": {}, "op": "op.py", "dimensions": said}
    (tmp_path / "case.json").write_text(json.dumps(document))
    with pytest.raises(CaseError, match=message):
        case_file.read(tmp_path / "case.json")


def test_a_case_of_a_formula_is_for_the_kernels_of_one_of_that_name_wherever_they_lie(tmp_path: Path) -> None:
    places = [tmp_path / "here", tmp_path / "there", tmp_path / "other"]
    for place, dimensions in zip(places, ("rows, cols", "rows, cols", "rows, 3"), strict=True):
        place.mkdir()
        (place / "twice.py").write_text(
            f'INPUTS = {{"x": "float[{dimensions}]"}}\nOUTPUTS = {{"y": "float[{dimensions}]"}}\n'
            "def formula(N, x):\n    return x + x\n"
        )
        (place / "mine.py").write_text(
            '# /// kernel\n# op = "twice.py"\n# axes = { rows = "1..9", cols = [3] }\n'
            '# arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }\n# ///\n'
            "def forward(x):\n    return x + x\n"
        )
    here, there, other = (load(place / "mine.py") for place in places)
    case_file.write(tmp_path / "case.json", Record(case_of(here.op, {"x": np.ones((2, 3), np.float32)})))
    record = case_file.read(tmp_path / "case.json")
    assert kernels_for(record, [there, other]) == (there,)
    assert unfit(there, record.case) == ""
    assert str(tmp_path) not in (tmp_path / "case.json").read_text()


def test_a_case_of_a_formula_is_kept_and_read(tmp_path: Path) -> None:
    code = tmp_path / "twice.py"
    code.write_text(
        'INPUTS = {"x": "float[rows, cols]"}\nOUTPUTS = {"y": "float[rows, cols]"}\n'
        "def formula(N, x):\n    return x + x\n"
    )
    record = Record(case_of(str(code), {"x": np.ones((2, 3), np.float32)}))
    path = corpus.save(tmp_path / "corpus", record)
    assert path.parent == tmp_path / "corpus" / "twice"
    assert case_file.read(path) == record


def test_a_file_that_cannot_be_written_is_named_itself_and_not_its_temporary_file() -> None:
    with pytest.raises(OSError, match=r"'/sys/kernel/kept.json'$"):
        atomic.write(Path("/sys/kernel/kept.json"), b"{}")
