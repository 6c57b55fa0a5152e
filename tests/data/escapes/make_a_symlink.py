def attack(victim):
    (victim.folder / "link").symlink_to("/")
    return True
