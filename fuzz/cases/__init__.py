"""Cases as recipes and as files: untrusted data, checked when it is read and written atomically."""
