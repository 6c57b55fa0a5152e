def attack(victim):
    victim.empty.rmdir()
    return True
