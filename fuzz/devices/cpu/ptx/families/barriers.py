"""Barriers, fences, clusters and dependent launches."""

from kfuzz.devices.cpu.ptx.words import C

_ALIGNED = r"(?:\.aligned)?"
_U32 = f"{C}ptx_as<unsigned int>"
_FENCE = r"fence(?:\.(?:acq_rel|acquire|release|sc))?"

COUNTS = True
ROWS = (
    (rf"bar(?:rier)?(?:\.cta)?\.sync{_ALIGNED}", f"{C}ptx_barrier(__LINE__, {_U32}({{0}}))"),
    (rf"bar(?:rier)?(?:\.cta)?\.sync{_ALIGNED}", f"{C}ptx_barrier(__LINE__, {_U32}({{0}}), {_U32}({{1}}))"),
    (rf"bar(?:rier)?(?:\.cta)?\.arrive{_ALIGNED}", f"{C}ptx_arrive(__LINE__, {_U32}({{0}}), {_U32}({{1}}))"),
    (
        rf"bar(?:rier)?(?:\.cta)?\.red\.popc{_ALIGNED}\.u32",
        f"{C}ptx_put({{0}}, static_cast<unsigned int>(__syncthreads_count({{2}}))); static_cast<void>({{1=0}})",
    ),
    (
        rf"bar(?:rier)?(?:\.cta)?\.red\.(and|or){_ALIGNED}\.pred",
        f"{C}ptx_put({{0}}, __syncthreads_<1>({{2}}) != 0); static_cast<void>({{1=0}})",
    ),
    (r"bar\.warp\.sync", f"__syncwarp({_U32}({{0}}))"),
    (rf"(?:{_FENCE}|membar)\.cta", "cuda_on_cpu_fence(1)"),
    (rf"{_FENCE}\.(?:cluster|gpu|sys)", "cuda_on_cpu_fence(0)"),
    (  # a fence of mbarriers alone, which here orders all that a fence does
        r"fence\.(?:acquire\.sync_restrict::shared::cluster|release\.sync_restrict::shared::cta)\.cluster",
        "cuda_on_cpu_fence(0)",
    ),
    (r"membar\.(?:gl|sys)", "cuda_on_cpu_fence(0)"),
    (rf"barrier\.cluster\.arrive(?:\.release)?{_ALIGNED}", "cuda_on_cpu_cluster_arrive(__LINE__)"),
    (rf"barrier\.cluster\.arrive\.relaxed{_ALIGNED}", "cuda_on_cpu_cluster_arrive_relaxed(__LINE__)"),
    (rf"barrier\.cluster\.wait(?:\.acquire)?{_ALIGNED}", "cuda_on_cpu_cluster_wait(__LINE__)"),
    (
        r"mapa(?:\.shared::cluster)?\.u(?:32|64)",
        f"{C}ptx_put_address({{0}}, cuda_on_cpu_map_shared({C}ptx_cluster_shared({{1}}), {_U32}({{2}})))",
    ),
    (
        r"getctarank(?:\.shared::cluster)?\.u(?:32|64)",
        f"{C}ptx_put({{0}}, cuda_on_cpu_shared_rank({C}ptx_cluster_shared({{1}})))",
    ),
    (r"griddepcontrol\.wait", "cudaGridDependencySynchronize()"),
    (r"griddepcontrol\.launch_dependents", "cudaTriggerProgrammaticLaunchCompletion()"),
)
