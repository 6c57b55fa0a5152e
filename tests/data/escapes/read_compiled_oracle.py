def attack(victim):
    compiled = (victim.oracle / "judging" / "__pycache__").iterdir()
    return next(one for one in compiled if one.stem.startswith("judge.")).read_bytes()
