from kfuzz.devices.cpu.outside import Wanted, WantedLines
from kfuzz.devices.worker import helping


def attack(victim):
    wanted = Wanted(lines=WantedLines(str(victim.secret), (1,)))
    return helping.ask_for_help("kfuzz.devices.cpu.outside", wanted)
