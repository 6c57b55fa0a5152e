"""Verdicts on solutions are counted against a GPU and float64, with exact intervals."""

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.detection.intervals import at_most, interval, share_in_words
from benchmarks.detection.kept_lines import add_line, read_lines
from benchmarks.detection.sections.solutions import by_kfuzz, by_own_test, is_odd, show, truth_of
from benchmarks.detection.solutions import digest_of, read_list, shortened
from benchmarks.detection.solutions_drawn import BEFORE, SOURCES, digests_in
from benchmarks.detection.solutions_in_float64 import differ
from benchmarks.detection.solutions_of_people import CHALLENGES, Challenge, find, parameters_of
from benchmarks.detection.solutions_on_gpu import UNDECIDED, environment
from benchmarks.detection.solutions_packed import pack, unpack
from benchmarks.measurement import Figures, Measurement, as_json
from benchmarks.page import lines_of

RIGHT = {"ran": True, "error": 2e-7, "single": 1e-7, "accepted": True, "accepted_loosely": True,
         "build_seconds": 30.0, "own_seconds": 2.0}  # fmt: skip
FAR = RIGHT | {"error": 1e-2, "accepted": False}


def solution(key: str, status: str, on_gpu: dict[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401  a column
    usual = {
        "key": key, "problem": "19_ReLU", "repository": "owner/name", "language": "cuda", "status": status,
        "kind": "numeric" if status == "broken" else "", "why": "words | of kfuzz", "seconds": 9.0,
        "is_cut_short": False, "in_float64": {}, "by_text": {"filtered": False, "seconds": 0.1},
    }  # fmt: skip
    return usual | {"on_gpu": on_gpu} | more


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(0, 10, 0.0, 0.308497), (10, 10, 0.691503, 1.0), (1, 2, 0.012579, 0.987421), (0, 300, 0.0, 0.012221)],
)
def test_an_interval_is_that_of_clopper_and_pearson(hits: int, of: int, low: float, high: float) -> None:
    assert interval(hits, of) == pytest.approx((low, high), abs=1e-6)


def test_at_the_ends_of_an_interval_the_tails_have_half_of_the_rest() -> None:
    low, high = interval(37, 1000)
    assert 1 - at_most(36, 1000, low) == pytest.approx(0.025)
    assert at_most(37, 1000, high) == pytest.approx(0.025)


def test_a_share_of_nothing_has_no_interval() -> None:
    assert share_in_words(0, 0) == "0 of 0"
    assert share_in_words(1, 2) == "1 of 2, 50.0% (1.3% to 98.7%)"


@pytest.mark.parametrize(
    ("found", "truth"),
    [
        (RIGHT, "right"),
        (FAR, "wrong"),
        (FAR | {"of_any_order": 0.01}, "right"),
        (RIGHT | {"error": None}, "wrong"),
        (RIGHT | {"changes_inputs": True}, "wrong"),
        ({"ran": False, "why": "no import: NameError: y"}, "wrong"),
        ({"ran": False, "why": "no answer in 90 s"}, "open"),
        ({"ran": False, "why": UNDECIDED}, "open"),
        ({"ran": False, "why": "the problem's own model fails: AssertionError: Input image size"}, "open"),
        ({}, "open"),
    ],
)
def test_what_is_right_is_what_the_gpu_says(found: dict[str, Any], truth: str) -> None:
    assert truth_of(solution("a", "kept", found)) == truth


def test_a_process_of_a_solution_finds_this_module_from_any_folder(tmp_path: Path) -> None:
    words = [sys.executable, "-c", "import benchmarks.detection.solutions_on_gpu"]
    assert subprocess.run(words, cwd=tmp_path, env=environment(tmp_path, {}), check=False).returncode == 0


def test_an_element_that_is_wrong_in_float64_makes_a_solution_wrong_that_is_right_for_usual_inputs() -> None:
    assert truth_of(solution("a", "broken", RIGHT, in_float64={"wrong": True, "agrees": True})) == "wrong"


