"""Chooses what to try: hostile sizes and values, planned from a claim."""
