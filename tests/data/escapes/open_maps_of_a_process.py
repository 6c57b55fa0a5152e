from pathlib import Path


def attack(victim):
    return Path(f"/proc/{victim.pid}/maps").open("rb")
