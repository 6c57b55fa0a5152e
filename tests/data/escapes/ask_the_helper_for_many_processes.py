import os

from kfuzz.devices.worker import helping


def attack(victim):
    started = []
    for _ in range(12):
        files = [*os.pipe(), os.dup(2)]
        started.append(helping.ask_to_start("kfuzz.devices.cpu.backend", files))
    return all(started)
