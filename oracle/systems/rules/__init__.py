"""The rules, one per file, where plain intervals would be too loose or have no answer."""
