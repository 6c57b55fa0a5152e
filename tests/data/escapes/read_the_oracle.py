def attack(victim):
    return (victim.oracle / "judging" / "judge.py").read_text()
