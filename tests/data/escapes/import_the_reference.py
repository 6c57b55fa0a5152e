import importlib
import sys


def attack(victim):
    sys.path.insert(0, str(victim.reference.parent))
    return importlib.import_module(victim.reference.stem)
