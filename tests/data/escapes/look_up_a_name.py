import socket


def attack(victim):
    connection = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    return connection.fileno()
