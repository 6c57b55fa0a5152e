import os


def attack(victim):
    for number in range(20_000):
        open(os.path.join(os.environ["TMPDIR"], f"n{number}"), "wb").close()
    return True
