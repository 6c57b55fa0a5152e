"""One file for each family of PTX instructions: ROWS, read by kfuzz.devices.cpu.ptx.table."""
