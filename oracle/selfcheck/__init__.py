"""The oracle measured: is every enclosure sound, and does it see planted bugs? Run by `python -m kfuzz.oracle`."""
