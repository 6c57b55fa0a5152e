def attack(victim):
    return victim.secret.read_text()
