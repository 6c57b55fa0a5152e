import resource


def attack(victim):
    resource.prlimit(victim.pid, resource.RLIMIT_CORE, (0, 0))
    return True
