import socket


def attack(victim):
    return socket.create_connection(("127.0.0.1", victim.port), 1)
