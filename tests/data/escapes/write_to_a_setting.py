from pathlib import Path


def attack(victim):
    return Path("/proc/sys/kernel/core_pattern").write_text("core")