def test_false_accepts_and_false_rejects_are_listed_and_no_other_verdicts() -> None:
    kept, broken = solution("a", "kept", FAR), solution("b", "broken", RIGHT)
    others = [solution("c", "kept", RIGHT), solution("d", "broken", FAR), solution("e", "cannot run", RIGHT)]
    assert [is_odd(one) for one in (kept, broken, *others)] == [True, True, False, False, False]
    made = Measurement("measure", "today", "", "", Figures({"budget": 10.0}, {"solutions": [kept, broken, *others]}))
    shown = "\n".join(lines_of(show(made), "rows", whole=True))
    words, half = " ".join(shown.split()), "1 of 2, 50.0% (1.3% to 98.7%)"
    assert f"False accepts: {half} of the wrong ones, and {half} of those that are kept." in words
    assert "False rejects, at most: 1 of 3" in words
    assert f"{half} of those that are accused." in words
    assert "| a | kept |  | 1e+05 |  | words / of kfuzz |" in shown
    assert "| b | broken | numeric |" in shown
    assert "differ in" in shown


def test_a_solution_that_the_gpu_did_not_reach_is_counted_as_open_and_those_after_the_last_are_not() -> None:
    every = [solution(key, "kept", on_gpu) for key, on_gpu in (("a", RIGHT), ("b", {}), ("c", RIGHT), ("d", {}))]
    made = Measurement("measure", "today", "", "", Figures({"budget": 10.0}, {"solutions": every}))
    shown = "\n".join(lines_of(show(made), "rows", whole=True))
    assert "The first 3 of the draw" in shown
    assert "| open | 1 | 0 | 0 | 0 | 0 | 0 |" in shown


def test_a_line_that_was_cut_is_left_out_and_spoils_no_other(tmp_path: Path) -> None:
    kept = tmp_path / "verdicts.jsonl"
    assert read_lines(kept) == {}
    add_line(kept, "a", {"status": "kept"})
    with kept.open("a", encoding="utf-8") as file:
        file.write('{"key": "b", "sta')
    add_line(kept, "c", {"status": "broken"})
    add_line(kept, "a", {"status": "suspect"})
    assert read_lines(kept) == {"a": {"status": "suspect"}, "c": {"status": "broken"}}


def listed(folder: Path, answer: str) -> Path:
    """A list of one solution."""
    (folder / "files").mkdir(parents=True)
    (folder / "files/0.py").write_bytes(answer.encode())
    (folder / "files/1.py").write_bytes(b"class Model: ...\r\n")
    one = {"solution": "files/0.py", "problem": "files/1.py", "name": "19_ReLU", "repository": "owner/name",
           "commit": "c0ffee", "path": "a.py", "kind": "torch"}  # fmt: skip
    (folder / "list.json").write_text(json.dumps([one], indent=0), encoding="utf-8")
    return folder / "list.json"


def test_a_packed_list_is_unpacked_as_it_was(tmp_path: Path) -> None:
    path = listed(tmp_path / "one", "class ModelNew: ...  # \u00e9")
    pack(path, tmp_path / "packed.json")
    unpack(tmp_path / "packed.json", tmp_path / "two")
    for name in ("list.json", "files/0.py", "files/1.py"):
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()


def test_a_packed_list_writes_no_file_outside_of_its_folder(tmp_path: Path) -> None:
    packed = tmp_path / "packed.json"
    packed.write_text(json.dumps({"solutions": [], "texts": {"../other.py": ""}}), encoding="utf-8")
    with pytest.raises(SystemExit):
        unpack(packed, tmp_path / "folder")
    assert not (tmp_path / "other.py").exists()


