def attack(victim):
    return victim.library.with_name("added.so").write_bytes(b"x")
