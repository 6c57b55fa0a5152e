"""Barriers that lie in shared memory and count arrivals and the bytes of copies."""

import re

from kfuzz.devices.cpu.ptx.families.memory import point
from kfuzz.devices.cpu.ptx.words import TYPES, C

_SHARED = r"(?:\.(?P<space>shared(?:::cta|::cluster)?))?"
_ORDER = r"(?:\.(?P<order>release|acquire|relaxed))?(?:\.(?:cta|cluster))?"
_U32 = f"{C}ptx_as<unsigned int>"


def _traits(match: re.Match[str]) -> str:
    groups = match.groupdict()
    named = {
        "drops": groups.get("drops"),
        "no_complete": groups.get("no_complete"),
        "relaxed": groups.get("order") == "relaxed",
    }
    return " | ".join(f"{C}mbarrier_{name}" for name, holds in named.items() if holds) or "0u"


def _at(match: re.Match[str], place: int) -> str:
    """A pointer; an address without a state space is generic."""
    return point(match["space"], place)


def _arrive(match: re.Match[str], counts: str, state: str, place: int) -> str | None:
    if match["order"] == "acquire":
        return None
    verb = "arrive_expect" if match["expects"] else "arrive"
    return f"{C}ptx_mbarrier_{verb}<{_traits(match)}>({state}, {_at(match, place)}{counts})"


def _with_count(match: re.Match[str]) -> str | None:
    return _arrive(match, f", {_U32}({{2}})", "{0}", 1)


def _of_one(match: re.Match[str]) -> str | None:
    """Without a count there is one arrival; bytes and arrivals that do not complete are always named."""
    return None if match["expects"] or match["no_complete"] else _arrive(match, "", "{0}", 1)


def _without_state(match: re.Match[str]) -> str | None:
    if match["no_complete"]:
        return None
    return _arrive(match, f", {_U32}({{1}})" if match["expects"] else "", f"{C}PtxSink()", 0)


def _without_state_and_with_count(match: re.Match[str]) -> str | None:
    return None if match["no_complete"] or match["expects"] else _arrive(match, f", {_U32}({{1}})", f"{C}PtxSink()", 0)


def _wait(match: re.Match[str]) -> str | None:
    if match["order"] == "release":
        return None
    test = f"ptx_mbarrier_is_{'parity_' if match['parity'] else ''}over<{_traits(match)}>"
    return f"{C}ptx_put({{0}}, {C}{test}({_at(match, 1)}, {{2}}))"


def _wait_for_so_long(match: re.Match[str]) -> str | None:
    """How long a thread may sleep changes nothing here."""
    waits = _wait(match) if match["verb"] == "try" else None
    return f"static_cast<void>({{3}}); {waits}" if waits else None


def _bytes(match: re.Match[str]) -> str:
    return f"{C}Mbarrier({_at(match, 0)}).{match['does']}({_U32}({{1}}))"


def _after_copies(match: re.Match[str]) -> str:
    """Without .noinc, one more arrival is expected, which is this one."""
    return f"cuda_on_cpu_mbarrier_arrive_after_copies({_at(match, 0)}, {str(bool(match['counts'])).lower()})"


def _store(match: re.Match[str]) -> str:
    """It lands at once."""
    to, barrier = point("shared::cluster", 0), point("shared::cluster", 2)
    return (
        f"{C}ptx_store_counted<{TYPES[match['type']]}, {int(match['count'] or 1)}>(__LINE__, {to}, {barrier}, {{v1}})"
    )


_ARRIVE = (
    rf"mbarrier\.arrive(?P<drops>_drop)?(?P<expects>\.expect_tx)?(?P<no_complete>\.noComplete)?{_ORDER}{_SHARED}\.b64"
)
_TEST = rf"mbarrier\.(?P<verb>test|try)_wait(?P<parity>\.parity)?{_ORDER}{_SHARED}\.b64"
ROWS = (
    (rf"mbarrier\.init{_SHARED}\.b64", lambda match: f"{C}Mbarrier({_at(match, 0)}).init({_U32}({{1}}))"),
    (rf"mbarrier\.inval{_SHARED}\.b64", lambda match: f"{C}Mbarrier({_at(match, 0)}).inval()"),
    (_ARRIVE, _with_count),
    (_ARRIVE, _of_one),
    (_ARRIVE, _without_state),
    (_ARRIVE, _without_state_and_with_count),
    (rf"mbarrier\.(?P<does>expect|complete)_tx(?:\.relaxed)?(?:\.(?:cta|cluster))?{_SHARED}\.b64", _bytes),
    (rf"mbarrier\.(?P<does>expect|complete)_tx{_SHARED}\.relaxed\.cluster\.b64", _bytes),
    (r"cp\.async\.mbarrier\.arrive(?P<counts>\.noinc)?(?:\.(?P<space>shared(?:::cta)?))?\.b64", _after_copies),
    (
        r"st\.async(?:\.weak)?\.shared::cluster\.mbarrier::complete_tx::bytes(?:\.v(?P<count>[24]))?"
        r"\.(?P<type>[bus](?:32|64)|f(?:32|64))",
        _store,
    ),
    (_TEST, _wait),
    (_TEST, _wait_for_so_long),
    (r"mbarrier\.pending_count\.b64", f"{C}ptx_put({{0}}, {C}Mbarrier::pending({C}ptx_as<{C}ptx_u64>({{1}})))"),
)
