from kfuzz.devices.worker import helping


def attack(victim):
    return helping.ask_to_start("attacked", [0, 1, 2])
