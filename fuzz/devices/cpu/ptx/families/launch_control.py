"""A block takes the work of one that has not begun: clusterlaunchcontrol."""

import re

from kfuzz.devices.cpu.ptx.families.memory import point
from kfuzz.devices.cpu.ptx.words import C


def _try_cancel(match: re.Match[str]) -> str:
    to_all = str(bool(match["all"])).lower()
    return f"cuda_on_cpu_cancel_block({point(match['space'], 0)}, {point(match['space'], 1)}, {to_all})"


ROWS = (
    (
        r"clusterlaunchcontrol\.try_cancel\.async(?:\.(?P<space>shared::cta))?\.mbarrier::complete_tx::bytes"
        r"(?P<all>\.multicast::cluster::all)?\.b128",
        _try_cancel,
    ),
    (r"clusterlaunchcontrol\.query_cancel\.is_canceled\.pred\.b128", f"{C}ptx_put({{0}}, {C}ptx_is_cancelled({{1}}))"),
    (
        r"clusterlaunchcontrol\.query_cancel\.get_first_ctaid::([xyz])\.b32\.b128",
        f"{C}ptx_put({{0}}, {C}ptx_launch_answer({{1}}).<1>)",
    ),
    (r"clusterlaunchcontrol\.query_cancel\.get_first_ctaid\.v4\.b32\.b128", f"{C}ptx_first_block({{1}}, {{v0}})"),
)
