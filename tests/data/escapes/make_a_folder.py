def attack(victim):
    (victim.folder / "made").mkdir()
    return True
