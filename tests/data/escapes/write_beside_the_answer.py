def attack(victim):
    return (victim.answer.parent / "new").write_text("x")
