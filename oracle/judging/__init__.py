"""The verdict on an answer: it compares the answer with its bounds and certifies each accusation."""
