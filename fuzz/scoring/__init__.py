"""What becomes of mutants: each searched as its kernel is, until it dies; survivors explained."""
