"""Words that formulas share: windows, segments, losses, norms, networks with a state."""
