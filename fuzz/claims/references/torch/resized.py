"""A model that is made again for the sizes of its inputs, with what get_init_inputs gives there.

Of a linear layer of 8192 x 8192 each run takes seconds, and one of 7 x 8192 shows the same errors. Knows models and the
texts of what they are made with; it knows no set.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import torch

from kfuzz.claims.references.torch.declared import CannotError, object_of
from kfuzz.claims.references.torch.random_state import kept_random_state
from kfuzz.claims.references.torch.sizes import Dims
from kfuzz.claims.references.torch.storage import unwatched
from kfuzz.claims.references.torch.weights import drawn
from kfuzz.devices.python.init_values import init_values
from kfuzz.oracle.op.shapes import lengths_of

KEPT = 2
"""Models for other sizes that are kept."""
MOST_WEIGHTS_ELSEWHERE = 1 << 22
"""A 3D convolution with windows of 70 has gigabytes of them."""


class Resized(torch.nn.Module):  # type: ignore[misc]  # torch is not there where types are checked
    """A model as a function of its tensors, which say by their dimensions how it is made.

    `number`: the set of its weights. `bind` makes a model such a function.
    """

    def __init__(
        self,
        own: torch.nn.Module,
        inputs: tuple[Dims, Mapping[str, int]],
        texts: Sequence[str],
        bind: Callable[[torch.nn.Module], Callable[..., Any]],
        number: int,
    ) -> None:
        super().__init__()
        self.dims, self.texts, self.bind, self.number = list(inputs[0].values()), texts, bind, number
        self.own = own
        self.at_home = repr(init_values(texts, inputs[1]))
        self.made = OrderedDict[str, torch.nn.Module]()

    def forward(self, *tensors: torch.Tensor) -> Any:  # noqa: ANN401  what the reference returns
        shapes = zip(self.dims, (one.shape for one in tensors), strict=False)
        lengths = lengths_of(pair for one in shapes for pair in zip(*one, strict=True))
        return self.bind(self.model_at(lengths))(*tensors)

    def model_at(self, sizes: Mapping[str, int]) -> torch.nn.Module:
        """The model for inputs of these sizes."""
        values = init_values(self.texts, sizes)
        if (key := repr(values)) == self.at_home:
            return self.own
        if key not in self.made:
            self.check_is_small(values)
            with kept_random_state(), unwatched(), torch._C.DisableTorchFunction(), drawn(self.number):
                self.made[key] = object_of(type(self.own), values)
            while len(self.made) > KEPT:
                self.made.popitem(last=False)
        self.made.move_to_end(key)
        return self.made[key]

    def check_is_small(self, values: Sequence[Any]) -> None:
        """Raise a CannotError if a model of these has more weights than a run at many sizes may take."""
        count = 0
        with suppress(Exception), kept_random_state(), unwatched(), torch.device("meta"):  # their code
            count = sum(one.numel() for one in object_of(type(self.own), values).parameters())
        if count > MOST_WEIGHTS_ELSEWHERE:
            raise CannotError(f"a model of {count:,} weights is too large to run it often")
