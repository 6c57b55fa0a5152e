def attack(victim):
    kept = [bytearray(1 << 30) for _ in range(64)]
    return kept
