"""Measure the oracle: is every enclosure sound, and does it detect planted bugs? Run by `python -m kfuzz.oracle`."""
