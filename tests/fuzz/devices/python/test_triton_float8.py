"""float8 in Triton's interpreter: each conversion is that of the type's grid, which the interpreter's own is not."""

import importlib

import numpy as np
import pytest

from kfuzz.oracle.numbers.elements import ELEMENTS

pytest.importorskip("triton", reason="triton is not installed")
float8 = importlib.import_module("kfuzz.devices.python.triton.float8")

INPUT = np.array([464.0, 464.1, 1e9, np.inf, -np.inf, np.nan, 1.0625, 1.01 * 2.0**-10, -0.0, 2.0**-9], np.float32)
E4M3 = [0x7E, 0x7E, 0x7E, 0x7E, 0xFE, 0x7F, 0x38, 0x01, 0x80, 0x01]


def test_every_code_and_tie_converts_as_the_grid_has_it() -> None:
    assert float8.codes_of_numbers(INPUT, ELEMENTS["e4m3"], False).tolist() == E4M3
    assert float8.codes_of_numbers(np.float32([1.19, -1.19, 500]), ELEMENTS["e4m3"], True).tolist() == [
        0x39,
        0xB9,
        0x7E,
    ]
    for name in ("e4m3", "e5m2"):
        codes = np.arange(256, dtype=np.uint8)
        numbers = float8.numbers_of(codes, ELEMENTS[name])
        known = np.isfinite(numbers)
        back = float8.codes_of_numbers(numbers.astype(np.float32), ELEMENTS[name], False)
        assert back[known].tolist() == codes[known].tolist()


def test_the_interpreter_takes_them_and_without_them_differs() -> None:
    from triton import language as tl  # noqa: PLC0415  optional
    from triton.runtime import interpreter  # noqa: PLC0415  optional

    def to_float8() -> list[int]:
        handle = interpreter.TensorHandle(INPUT.copy(), tl.float32)
        mode = interpreter._ir.ROUNDING_MODE.RTNE
        with np.errstate(all="ignore"):
            return interpreter.InterpreterBuilder().create_fp_to_fp(handle, tl.float8e4nv, mode).data.tolist()

    builder = interpreter.InterpreterBuilder
    before = builder.create_fp_to_fp, builder.cast_impl
    try:
        own = to_float8()
        float8.install()
        assert to_float8() == E4M3 != own
        back = interpreter.InterpreterBuilder().create_fp_to_fp(
            interpreter.TensorHandle(np.array([0x38, 0x01, 0x7F], np.uint8), tl.float8e4nv), tl.float32, None
        )
        assert back.data[:2].tolist() == [1.0, 2.0**-9]
        assert np.isnan(back.data[2])
    finally:
        builder.create_fp_to_fp, builder.cast_impl = before
