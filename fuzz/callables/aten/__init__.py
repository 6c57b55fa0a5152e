"""What torch's operations mean in the words of a formula: each as lines of text over a number system N.

Knows the operations by their names, as a trace of a reference has them; torch is not imported here.
"""
