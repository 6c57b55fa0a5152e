"""Jobs for the GPUs of a machine: each GPU takes the next one, and nothing goes on after the end of the time.

Knows processes and the names of GPUs; never what a job does.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from time import monotonic
from typing import TypeVar

J = TypeVar("J")
R = TypeVar("R")


def run_on_gpus(
    function: Callable[[J], R], jobs: Iterable[J], gpus: Sequence[str], end: float
) -> Iterator[tuple[J, Future[R]]]:
    """Each job with what became of it, in the order in which they are done; a job on each GPU at a time.

    After a job that fails its GPU gets a new process. Jobs that are not done at the end, in seconds of `monotonic`,
    are left out.
    """
    waiting = iter(jobs)
    running: dict[Future[R], tuple[str, J]] = {}
    with processes() as make_pool:
        pools = {gpu: make_pool(gpu, 1) for gpu in gpus}
        free = list(gpus)
        while True:
            running |= {pools[gpu].submit(function, job): (gpu, job) for gpu, job in zip(free, waiting, strict=False)}
            done, _ = wait(running, timeout=max(end - monotonic(), 0), return_when=FIRST_COMPLETED)
            if not done:
                return
            free = [running[one][0] for one in done]
            for one in done:
                gpu, job = running.pop(one)
                if one.exception():
                    pools[gpu].shutdown(wait=False)
                    pools[gpu] = make_pool(gpu, 1)
                yield job, one


@contextmanager
def processes() -> Iterator[Callable[[str, int], ProcessPoolExecutor]]:
    """What makes a pool of processes that see one GPU; leaving it kills them all, whatever they are doing.

    The end of a pool's own `with` waits for its jobs, and one may hang in its driver.
    """
    pools: list[ProcessPoolExecutor] = []

    def make_pool(gpu: str, workers: int) -> ProcessPoolExecutor:
        pools.append(ProcessPoolExecutor(workers, get_context("spawn"), initializer=take_gpu, initargs=(gpu,)))
        return pools[-1]

    try:
        yield make_pool
    finally:
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)
        for worker in active_children():
            worker.kill()


def take_gpu(gpu: str) -> None:
    """Keep this process to one GPU."""
    os.environ["CUDA_VISIBLE_DEVICES"] = gpu
