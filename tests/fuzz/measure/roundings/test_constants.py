"""The eps of an op in a file without a claim: an argument has the op's, else a number of the text, else the user's."""

import tomllib
from pathlib import Path

import pytest

from kfuzz.devices import ClaimError
from kfuzz.measure.roundings.guess_host import NOTHING, FunctionWords, host_claims
from kfuzz.measure.roundings.guess_kernel import claims, function_of
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

EXTENSION = """#include <torch/extension.h>
torch::Tensor forward(torch::Tensor x, torch::Tensor w, torch::Tensor b, double epsilon) {
  return norm(x, w, b, 0.0f + epsilon);
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, py::arg("epsilon") = 1e-6); }
"""
IN_ITS_TEXT = EXTENSION.replace(", double epsilon)", ")").replace("epsilon)", "1e-6)").partition("PYBIND")[0]
KERNEL = """__global__ void norm(const float *x, const float *w, const float *b, float *y, int rows, int cols,
                     float eps) {
  y[blockIdx.x * cols] = rsqrtf(x[0] + eps);
}
"""
PYTHON = """import numpy as np
def layer_norm(x, weight=None, bias=None, eps=1e-6):
    y = x - x.mean(-1, keepdims=True)
    return y / np.sqrt((y * y).mean(-1, keepdims=True) + eps) * weight + bias
"""
TOLERANCE = """
if __name__ == "__main__":
    steps = 1e-4
    assert np.allclose(layer_norm(np.ones((2, 8)), 1, 0), 0, atol=1e-4)
"""
SAID = FunctionWords(arguments={"eps": ("1e-3",)})


def first_claim(source: str, said: FunctionWords = NOTHING) -> dict[str, object]:
    return tomllib.loads(next(host_claims("layer_norm", source, said)))


def call_of(toml: dict[str, object]) -> tuple[object, object]:
    """The last argument of the call, and the constants of the op that are not its own."""
    host = toml["host"]
    assert isinstance(host, dict)
    return host["args"][-1], toml.get("scalars")


@pytest.mark.parametrize(
    ("source", "said", "expected"),
    [
        (EXTENSION, NOTHING, ("eps", None)),
        (EXTENSION, SAID, ("eps", {"eps": 1e-3})),
        (IN_ITS_TEXT, NOTHING, ("b", {"eps": 1e-6})),
        (IN_ITS_TEXT.replace("1e-6", "0.00001f"), NOTHING, ("b", None)),
        (IN_ITS_TEXT, SAID, ("b", {"eps": 1e-3})),
        (IN_ITS_TEXT.replace("1e-6", "EPS") + "\n#define EPS 1e-6f\n", NOTHING, ("b", {"eps": 1e-6})),
        (
            IN_ITS_TEXT.replace(", 0.0f + 1e-6)", ")") + "\nbool near(float a) { return a < 1e-4; }\n",
            NOTHING,
            ("b", None),
        ),
    ],
)
def test_a_function_of_tensors_is_judged_by_the_eps_that_it_has(
    source: str, said: FunctionWords, expected: tuple[object, object]
) -> None:
    assert call_of(first_claim(source, said)) == expected


def test_each_of_several_small_numbers_is_guessed() -> None:
    source = IN_ITS_TEXT.replace("1e-6", "1e-12 + 1e-6")
    found = [call_of(tomllib.loads(toml))[1] for toml in host_claims("layer_norm", source)]
    assert found.count({"eps": 1e-12}) == found.count({"eps": 1e-6}) == len(found) / 2 > 0


def test_a_kernel_is_given_the_eps_of_the_op() -> None:
    toml = tomllib.loads(next(claims("layer_norm", function_of("norm.cu", KERNEL), KERNEL)))
    assert toml["launch"][0]["args"] == ["x", "w", "b", "y", "rows", "cols", "eps"]
    assert "scalars" not in toml


@pytest.mark.parametrize(
    ("source", "said", "arguments"),
    [
        (PYTHON, NOTHING, ("x", "weight=w", "bias=b", "eps=1e-05")),
        (PYTHON, SAID, ("x", "weight=w", "bias=b", "eps=0.001")),
        (PYTHON.replace("=None", "").replace("eps=1e-6", "eps"), NOTHING, ("x", "w", "b", "1e-05")),
        (PYTHON.replace(", eps=1e-6", "").replace("+ eps", "+ 1e-6"), NOTHING, ("x", "w", "b")),
        (PYTHON.replace(", eps=1e-6", "").replace(" + eps", "") + TOLERANCE, NOTHING, ("x", "w", "b")),
    ],
)
def test_a_callable_is_given_the_eps_by_which_it_is_judged(
    tmp_path: Path, source: str, said: FunctionWords, arguments: tuple[str, ...]
) -> None:
    path = tmp_path / "norm.py"
    path.write_text(source)
    kernel = kernel_with(path, Unclaimed("layer_norm", said))
    called = kernel.launches[0].called
    assert called is not None
    assert called.arguments == arguments
    assert dict(kernel.scalars) == ({"eps": 1e-6} if "+ 1e-6" in source else {"eps": 1e-3} if said is SAID else {})


def test_a_callable_with_several_small_numbers_asks_which_is_eps(tmp_path: Path) -> None:
    path = tmp_path / "norm.py"
    path.write_text(PYTHON.replace(", eps=1e-6", "").replace("+ eps", "+ 1e-6 + 1e-12"))
    with pytest.raises(ClaimError, match=r"norm.py: which of 1e-12, 1e-06 is eps\? Say --arg eps=NUMBER"):
        kernel_with(path, Unclaimed("layer_norm", NOTHING))
