def attack(victim):
    victim.secret.unlink()
    return True
