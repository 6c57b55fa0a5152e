"""A kernel that doubles, for tests of how kernels are compiled."""

from planted_jobs import floats, job_of

from kfuzz.devices import Job, Probe
from kfuzz.devices.cpu.device import CpuDevice

DOUBLES = "__global__ void k(float *y, const float *x) { y[threadIdx.x] = 2.0f * x[threadIdx.x]; }"


def doubling(text: str = DOUBLES, **more: object) -> Job:
    return job_of(text, ("k",), "k", {"y": "f32[4]", "x": floats(4)}, block=4, **more)  # type: ignore[arg-type]  # words of job_of


def is_right(job: Job) -> bool:
    with CpuDevice() as device:
        return device.run(job, Probe()).runs[0].outputs["y"].tolist() == [2, 4, 6, 8]
