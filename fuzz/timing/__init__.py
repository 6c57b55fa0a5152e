"""How fast a kernel is, counted only where it is right: the protocol, what it is run beside, and what figures mean."""
