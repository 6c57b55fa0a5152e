# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..512", cols = "1..300" }
#
# [broken]
# kind = "late-write"
# why  = "the sum is put into a stream of its own, and nobody waits for that"
# ///
import torch

OWN = torch.cuda.Stream()


def forward(x):
    y = torch.empty(len(x), device=x.device)
    OWN.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(OWN):
        torch.cuda._sleep(2_000_000)
        torch.sum(x, -1, out=y)
    return y
