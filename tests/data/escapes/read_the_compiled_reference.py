def attack(victim):
    return victim.compiled_reference.read_bytes()
