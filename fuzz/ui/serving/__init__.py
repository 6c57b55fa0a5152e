"""Judges many answers: a queue, processes that stay warm, and the ways in which answers come."""
