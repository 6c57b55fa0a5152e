"""One number system a file: what a formula may be run over, from exact numbers to a simulated kernel."""
