def attack(victim):
    with victim.library.open("r+b") as file:
        return file.write(b"x")
