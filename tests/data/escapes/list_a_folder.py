def attack(victim):
    return list(victim.folder.iterdir())
