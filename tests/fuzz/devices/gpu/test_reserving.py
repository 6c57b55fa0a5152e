"""What one process at a time does on a GPU: the others wait for their turn, or leave it out."""

import multiprocessing
import os
import time
from multiprocessing.connection import Connection

from kfuzz.devices.gpu.reserving import reserve, take_turn


def hold(what: str, pipe: Connection) -> None:
    with take_turn(what) as is_alone:
        pipe.send(is_alone)
        pipe.recv()


def test_a_process_waits_for_its_turn_until_the_other_has_ended() -> None:
    what = f"test-{os.getpid()}"
    ours, theirs = multiprocessing.Pipe()
    other = multiprocessing.get_context("spawn").Process(target=hold, args=(what, theirs))
    other.start()
    assert ours.recv()
    with take_turn(what, most=0.05) as is_alone:
        assert not is_alone, "it is the other's turn, and this one has waited long enough"
    other.kill()
    began = time.monotonic()
    with take_turn(what) as is_alone:
        assert is_alone
    assert time.monotonic() - began < 10
    other.join()


def test_a_turn_at_one_thing_is_none_at_another() -> None:
    what = f"test-{os.getpid()}"
    with take_turn(what) as first, reserve(what, "0000:00:00.0") as second, take_turn(f"{what}2") as third:
        assert first
        assert second
        assert third
