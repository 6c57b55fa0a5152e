import resource


def attack(victim):
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, 1 << 40))
    resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 12, 1 << 12))
    resource.setrlimit(resource.RLIMIT_DATA, (1 << 50, 1 << 50))
    return True
