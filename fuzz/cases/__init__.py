"""Cases as recipes and as files: data from strangers, read with care and written whole."""
