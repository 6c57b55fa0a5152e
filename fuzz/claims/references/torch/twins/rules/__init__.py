"""What each operation of torch does to values and radii: a file for each family, found by wildcard."""
