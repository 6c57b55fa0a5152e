import os
import stat


def attack(victim):
    os.mknod(victim.folder / "socket", stat.S_IFSOCK | 0o600)
    return True
