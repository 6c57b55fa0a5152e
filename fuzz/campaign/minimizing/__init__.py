"""Makes a failing trial as small as possible."""
