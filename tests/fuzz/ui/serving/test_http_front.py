"""Answers over HTTP: the verdicts of `judge_file`, whatever is killed, and nothing for those without the token."""

import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from verdict_server import (
    FORGING,
    NO_PYTHON,
    RIGHT,
    SLOW,
    WRONG,
    RunningServer,
    judges_of,
    left_of,
    outline,
    serving,
)

import kfuzz
from kfuzz.devices.sandbox.box import why_not
from kfuzz.ui.serving.http_front import AT_ONCE, MOST_BYTES

pytestmark = [
    pytest.mark.slow(3),
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a sandbox"),
]
TEXTS = {"right": RIGHT, "wrong": WRONG, "forging": FORGING, "no_python": NO_PYTHON}
TERMS = {"op": "row_sum", "budget": 2.0, "seed": 3}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with serving(tmp_path_factory.mktemp("server"), "--jobs", "2") as one:
        yield one


def asked(name: str, **more: object) -> dict[str, object]:
    return {"id": name, "answer": f"{name}.py", "text": TEXTS[name], **more}


def test_each_verdict_is_that_of_judge_file_with_the_same_seed(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, lines = server.ask({"answers": [asked(name) for name in TEXTS], **TERMS})
    assert status == 200
    assert {str(one["id"]) for one in lines} == {*TEXTS}
    for one in lines:
        name = str(one["id"])
        Path(f"{name}.py").write_text(TEXTS[name])
        wanted = kfuzz.judge_file(f"{name}.py", op="row_sum", budget=2.0, seed=3)
        assert outline(one) == outline(wanted)
        assert one["answer"] == f"{name}.py"
    assert {str(one["status"]) for one in lines} == {"kept", "broken", "misbehaved", "cannot run"}


def test_one_answer_gets_one_object(server: RunningServer) -> None:
    status, (line,) = server.ask({"answer": "a.py", "text": RIGHT, **TERMS})
    assert (status, line["status"], line["answer"]) == (200, "kept", "a.py")


def test_a_request_that_is_none_has_one_line_and_the_others_are_judged(server: RunningServer, tmp_path: Path) -> None:
    file = tmp_path / "right.py"
    file.write_text(RIGHT)
    bad = [7, {"id": []}, {"answer": "a.txt", "text": ""}, {"answer": "no_such.py"}, {"answer": "a.py", "seed": -1}]
    _, lines = server.ask({"answers": [*bad, {"answer": str(file)}], **TERMS})
    errors = {one["id"]: str(one["error"]) for one in lines if "error" in one}
    assert errors.keys() == {0, 1, 2, 3, 4}
    assert "ends in .cu, .ptx or .py" in errors[2]
    assert "no kernel" in errors[3]
    assert "seed: an integer" in errors[4]
    assert [one["status"] for one in lines if "error" not in one] == ["kept"]


@pytest.mark.parametrize(
    ("body", "path", "changed", "status", "words"),
    [
        (None, "/health", {"Authorization": None}, 401, "as printed at the start"),
        (None, "/health", {"Authorization": "Bearer x"}, 401, "as printed at the start"),
        (None, "/health", {"Host": "kfuzz.example:80"}, 403, "Host"),
        (None, "/health", {"Origin": "http://127.0.0.1"}, 403, "web pages"),
        (None, "/judge", {}, 404, "POST /judge"),
        ({}, "/judge", {"Content-Type": "text/plain"}, 415, "application/json"),
        ({}, "/judge", {"Content-Length": str(MOST_BYTES + 1)}, 413, "at most"),
        ({}, "/judge", {"Content-Length": "x"}, 411, "a number"),
        (b"{", "/judge", {}, 400, "no JSON"),
        (b"[" * 100_000, "/judge", {}, 400, "no JSON"),
        ([], "/judge", {}, 400, "no JSON object"),
        ({"answer": "a.py", "text": "\ud800", "op": "row_sum"}, "/judge", {}, 400, "surrogate"),
        ({"answer": "a.py", "text": RIGHT}, "/judge", {}, 400, "one of them says what is right"),
        ({"answer": "a.py", "op": "row_sum", "budgt": 1}, "/judge", {}, 400, "'budgt': unknown"),
        (b'{"answer": "a.py", "op": "row_sum", "budget": NaN}', "/judge", {}, 400, "budget: seconds"),
        ({"answer": "a.py", "op": "row_sum", "reference": "b.py"}, "/judge", {}, 400, "one of them"),
    ],
)
def test_a_request_is_refused_in_one_line(
    server: RunningServer, body: object, path: str, changed: dict[str, str | None], status: int, words: str
) -> None:
    found, (line,) = server.ask(body, path, **changed)
    assert found == status
    assert words in str(line["error"])


def test_the_answers_of_a_client_that_vanishes_are_dropped_and_others_go_on(server: RunningServer) -> None:
    many = [{"answer": "a.py", "text": SLOW} for _ in range(3 * AT_ONCE)]
    connection = server.open({"answers": many, **TERMS})
    counts = server.wait_until(judging=2)
    connection.close()
    server.wait_until(waiting=0)
    assert server.ask({"answer": "a.py", "text": RIGHT, **TERMS})[1][0]["status"] == "kept"
    assert server.wait_until(judging=0)["judged"] <= counts["judged"] + 3


@pytest.mark.soak
@pytest.mark.slow(10)
def test_an_answer_whose_process_is_killed_gets_its_verdict_and_other_clients_theirs(server: RunningServer) -> None:
    lost = server.health()["lost"]
    connections = [server.open({"answer": f"{one}.py", "text": SLOW, **TERMS}) for one in range(3)]
    server.wait_until(judging=2)
    for pid in judges_of(server.process.pid):
        subprocess.run(["kill", "-9", str(pid)], check=True)
    replies = [one.getresponse() for one in connections]
    assert [one.status for one in replies] == [200, 200, 200]
    assert all(b'"status": "kept"' in one.read() for one in replies)
    assert server.health()["lost"] == lost + 2
    assert len(judges_of(server.process.pid)) == 2


@pytest.mark.parametrize(
    ("number", "code"), [pytest.param(signal.SIGKILL, -9, marks=pytest.mark.soak), (signal.SIGINT, 130)]
)
def test_a_server_that_ends_leaves_no_process_and_no_file(tmp_path: Path, number: int, code: int) -> None:
    with serving(tmp_path, "--jobs", "2") as one:
        answers = [{"answer": "a.py", "text": text} for text in (RIGHT, SLOW, SLOW)]
        connection = one.open({"answers": answers, **TERMS})
        one.wait_until(judging=2, judged=1)
        every = one.every_process()
        assert len(every) > 4
        one.process.send_signal(number)
        assert one.process.wait() == code
        connection.close()
        assert left_of(every) == []
    assert list((tmp_path / "cache" / "building").glob("*")) == []


def test_a_full_disk_is_one_line_and_the_server_goes_on(tmp_path: Path) -> None:
    mount = 'mount -t tmpfs -o size=512k kfuzz "$KFUZZ_CACHE" && exec "$@"'
    before = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, "sh"]
    can = ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "kfuzz", str(tmp_path)]
    if not shutil.which("unshare") or subprocess.run(can, capture_output=True, check=False).returncode:
        pytest.skip("this machine gives no namespaces")
    with serving(tmp_path, "--jobs", "1", before=before) as one:
        status, (line,) = one.ask({"answer": "a.py", "text": f"{RIGHT}#{'x' * (1 << 20)}", **TERMS})
        assert (status, "No space left on device" in str(line["error"])) == (500, True), line
        assert one.ask({"answer": "a.py", "text": RIGHT, **TERMS})[1][0]["status"] == "kept"
        assert one.health()["lost"] == 0
