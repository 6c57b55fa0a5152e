"""The kernels that come with kfuzz, by name: a test that needs a few does not check the claims of all."""

from functools import cache

from paths import KERNELS

from kfuzz.claims.kernel import Kernel, discover, load


def our_kernel(name: str) -> Kernel:
    """The kernel of a name such as `softmax/online_block`, or `broken/tail_dropped`."""
    return load(KERNELS / f"{name}.cu")


@cache
def every_kernel() -> tuple[Kernel, ...]:
    """All of them, for the tests of a process: 15 modules ask for them while tests are collected."""
    return discover()
