"""Scores the search: it searches each mutant like its kernel until a trial kills it, and explains survivors."""
