"""References in torch: their files, and the processes that turn them into formulas."""
