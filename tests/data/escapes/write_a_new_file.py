def attack(victim):
    return (victim.folder / "new").write_text("x")
