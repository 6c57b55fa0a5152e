"""What a claim says about rounding: counts of roundings, models of functions, quantizers."""
