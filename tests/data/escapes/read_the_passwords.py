from pathlib import Path


def attack(victim):
    return Path("/etc/shadow").read_text()
