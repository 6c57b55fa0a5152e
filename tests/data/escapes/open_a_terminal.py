def attack(victim):
    return open("/dev/tty")
