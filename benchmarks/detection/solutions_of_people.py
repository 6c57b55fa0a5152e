"""A list for benchmarks.detection.solutions of CUDA that people wrote for challenges of LeetGPU, and published.

    python -m benchmarks.detection.solutions_of_people MIRRORS FOLDER [--seed 20261130]

MIRRORS has bare copies of repositories, OWNER+NAME/repo: these, or their folders, have LeetGPU in their names. A
solution is a `.cu` file with `solve`, of the parameters of a challenge; where several challenges share these, its
path says which.
The problems are ours: what LeetGPU's pages ask for, as a model of torch. Challenges whose tests clear the output first
are left out, as are those of integers alone. FOLDER gets the files and list.json, shuffled by the seed. LeetGPU accepts
no wrong answer to its tests, but a file may be older than its success: none is right for that.
"""

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.detection.solutions_drawn import Drawn, Found, Mirror, write

NOT_OF_PEOPLE = ("AlphaGPU/leetgpu-challenges", "amos-llm/leetgpu-challenges")
"""The challenges themselves, and solutions of which we do not know that a person wrote them."""
SOLVE = re.compile(r"void\s+solve\s*\(([^)]*)\)\s*\{")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
PROBLEM = """\
import torch


class Model(torch.nn.Module):
    def forward(self, {names}):
        return {answer}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""


@dataclass(frozen=True)
class Challenge:
    """A challenge: the parameters of its `solve`, what its answer is, inputs, and words in the paths of solutions."""

    name: str
    parameters: str
    answer: str
    inputs: str
    words: str = ""
    names: str = ""

    @property
    def problem(self) -> str:
        """The challenge as a problem with the shape of KernelBench's."""
        return PROBLEM.format(names=self.names or "input", answer=self.answer, inputs=self.inputs)


ROW = "float * input, float * output, int N"
ATTENTION = "(torch.softmax({}, 1) @ V).reshape(Q.shape)"
SCORES = "Q @ K.T / Q.shape[1] ** 0.5"
CONV = "torch.nn.functional.conv{}d(input[None, None], kernel[None, None])[0, 0]"
CHALLENGES = (
    Challenge("leaky_relu", ROW, "torch.nn.functional.leaky_relu(input, 0.01)", "torch.randn(1000)", "leaky"),
    Challenge("relu", ROW, "torch.relu(input)", "torch.randn(1000)", "relu"),
    Challenge("swiglu", ROW, "torch.nn.functional.silu(input.chunk(2)[0]) * input.chunk(2)[1]", "torch.randn(1000)",
              "swi-?glu|swish.gated"),
    Challenge("silu", ROW, "torch.nn.functional.silu(input)", "torch.randn(1000)", "silu|sigmoid.?l"),
    Challenge("geglu", ROW, "input.chunk(2)[0] * torch.nn.functional.gelu(input.chunk(2)[1])", "torch.randn(1000)",
              "geglu|gaussian.error"),
    Challenge("prefix_sum", ROW, "torch.cumsum(input, 0)", "torch.randn(1000)", "pre.?.?.?.?.?sum|/pre"),
    Challenge("reduction", ROW, "input.sum()", "torch.randn(1000)", "reduc"),
    Challenge("softmax", ROW, "torch.softmax(input, 0)", "torch.randn(1000)", "softmax"),
    Challenge("sigmoid", "float * X, float * Y, int N", "torch.sigmoid(X)", "torch.randn(1000)", names="X"),
    Challenge("vector_add", "float * A, float * B, float * C, int N", "A + B", "torch.randn(1000), torch.randn(1000)",
              "vec", "A, B"),
    Challenge("interleave", "float * A, float * B, float * output, int N", "torch.stack((A, B), 1).flatten()",
              "torch.randn(1000), torch.randn(1000)", names="A, B"),
    Challenge("dot_product", "float * A, float * B, float * result, int N", "torch.dot(A, B)",
              "torch.randn(1000), torch.randn(1000)", names="A, B"),
    Challenge("mean_squared_error", "float * predictions, float * targets, float * mse, int N",
              "((predictions - targets) ** 2).mean()", "torch.randn(1000), torch.randn(1000)",
              names="predictions, targets"),
    Challenge("value_clipping", "float * input, float * output, float lo, float hi, int N", "input.clamp(lo, hi)",
              "torch.randn(1000), -0.5, 0.75", names="input, lo: float, hi: float"),
    Challenge("matrix_multiplication", "float * A, float * B, float * C, int M, int N, int K", "A @ B",
              "torch.randn(64, 96), torch.randn(96, 48)", "mat|mul", "A, B"),
    Challenge("matrix_transpose", "float * input, float * output, int rows, int cols", "input.T.contiguous()",
              "torch.randn(48, 80)", "transpos"),
    Challenge("rgb_to_grayscale", "float * input, float * output, int width, int height",
              "0.299 * input[:, :, 0] + 0.587 * input[:, :, 1] + 0.114 * input[:, :, 2]", "torch.rand(40, 56, 3)"),
    Challenge("1d_convolution", "float * input, float * kernel, float * output, int input_size, int kernel_size",
              CONV.format(1), "torch.randn(1000), torch.randn(7)", names="input, kernel"),
    Challenge("2d_convolution", "float * input, float * kernel, float * output, int input_rows, int input_cols, "
              "int kernel_rows, int kernel_cols", CONV.format(2), "torch.randn(40, 56), torch.randn(5, 3)",
              "conv", "input, kernel"),
    Challenge("3d_convolution", "float * input, float * kernel, float * output, int input_depth, int input_rows, "
              "int input_cols, int kernel_depth, int kernel_rows, int kernel_cols", CONV.format(3),
              "torch.randn(12, 16, 20), torch.randn(3, 5, 4)", names="input, kernel"),
    Challenge("softmax_attention", "float * Q, float * K, float * V, float * output, int M, int N, int d",
              ATTENTION.format(SCORES), "torch.randn(32, 16), torch.randn(48, 16), torch.randn(48, 16)",
              names="Q, K, V"),
    Challenge("attention_linear_bias",
              "float * Q, float * K, float * V, float * output, int M, int N, int d, float alpha",
              ATTENTION.format(
                  f"{SCORES} + alpha * (torch.arange(Q.shape[0])[:, None] - torch.arange(K.shape[0])[None, :])"),
              "torch.randn(32, 16), torch.randn(48, 16), torch.randn(48, 16), 0.5", names="Q, K, V, alpha: float"),
    Challenge("batched_matmul", "float * A, float * B, float * C, int BATCH, int M, int N, int K", "torch.bmm(A, B)",
              "torch.randn(3, 24, 40), torch.randn(3, 40, 32)", names="A, B"),
    Challenge("batch_normalization",
              "float * input, float * gamma, float * beta, float * output, int N, int C, float eps",
              "gamma * (input - input.mean(0)) / torch.sqrt(input.var(0, unbiased=False) + eps) + beta",
              "torch.randn(64, 24), torch.randn(24), torch.randn(24), 1e-5", names="input, gamma, beta, eps: float"),
    Challenge("rms_normalization", "float * input, float gamma, float beta, float * output, int N, float eps",
              "gamma * input / torch.sqrt((input ** 2).mean() + eps) + beta", "torch.randn(1000), 1.5, 0.25, 1e-5",
              names="input, gamma: float, beta: float, eps: float"),
    Challenge("rope_embedding", "float * Q, float * cos, float * sin, float * output, int M, int D",
              "Q * cos + torch.cat((-Q[:, Q.shape[1] // 2 :], Q[:, : Q.shape[1] // 2]), 1) * sin",
              "torch.randn(24, 32), torch.randn(24, 32), torch.randn(24, 32)", names="Q, cos, sin"),
)  # fmt: skip


