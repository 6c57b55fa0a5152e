from kfuzz.devices.worker import helping


def attack(victim):
    return helping.ask_for_help("os", "getcwd")
