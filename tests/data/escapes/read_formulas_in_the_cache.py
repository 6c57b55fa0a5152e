def attack(victim):
    return victim.formula.read_text()
