"""Where benchmarks change PTX, and what they prove of a place by the text alone."""

from benchmarks.detection.ptx_places import Place, places, why_harmless, with_change, with_trap

LINES = """
.visible .entry k(.param .u64 k_0)
{
\tst.shared.b32 [%r1], %r2;
\tbar.sync \t0;
\tld.shared.b32 %r3, [%r4];
\tbar.sync \t0;
\tsetp.lt.s32 %p1, %r5, %r6;
\t@%p1 st.global.b32 [ %rd1 + 0 ], { %r3 };
\tcp.async.wait_group 0;
\tcp.async.wait_group 0;
\t@%p1 bra $L_END;
\tst.global.b32 [%rd2], %r3;
$L_END:
\tret;
}
"""
WAITS = """
.visible .entry k(.param .u64 k_0)
{
$L_AGAIN:
\tbar.sync 0;
\tld.shared.b32 %r3, [%r4];
\tfence.proxy.async.shared::cta;
\tfence.mbarrier_init.release.cluster;
\tmbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
\t@%p3 bra $L_AGAIN;
\tst.shared.b32 [%r4], %r3;
\tret;
}
"""


def of_sort(text: str, sort: str) -> list[Place]:
    return [one for one in places(text) if one.sort == sort]


def test_places_are_of_all_sorts() -> None:
    assert [one.words for one in places(LINES)] == [
        "bar.sync 0;", "bar.sync 0;", "setp.lt.s32 %p1, %r5, %r6;", "@%p1 st.global.b32 [ %rd1 + 0 ], { %r3 };",
        "cp.async.wait_group 0;", "cp.async.wait_group 0;", "@%p1 bra $L_END;",
    ]  # fmt: skip
    assert [one.sort for one in places(WAITS)] == ["barrier", "fence", "fence", "wait"]


def test_a_change_keeps_the_numbers_of_lines() -> None:
    (bound,) = of_sort(LINES, "bound")
    assert "setp.le.s32 %p1, %r5, %r6;" in with_change(LINES, bound).split("\n")[bound.line]
    store, branch = of_sort(LINES, "predicate")
    assert with_change(LINES, store).split("\n")[store.line].split() == [
        "st.global.b32",
        "[",
        "%rd1",
        "+",
        "0",
        "],",
        "{",
        "%r3",
        "};",
    ]
    assert with_change(LINES, branch).split("\n")[branch.line] == ""
    (wait,) = of_sort(WAITS, "wait")
    assert with_change(WAITS, wait).split("\n")[wait.line] == "\tsetp.eq.u32 %p2, 0, 0;"
    assert with_trap(LINES, store).split("\n")[store.line].startswith("\t@!%p1 trap; ")
    for one in places(LINES):
        assert with_change(LINES, one).count("\n") == LINES.count("\n") != with_change(LINES, one).count("bar")


def test_a_barrier_is_harmless_only_if_nothing_meets_across_it() -> None:
    needed, spare = of_sort(LINES, "barrier")
    assert why_harmless(LINES, needed) == ""
    assert "no access before it meets one after it" in why_harmless(LINES, spare)
    shared = LINES.replace("st.global.b32 [%rd2]", "st.shared.b32 [%r1]")  # behind the branch
    assert why_harmless(shared, spare) == ""
    product = LINES.replace(
        "ld.shared.b32 %r3, [%r4]", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1}, %rd5, %rd6, 1"
    )
    assert why_harmless(product, of_sort(product, "barrier")[0]) == ""


def test_a_barrier_of_a_loop_meets_the_next_turn() -> None:
    read = "\n".join(
        one for one in WAITS.split("\n") if not any(word in one for word in ("st.shared", "mbarrier", "fence"))
    )
    (barrier,) = of_sort(read, "barrier")
    assert why_harmless(read, barrier)
    written = read.replace("\t@%p3 bra", "\tst.shared.b32 [%r5], %r3;\n\t@%p3 bra")
    assert why_harmless(written, of_sort(written, "barrier")[0]) == ""


def test_waits_and_fences_are_harmless_only_after_the_same_or_without_what_they_order() -> None:
    first, second = of_sort(LINES, "wait")
    assert why_harmless(LINES, second)
    copied = LINES.replace(
        "\tcp.async.wait_group 0;\n\t@", "\tcp.async.ca.shared.global [%r1], [%rd1], 4;\n\tcp.async.wait_group 0;\n\t@"
    )
    assert why_harmless(copied, of_sort(copied, "wait")[1]) == ""
    assert why_harmless(LINES, first)
    proxy, init = of_sort(WAITS, "fence")
    assert why_harmless(WAITS, proxy) == "no operation of the async proxy"
    assert why_harmless(WAITS, init)
    clustered = WAITS.replace(
        "\tret;", "\tst.shared.b32 [%r4], %r3;\n\tcp.async.bulk.wait_group 0;\n\tmapa.u32 %r8, %r1, 1;\n\tret;"
    )
    assert why_harmless(clustered, of_sort(clustered, "fence")[1]) == ""


def test_a_barrier_after_a_fence_of_some_threads_is_not_harmless() -> None:
    text = LINES.replace("ld.shared.b32 %r3, [%r4]", "fence.proxy.async.shared::cta")
    assert why_harmless(text, of_sort(text, "barrier")[1])
    guarded = text.replace("fence.proxy", "@%p3 fence.proxy")
    assert why_harmless(guarded, of_sort(guarded, "barrier")[1]) == ""
