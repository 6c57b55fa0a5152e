import subprocess


def attack(victim):
    return subprocess.run(["/bin/true"], check=True)
