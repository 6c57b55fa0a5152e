from pathlib import Path


def attack(victim):
    return Path(f"/proc/{victim.pid}/root{victim.secret}").read_text()
