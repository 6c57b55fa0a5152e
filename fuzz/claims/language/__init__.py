"""The language of claims: keys, expressions, arrays and launches, and what the text of a kernel says by itself."""
