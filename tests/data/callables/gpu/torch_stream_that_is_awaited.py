# /// kernel
# op   = "row_sum"
# axes = { rows = "1..512", cols = "1..300" }
# call = { stream = "current" }
# ///
import torch

OWN = torch.cuda.Stream()


def forward(x):
    OWN.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(OWN):
        y = x.sum(-1)
    torch.cuda.current_stream().wait_stream(OWN)
    y.record_stream(torch.cuda.current_stream())
    return y
