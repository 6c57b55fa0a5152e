from pathlib import Path


def attack(victim):
    return Path(f"/proc/self/root{victim.secret}").read_text()
