"""Proofs about the oracle itself: admission of formulas, and the self-check."""
