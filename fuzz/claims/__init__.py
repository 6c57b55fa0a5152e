"""The claim of a kernel file: its front matter, read, checked and evaluated."""
