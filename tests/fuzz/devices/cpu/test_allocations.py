"""The words for an array that the author's code allocates: its name, its elements and the function."""

import pytest

from kfuzz.devices.cpu.allocations import Allocation, find_allocation


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cudaMalloc(&x, n * sizeof(float));", Allocation("x", "cudaMalloc", "float")),
        (
            "CHECK(cudaMallocManaged((void **)&a.rows, sizeof(double) * n));",
            Allocation("a.rows", "cudaMallocManaged", "double"),
        ),
        ("int *old; float *x, *y;\ncudaMalloc(&y, 4 * n);", Allocation("y", "cudaMalloc", "float")),
        ("cudaMalloc(&x, n * sizeof(Particle));", Allocation("x", "cudaMalloc")),
        ("cudaMalloc(&x, n * sizeof(float *));", Allocation("x", "cudaMalloc")),
        ("cudaMalloc(&x, a * sizeof(int) + b * sizeof(float));", Allocation("x", "cudaMalloc")),
        ("auto y = torch::empty({n}, x.options());", Allocation("y", "torch::empty")),
        ("x = new float[n];", None),
        (
            f"void f(float *out, {', '.join(f'const float *a{k}' for k in range(40))});\ncudaMalloc(&x, n);",
            Allocation("x", "cudaMalloc"),
        ),
    ],
)
def test_an_allocation_is_named_as_its_line_writes_it(text: str, found: Allocation | None) -> None:
    assert find_allocation(text, text.count("\n") + 1, 0, 1) == found


def test_arrays_of_one_line_have_names_in_turn_unless_some_are_missing() -> None:
    text = "cudaMalloc(&x, n * sizeof(float)); cudaMalloc(&y, n * sizeof(double));"
    assert find_allocation(text, 1, 0, 2) == Allocation("x", "cudaMalloc", "float")
    assert find_allocation(text, 1, 3, 4) == Allocation("y", "cudaMalloc", "double")
    assert find_allocation(text, 1, 0, 1) is None


def test_bytes_are_told_as_elements_if_they_are_whole_ones() -> None:
    assert Allocation("x", "cudaMalloc", "float").describe(4000) == "1000 floats"
    assert Allocation("x", "cudaMalloc", "float4").describe(32) == "2 float4"
    assert Allocation("x", "cudaMalloc", "double").describe(12) == "12 bytes"
    assert Allocation("x", "cudaMalloc").describe(1) == "1 byte"
