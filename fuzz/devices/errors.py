"""Why a device has no outcome of a job: the kernel file, the machine, or kfuzz itself is at fault."""

import traceback


class ClaimError(Exception):
    """The kernel file itself is at fault (it does not compile, an entry is missing): exit 2, never a finding."""


class UnsupportedError(ClaimError):
    """The kernel uses what this device does not have; another device may. It is skipped, and accused of nothing."""


class MissingError(ClaimError):
    """The kernel needs a library that is not installed here, or that does not work in this environment."""


class DeviceError(Exception):
    """This machine cannot run kernels on this device; the message says what is missing and how to get it."""


class OutOfMemory(Exception):  # noqa: N818  it is the device's answer, not a fault of this program
    """The device's memory, or the host's pinned memory, cannot hold this job."""


class TogetherError(Exception):
    """Of jobs that were begun together one has ended what all of them need: each has to be run by itself."""


class UnexpectedError(DeviceError):
    """Something went wrong that kfuzz does not know of: its own fault, told in one line; its notes say where."""


def wrap_unexpected(error: BaseException) -> UnexpectedError:
    """An error that nobody has foreseen, in one line, with its traceback as a note."""
    said = " ".join(str(error).split())[:300]
    wrapped = UnexpectedError(f"kfuzz itself failed: {type(error).__name__}: {said} (kfuzz --debug shows where)")
    wrapped.add_note("".join(traceback.format_exception(error)))
    return wrapped
