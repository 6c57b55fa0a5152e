"""One op a file: its exact definition, its enclosure, its special values and its diagnosis."""
