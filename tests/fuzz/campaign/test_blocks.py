"""The blocks of trials of one kernel."""

import pytest

from kfuzz.campaign.blocks import errors_of_one_kernel
from kfuzz.common.errors import DeviceError, wrap_unexpected
from kfuzz.devices import ClaimError
from kfuzz.oracle.numbers.errors import OracleError


def test_an_error_while_one_kernel_is_judged_ends_only_its_trials() -> None:
    wanted = r"trial 7: .*OracleError: no such size .*this kernel is not tried further"
    with pytest.raises(ClaimError, match=wanted), errors_of_one_kernel(7):
        raise OracleError("no such size")
    with pytest.raises(DeviceError, match="no GPU"), errors_of_one_kernel(7):
        raise DeviceError("no GPU")
    with pytest.raises(ClaimError, match=r"trial 7: kfuzz itself failed: TypeError: odd"), errors_of_one_kernel(7):
        raise wrap_unexpected(TypeError("odd"))
