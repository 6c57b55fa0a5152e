"""Properties that users rely on besides the answer to one input: each is one file in `checks`."""
