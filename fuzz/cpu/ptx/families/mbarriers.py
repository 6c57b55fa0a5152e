"""Barriers that lie in shared memory and count arrivals."""

from kfuzz.cpu.ptx.words import C

_SHARED = r"(?:\.shared(?:::cta)?)?"
_U32 = f"{C}ptx_as<unsigned int>"

ROWS = (
    (rf"mbarrier\.init{_SHARED}\.b64", f"{C}ptx_mbarrier_init({{a0}}, {_U32}({{1}}))"),
    (rf"mbarrier\.inval{_SHARED}\.b64", "static_cast<void>({a0})"),
    *(
        row
        for word, drops in (("arrive", "false"), ("arrive_drop", "true"))
        for row in (
            (
                rf"mbarrier\.{word}(?:\.release)?(?:\.cta)?{_SHARED}\.b64",
                f"{C}ptx_mbarrier_arrive<{drops}>({{0}}, {{a1}})",
            ),
            (
                rf"mbarrier\.{word}(?:\.release)?(?:\.cta)?{_SHARED}\.b64",
                f"{C}ptx_mbarrier_arrive<{drops}>({{0}}, {{a1}}, {_U32}({{2}}))",
            ),
        )
    ),
    (
        rf"mbarrier\.(?:test|try)_wait(?:\.acquire)?(?:\.cta)?{_SHARED}\.b64",
        f"{C}ptx_put({{0}}, {C}ptx_mbarrier_is_over({{a1}}, {{2}}))",
    ),
    (
        rf"mbarrier\.(?:test|try)_wait\.parity(?:\.acquire)?(?:\.cta)?{_SHARED}\.b64",
        f"{C}ptx_put({{0}}, {C}ptx_mbarrier_is_parity_over({{a1}}, {{2}}))",
    ),
    (
        rf"mbarrier\.try_wait(?:\.acquire)?(?:\.cta)?{_SHARED}\.b64",  # {3}: how long it may sleep
        f"static_cast<void>({{3}}); {C}ptx_put({{0}}, {C}ptx_mbarrier_is_over({{a1}}, {{2}}))",
    ),
    (
        rf"mbarrier\.try_wait\.parity(?:\.acquire)?(?:\.cta)?{_SHARED}\.b64",
        f"static_cast<void>({{3}}); {C}ptx_put({{0}}, {C}ptx_mbarrier_is_parity_over({{a1}}, {{2}}))",
    ),
)
