import socket


def attack(victim):
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
