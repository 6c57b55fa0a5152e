"""An op: its arrays, its formula, its names, and what follows from them."""
