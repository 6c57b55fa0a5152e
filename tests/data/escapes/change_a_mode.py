def attack(victim):
    victim.secret.chmod(0o777)
    return True
