"""The kernels that come with kfuzz, by name: a test that needs a few does not check the claims of all."""

from paths import KERNELS

from kfuzz.claims.kernel import Kernel, load


def our_kernel(name: str) -> Kernel:
    """The kernel of a name such as `softmax/online_block`, or `broken/tail_dropped`."""
    return load(KERNELS / f"{name}.cu")
