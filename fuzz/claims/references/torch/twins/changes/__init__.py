"""The ways in which people get a step of a reference wrong: a file for each family, found by wildcard."""
