import fcntl
import os


def attack(victim):
    reading, _ = os.pipe()
    fcntl.fcntl(reading, 8, victim.pid)
    return fcntl.fcntl(reading, fcntl.F_GETOWN) == victim.pid
