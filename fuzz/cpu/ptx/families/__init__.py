"""One file for each family of PTX instructions: ROWS, read by kfuzz.cpu.ptx.table."""
