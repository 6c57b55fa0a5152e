"""The meaning of torch's operations as formulas: each as lines of text over a number system N.

Knows the operations by their names, as a trace of a reference has them; it does not import torch.
"""
