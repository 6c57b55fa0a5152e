import os


def attack(victim):
    os.setpriority(os.PRIO_PROCESS, victim.pid, 5)
    return True
