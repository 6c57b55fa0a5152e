"""Errors that end in one line: the kernel file, the command line, the machine or kfuzz itself is at fault."""

import traceback


class ClaimError(Exception):
    """The kernel file itself is at fault (it does not compile, an entry is missing): exit 2, never a finding."""


class UnsupportedError(ClaimError):
    """The kernel uses a feature that this device lacks. It is skipped, without a finding; another device may run it."""


class NeedsGpuError(UnsupportedError):
    """A Python file asks for a GPU where there is none: it may run in a process that answers as if there were one."""


class OtherLibraryError(UnsupportedError):
    """A Python file does not take arrays of this library: it may take another one's."""


class MissingError(ClaimError):
    """The kernel needs a library that is not installed here, or that does not work in this environment."""


class OutOfTimeError(ClaimError):
    """The time of the whole command was over before this ended, so nothing is known of it."""


class TargetError(ValueError):
    """The target of a command names no kernel file."""


class DeviceError(Exception):
    """This machine cannot run kernels on this device; the message says what is missing and how to get it."""


class OutOfMemory(Exception):  # noqa: N818  it is the device's answer, not a fault of this program
    """The device's memory, or the host's pinned memory, cannot hold this job."""


class TogetherError(Exception):
    """One of several jobs that run together has ended the context that all of them need: run each by itself."""


class UnexpectedError(DeviceError):
    """A bug of kfuzz itself, reported in one line; its notes hold the traceback."""


def wrap_unexpected(error: BaseException) -> UnexpectedError:
    """Turn an unforeseen error into one line, with its traceback as a note."""
    words = " ".join(str(error).split())[:300]
    wrapped = UnexpectedError(f"kfuzz itself failed: {type(error).__name__}: {words} (kfuzz --debug shows where)")
    wrapped.add_note("".join(traceback.format_exception(error)))
    return wrapped


def line_of(error: Exception) -> str:
    """An error in one line, whatever it is."""
    return str(error) if isinstance(error, (ClaimError, DeviceError)) else str(wrap_unexpected(error))
