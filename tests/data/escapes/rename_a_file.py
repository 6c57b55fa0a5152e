def attack(victim):
    victim.secret.rename(victim.folder / "other")
    return True
