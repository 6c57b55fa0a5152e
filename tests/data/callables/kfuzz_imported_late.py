# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
# ///
def row_sum(x):
    import kfuzz
    from kfuzz.devices.python.hiding import hidden

    assert callable(hidden)
    assert kfuzz.__name__ == "kfuzz"
    return x.sum(-1)
