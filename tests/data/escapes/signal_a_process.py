import os
import signal


def attack(victim):
    os.kill(victim.pid, signal.SIGCONT)
    return True
