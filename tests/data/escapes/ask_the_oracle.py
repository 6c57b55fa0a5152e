import importlib


def attack(victim):
    return importlib.import_module("kfuzz.oracle.judging.judge")
