"""Narrow arrays in a claim: words of several elements, layouts, groups, and what lies between elements in memory."""

from pathlib import Path

import numpy as np
import pytest

from kfuzz.campaign.trials.trial import unfit
from kfuzz.cases.case import case_of
from kfuzz.claims.arrays_in_memory import memory_axis, memory_shape, pack_array, unpack_array
from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.devices import ClaimError
from kfuzz.oracle.numbers.elements import ELEMENTS, codes_of

BASE = KERNELS / "group_quantize" / "mxfp4_tiles.cu"
ARRAYS = 'q = "e2m1x2[rows, cols / 2] <- q", scale = "e8m0[rows, cols / 32] <- scale, tiles 128x4"'
X = np.linspace(-3, 3, 130 * 160, dtype=np.float32).reshape(130, 160)


def kernel_with(folder: Path, *edits: tuple[str, str]) -> Kernel:
    text = BASE.read_text().replace('"../amax.cuh"', f'"{KERNELS}/amax.cuh"')
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    path = folder / "mine.cu"
    path.write_text(text)
    return load(path)


def test_a_role_counts_elements_and_memory_counts_words() -> None:
    kernel = load(BASE)
    bound = kernel.bind({"x": X}, {"threads": 32})
    buffers = {one.name: one for one in bound.job.buffers}
    assert kernel.shapes(bound.sizes) == {"x": (130, 160), "q": (130, 160), "scale": (130, 5)}
    assert (buffers["q"].shape, buffers["q"].element.name, buffers["q"].padding) == ((130, 80), "u8", None)
    assert buffers["scale"].shape == (2 * 2 * 512,)
    assert buffers["scale"].padding is not None
    assert int((~buffers["scale"].padding).sum()) == 130 * 5


def test_an_output_is_unpacked_to_the_elements_of_its_role() -> None:
    kernel = load(BASE)
    sizes = kernel.sizes({"rows": 130, "cols": 160}, {"threads": 32})
    codes = np.random.default_rng(1).integers(0, 16, (130, 160)).astype(np.uint8).view(ELEMENTS["e2m1"].dtype)
    scales = np.random.default_rng(2).integers(0, 256, (130, 5)).astype(np.uint8).view(ELEMENTS["e8m0"].dtype)
    given = {"q": codes, "scale": scales}
    packed = {name: pack_array(kernel.arrays[name], array) for name, array in given.items()}
    assert packed["q"].nbytes == 130 * 80
    found = kernel.outputs(packed, sizes)
    assert all(np.array_equal(codes_of(found[role]), codes_of(array)) for role, array in given.items())


@pytest.mark.parametrize(
    ("text", "shape", "memory", "axis"),
    [
        ("u4x8[rows, cols / 8]", (3, 64), (3, 8), 0),
        ("i4x2[rows, ceil_div(cols, 2)]", (3, 5), (3, 3), 0),
        ("e4m3[rows, cols]", (3, 5), (3, 5), 0),
        ("e4m3[rows, cols] <- q, by columns", (3, 5), (5, 3), 1),
        ("i4x2[ceil_div(rows, 2), cols] <- q, by columns", (4, 5), (5, 2), None),
        ("i8[rows, cols] <- q, stride 2048", (3, 5), (3, 2048), 0),
    ],
)
def test_the_shape_in_memory_and_the_axis_of_rows_follow_from_words_and_layout(
    text: str, shape: tuple[int, ...], memory: tuple[int, ...], axis: int | None, tmp_path: Path
) -> None:
    written = text if "<-" in text else f"{text} <- q"
    edits = (("e2m1x2[rows, cols / 2] <- q", written), ("unsigned char *q", "void *q"), ("max = 1048576", "max = 1024"))
    array = kernel_with(tmp_path, *edits).arrays["q"]
    codes = np.zeros(shape, np.uint8).view(array.element.dtype)
    assert memory_shape(array, shape) == memory
    assert memory_axis(array, 0) == axis
    assert pack_array(array, codes).shape == memory
    assert unpack_array(array, pack_array(array, codes), shape).shape == shape