def test_a_draw_knows_the_answers_of_lists_and_of_verdicts_by_their_texts(tmp_path: Path) -> None:
    path = listed(tmp_path / "one", "class ModelNew: ...")
    digest = digest_of(b"class ModelNew: ...", b"class Model: ...\r\n")
    assert digests_in(path) == {digest}
    figures = Figures({}, {"solutions": [{"key": f"a-name-cuda-{digest}"}]})
    data = tmp_path / "data.json"
    data.write_text(as_json(Measurement("measure", "today", "", "", figures)), encoding="utf-8")
    assert digests_in(data) == {read_list(path)[0].digest}


def test_of_the_kernels_of_people_each_rejected_one_is_listed() -> None:
    of_people = [
        solution(key, status, {}, problem="relu", in_float64=wide)
        for key, status, wide in (("a", "broken", {"wrong": True, "agrees": True}), ("b", "kept", {}))
    ]
    made = Measurement("measure", "today", "", "", Figures({"budget": 10.0}, {"solutions": of_people}))
    shown = "\n".join(lines_of(show(made), "rows", whole=True))
    assert "CUDA files of people" in shown
    assert "Rejected: 1 of 2, 50.0%" in shown
    assert "| a | owner/name | numeric | wrong | words / of kfuzz |" in shown


def test_a_file_of_shared_parameters_belongs_to_the_challenge_that_its_path_names() -> None:
    parameters = parameters_of("const float* input, float* /* y */ output,\n int N")
    paths = {"x/Leaky ReLU/a.cu": "leaky_relu", "x/21_relu.cu": "relu", "5_softmax/s.cu": "softmax", "other.cu": None}
    assert {path: getattr(find(path, parameters), "name", None) for path in paths} == paths
    assert find("vector_addition.cu", "float * A, float * B, float * C, int N") is not None
    assert find("matrix_addition.cu", "float * A, float * B, float * C, int N") is None


@pytest.mark.parametrize("challenge", CHALLENGES, ids=lambda one: one.name)
def test_the_problem_of_a_challenge_takes_the_inputs_of_its_solve(challenge: Challenge) -> None:
    (model, *_) = (node for node in ast.parse(challenge.problem).body if isinstance(node, ast.ClassDef))
    taken = [one.arg for one in model.body[0].args.args[1:]]  # type: ignore[attr-defined]
    declared = [one.split()[-1] for one in challenge.parameters.split(",")]
    assert taken == [name for name in declared if name in taken]
    assert len(taken) == len(ast.parse(f"[{challenge.inputs}]", mode="eval").body.elts)  # type: ignore[attr-defined]


def test_what_was_stopped_is_no_decision_of_the_own_test_and_what_does_not_build_is_rejected() -> None:
    decide = by_own_test("accepted")
    assert decide(solution("a", "kept", {"ran": False, "why": "more than 450 s"})) is None
    assert decide(solution("a", "kept", {"ran": False, "why": "no import: error"})) is False
    assert decide(solution("a", "kept", RIGHT)) is True


def test_only_kept_broken_and_misbehaved_are_decisions_of_kfuzz() -> None:
    statuses = ("kept", "broken", "misbehaved", "suspect", "not judged", "cannot run")
    decided = [by_kfuzz(solution("a", status, {})) for status in statuses]
    assert decided == [True, False, False, None, None, None]


def test_a_nan_differs_from_a_number_in_float64_and_not_from_a_nan() -> None:
    nan = float("nan")
    assert differ(nan, 1.0, 1.0)
    assert not differ(nan, nan, nan)
    assert not differ(1.0000001, 1.0, 1.0000001)


def test_words_name_no_folder_of_a_machine() -> None:
    assert shortened("no file:\n /tmp/some/where/a.cu:3: error") == "no file: a.cu:3: error"


def test_no_repository_is_drawn_from_of_which_solutions_were_judged_before() -> None:
    before = ("adityakotha03", "anneouyang", "hzeng2000", "sekstini", "technoabsurdist", "yenhao-huang")
    assert not [name for name in SOURCES if name.startswith(before)]
    assert len(BEFORE) == 22
