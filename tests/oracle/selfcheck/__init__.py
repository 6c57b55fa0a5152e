"""Is every enclosure sound, and does the oracle detect planted bugs? `python -m tests.oracle.selfcheck` runs it."""