def main() -> None:
    """Write the files of all solutions that are found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=20261130)
    options = parser.parse_args()
    (options.folder / "files").mkdir(parents=True, exist_ok=True)
    names = [one.name.replace("+", "/", 1) for one in sorted(options.mirrors.iterdir()) if (one / "repo").is_dir()]
    found = dict[tuple[str, str], Drawn]()
    for name in names:
        if name not in NOT_OF_PEOPLE:
            for one in solutions_in(Mirror(options.mirrors, name)):
                found.setdefault(one[1:], one)
    drawn = sorted(found.values(), key=lambda one: (one[0].repository, one[0].path))
    random.Random(options.seed).shuffle(drawn)  # noqa: S311  a draw that anyone can repeat
    write(drawn, options.folder)


def solutions_in(mirror: Mirror) -> Iterator[Drawn]:
    """The solutions of a repository."""
    there = mirror.run("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    for path in there:
        is_named = "leetgpu" in re.sub(r"[-_]", "", f"{mirror.name}/{path}".lower())
        if is_named and path.endswith(".cu") and "starter" not in path and path in mirror.versions:
            text = mirror.text(path)
            declared = SOLVE.search(text)
            challenge = find(path, parameters_of(declared[1])) if declared and "<<<" in text else None
            if challenge is not None:
                place = Found(mirror.name, mirror.versions[path][0], path, challenge.name, tuple)
                yield place, text, challenge.problem


def parameters_of(declared: str) -> str:
    """The parameters of a function as CHALLENGES has them."""
    plain = re.sub(r"\b(?:const|__restrict__)\b", " ", COMMENT.sub("", declared)).replace("*", " * ")
    return ", ".join(" ".join(one.split()) for one in plain.split(",") if one.strip())


def find(path: str, parameters: str, among: Sequence[Challenge] = CHALLENGES) -> Challenge | None:
    """The challenge that a file solves: the first with these parameters and a word of its path."""
    for one in among:
        if one.parameters == parameters and re.search(one.words, path, re.IGNORECASE):
            return one
    return None


if __name__ == "__main__":
    main()
