"""One rule a file: what plain intervals alone would say too loosely, or could not say at all."""
