# /// kernel
# op   = "softmax"
# axes = { rows = "1..9", cols = "1..70" }
# ///
import torch

GRAPHS = {}


def forward(x):
    if x.shape not in GRAPHS:
        held = x.clone()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = torch.softmax(held, 1)
        GRAPHS[x.shape] = graph, held, y
    graph, held, y = GRAPHS[x.shape]
    held.copy_(x)
    graph.replay()
    return y.clone()
