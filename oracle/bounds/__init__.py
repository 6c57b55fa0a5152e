"""The bounds of right answers for one case under one claim."""