def test_what_lies_between_the_elements_of_an_input_is_nan() -> None:
    array = load(BASE).arrays["scale"]
    memory = pack_array(array, np.zeros((1, 1), np.uint8).view(array.element.dtype)).view(np.uint8)
    assert sorted(set(memory.tolist())) == [0, 0xFF]
    assert int((memory == 0).sum()) == 1


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("e2m1x2[rows, cols / 2]", "e2m1x3[rows, cols / 3]", "unknown element type 'e2m1x3'"),
        ("e2m1x2[rows, cols / 2]", "e2m1x2[rows, cols]", "'q' of group_quantize is [rows, cols]; cols is 32 elsewhere"),
        ("tiles 128x4", "tiles 64x4", "'tiles 64x4' is no layout"),
        ("e2m1x2[rows, cols / 2]", "f32[rows, cols]", "'q' of group_quantize is i8 or u8"),
        ("cols / 32] <- scale", "cols / 16] <- scale", "2 for cols / group, which is 1 with cols = 32, group = 32"),
        ("group = 32, eps = 0", "group = 0, eps = 0", "it is 1 or more"),
        ("group = 32, eps = 0", 'group = 32, eps = "cols"', "a finite number is expected"),
        ("group = 32, eps = 0", "groups = 32", "no scalar of this name; it has eps, least_scale, group"),
        ('"exponent of amax"', '"the largest"', "one of amax / max, power of two up, exponent of amax is expected"),
        ("cols / 2] <- q", "cols / 2] = 1 <- q", "the host may fill it with 0"),
        ("cols / 2] <- q", "cols / 2] <- q, stride 64", "stride 64: expected a multiple of 2, at least 1048576"),
    ],
)
def test_a_mistake_in_a_narrow_array_is_one_clear_line(old: str, new: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ClaimError) as error:
        kernel_with(tmp_path, (old, new))
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_an_odd_row_of_nibbles_needs_half_a_byte_more(tmp_path: Path) -> None:
    odd = ("min = 32, max = 1048576, multiple = 32", "min = 31, max = 1024")
    whole = ("cols / 32] <- scale", "ceil_div(cols, 32)] <- scale")
    grid = ("rows * (cols / 32)", "rows * cols")
    with pytest.raises(ClaimError, match="elements of e2m1x2 take 16 words, not 15"):
        kernel_with(tmp_path, odd, whole, grid)
    assert kernel_with(tmp_path, odd, whole, grid, ("cols / 2] <- q", "ceil_div(cols, 2)] <- q")).arrays["q"].per == 2


def test_an_op_whose_forms_are_different_functions_needs_one(tmp_path: Path) -> None:
    text = (KERNELS / "fake_quantize" / "int8_group_warp.cu").read_text()
    path = tmp_path / "mine.cu"
    for without in (text.replace('form = "i8", ', ""), text.replace('"i8"', '"any"')):
        path.write_text(without)
        with pytest.raises(ClaimError, match=r"accuracy.form.*: (fake_quantize needs )?one of i8, i4, e4m3, .*e2m1"):
            load(path)


def test_only_an_op_that_rounds_to_a_grid_quantizes(tmp_path: Path) -> None:
    text = (KERNELS / "softmax" / "online_thread.cu").read_text()
    path = tmp_path / "mine.cu"
    path.write_text(text.replace("// ///\n", '// [quantize]\n// round = "away"\n// ///\n'))
    with pytest.raises(ClaimError, match="softmax rounds to no grid, so that nothing is quantized"):
        load(path)


def test_a_narrow_case_fits_a_kernel_of_its_type_and_numbers_fit_any() -> None:
    kernel = load(BASE)
    numbers = case_of("group_quantize", {"x": X[:1, :32]})
    codes = case_of("group_quantize", {"x": np.full((1, 32), 0x38, np.uint8).view(ELEMENTS["e4m3"].dtype)})
    assert unfit(kernel, numbers) == unfit(kernel, codes) == ""
    assert np.array_equal(kernel.stored(codes.arrays)["x"], np.ones((1, 32), np.float32))


def test_an_input_may_be_there_twice_if_it_lies_in_tiles_the_second_time(tmp_path: Path) -> None:
    """As tasks hand over scales, in rows and in tiles; two arrays in rows would be a slip of the pen."""
    text = (KERNELS / "group_dequantize" / "mxfp4_tiles.cu").read_text().replace('"../', f'"{KERNELS}/')
    text = text.replace('"scale", "cols"]', '"scale", "again", "cols"]').replace(
        "*scale, int", "*scale, const char *again, int"
    )
    first, path = "-> scale, tiles 128x4", tmp_path / "mine.cu"
    path.write_text(text.replace(first, f'{first}", again = "e8m0[rows, cols / 32] -> scale'))
    bound = load(path).bind({"q": X[:, :64], "scale": np.ones((130, 2), np.float32)}, {"threads": 64})
    held = {one.name: one.content for one in bound.job.buffers}
    assert held["again"] is not None
    assert held["scale"] is not None
    assert np.array_equal(codes_of(held["again"]), np.full((130, 2), ELEMENTS["e8m0"].one))
    assert int((codes_of(held["scale"]) == ELEMENTS["e8m0"].one).sum()) == 260, "the rest is padding"
    path.write_text(text.replace(first, f'{first}", again = "e8m0[rows, cols / 32] {first}'))
    with pytest.raises(ClaimError, match="is the role of 'scale' already"):
        load(path)
