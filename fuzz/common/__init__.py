"""What every storey may use: errors, exit codes, phases, and text as text. It imports no other storey."""
