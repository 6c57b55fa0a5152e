import socket


def attack(victim):
    one = socket.socket(socket.AF_UNIX)
    one.connect(str(victim.socket))
    return True
