"""What a kernel file says of itself: its front matter, read, checked and made into numbers."""
