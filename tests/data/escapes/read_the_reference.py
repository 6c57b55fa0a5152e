def attack(victim):
    return victim.reference.read_text()
