def attack(victim):
    with victim.secret.open("a") as file:
        return file.write("x")
