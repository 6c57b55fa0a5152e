from pathlib import Path


def attack(victim):
    return b"SECRET_OF_KFUZZ" in Path("/proc/self/environ").read_bytes()
