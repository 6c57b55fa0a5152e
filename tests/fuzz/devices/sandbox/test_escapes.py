"""What an answer may try against the sandbox, one file each: none of it succeeds, and outside most of it does."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attacked
import pytest

import kfuzz.oracle
from kfuzz.devices.sandbox.box import Sandboxed, why_not
from kfuzz.devices.worker.nursery import Nursery
from kfuzz.devices.worker.worker import environment

ATTACKS = sorted((Path(__file__).parents[4] / "tests" / "data" / "escapes").glob("*.py"))
TOO_MUCH = {"fill_memory", "write_a_large_file", "fill_the_scratch_folder", "make_many_files", "write_to_a_setting"}
"""Outside of a sandbox they would do harm."""
NEED_RIGHTS = {
    *("add_a_key", "change_the_root", "handle_page_faults", "lift_a_limit", "load_a_program_into_the_kernel"),
    *("mount_a_folder", "open_a_terminal", "read_the_kernel_log", "read_the_passwords", "regain_rights"),
    *("set_an_attribute", "set_up_io_uring", "unmount_the_scratch_folder", "use_an_inherited_file", "count_events"),
    *("enter_a_namespace", "make_a_network_namespace", "make_a_user_namespace", "open_a_message_queue"),
    *("send_messages_of_system_v", "share_memory_of_system_v", "trace_a_process", "seize_a_process", "clone_by_number"),
    *("handle_page_faults", "compare_processes", "signal_a_thread", "signal_a_thread_by_number", "become_a_daemon"),
    *("ask_the_helper_for_another_process", "ask_the_helper_for_many_processes", "ask_the_helper_for_other_work"),
    *(
        "ask_the_helper_for_lines_of_a_file",
        "read_memory_of_a_process",
        "write_memory_of_a_process",
        "open_mem_of_a_process",
        "fork_bomb",
    ),
}
"""Whether they succeed outside depends on the machine and its user, or they take the process with them."""
SLEEPER = """
import ctypes, time
held = ctypes.create_string_buffer(b"secret  ")
print(ctypes.addressof(held), flush=True)
time.sleep(600)
"""

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a sandbox")


@pytest.fixture(scope="module")
def sleeper() -> Iterator[tuple[int, int]]:
    """Another process of this user, and the place of its secret."""
    with subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.pid, int(process.stdout.readline())
        process.kill()


@pytest.fixture(scope="module")
def nurseries() -> Iterator[dict[bool, Nursery]]:
    """The processes from which attackers are forked, by whether these are in sandboxes."""
    os.environ |= {"SECRET_OF_KFUZZ": "x"}
    sys.path.insert(0, str(Path(attacked.__file__).parent))
    both = {is_boxed: Nursery(["attacked"], {}, is_boxed=is_boxed) for is_boxed in (True, False)}
    sys.path.pop(0)
    yield both
    del os.environ["SECRET_OF_KFUZZ"]
    for one in both.values():
        one.close()


@pytest.fixture
def victim(
    tmp_path: Path, sleeper: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, str | int]]:  # fmt: skip
    """What an attack may go for."""
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path / "cache"))
    texts = {
        "secret": "theirs/secret.txt",
        "answer": "mine/answer.py",
        "reference": "mine/problem_of_kfuzz.py",
        "compiled_reference": "mine/__pycache__/problem_of_kfuzz.cpython-311.pyc",
        "library": "cache/cpu/library.so",
        "formula": "cache/claims/formula.py",
    }
    for one in texts.values():
        (tmp_path / one).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / one).write_text("secret = 'of kfuzz'\n")
    (tmp_path / "theirs" / "empty").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        where = f"/tmp/kfuzz-{os.getpid()}-{tmp_path.name[-8:]}"  # noqa: S108  a longer name fits no socket
        unix.bind(where)
        unix.listen()
        yield {
            **{name: str(tmp_path / one) for name, one in texts.items()},
            "folder": str(tmp_path / "theirs"),
            "empty": str(tmp_path / "theirs" / "empty"),
            "oracle": str(Path(kfuzz.oracle.__file__).parent),
            "socket": where,
            "port": tcp.getsockname()[1],
            "pid": sleeper[0],
            "address": sleeper[1],
        }
        Path(where).unlink()


def make_attack(attack: Path, victim: dict[str, str | int], nursery: Nursery, is_boxed: bool) -> str:
    """What an attacker printed last; the number of its signal if it was ended."""
    box = Sandboxed((Path(str(victim["answer"])),), (Path(str(victim["reference"])),)).box() if is_boxed else None
    about = {attacked.ATTACK: str(attack), attacked.VICTIM: json.dumps(victim), "TMPDIR": str(victim["empty"])}
    started = nursery.start("attacked", {**environment(is_boxed), **about}, box)
    status = started.reap()
    for pipe in (started.stdin, started.stdout):
        assert pipe is not None
        pipe.close()
    assert started.printed is not None
    return started.printed.words() or f"ended by {status}"


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda one: one.stem)
def test_no_attack_escapes(attack: Path, victim: dict[str, str | int], nurseries: dict[bool, Nursery]) -> None:
    said = make_attack(attack, victim, nurseries[True], is_boxed=True)
    assert attacked.HELD in said or "ended by -" in said
    assert attacked.ESCAPED not in said
    for name in ("secret", "reference", "library", "formula"):
        assert Path(str(victim[name])).read_text() == "secret = 'of kfuzz'\n"
    assert {one.name for one in Path(str(victim["folder"])).iterdir()} == {"empty", "secret.txt"}


@pytest.mark.soak
@pytest.mark.parametrize(
    "attack",
    [one for one in ATTACKS if one.stem not in TOO_MUCH | NEED_RIGHTS],
    ids=lambda one: one.stem,
)
def test_without_a_sandbox_the_attack_succeeds(
    attack: Path, victim: dict[str, str | int], nurseries: dict[bool, Nursery]
) -> None:
    """Else the test above could not fail."""
    assert attacked.ESCAPED in make_attack(attack, victim, nurseries[False], is_boxed=False)


def test_there_are_sixty_attacks_and_more() -> None:
    assert len(ATTACKS) > 60
    assert {one.stem for one in ATTACKS} >= TOO_MUCH | NEED_RIGHTS
