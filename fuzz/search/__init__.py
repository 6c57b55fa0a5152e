"""What is tried: hostile sizes and values, planned from a claim."""
