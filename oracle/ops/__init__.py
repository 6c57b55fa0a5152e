"""The ops, one per file: exact definition, enclosure, special values and diagnosis."""
