import socket


def attack(victim):
    one = socket.socket(socket.AF_UNIX)
    one.bind("\0kfuzz-escape")
    return True
