from pathlib import Path


def attack(victim):
    return Path("/dev/shm/kfuzz-escape").write_text("x")
