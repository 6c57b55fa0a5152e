"""Tensor cores: mma.sync, and the loads, stores and moves of matrices."""

from kfuzz.cpu.ptx.words import C

ROWS = (
    (
        r"ldmatrix\.sync\.aligned\.m8n8\.x([124])\.shared(?:::cta)?\.b16",
        f"{C}ptx_ldmatrix< <1>, false>(__LINE__, {{a1}}, {{v0}})",
    ),
    (
        r"ldmatrix\.sync\.aligned\.m8n8\.x([124])\.trans\.shared(?:::cta)?\.b16",
        f"{C}ptx_ldmatrix< <1>, true>(__LINE__, {{a1}}, {{v0}})",
    ),
    (
        r"stmatrix\.sync\.aligned\.m8n8\.x([124])\.shared(?:::cta)?\.b16",
        f"{C}ptx_stmatrix< <1>, false>(__LINE__, {{a0}}, {{v1}})",
    ),
    (
        r"stmatrix\.sync\.aligned\.m8n8\.x([124])\.trans\.shared(?:::cta)?\.b16",
        f"{C}ptx_stmatrix< <1>, true>(__LINE__, {{a0}}, {{v1}})",
    ),
    (r"movmatrix\.sync\.aligned\.m8n8\.trans\.b16", f"{C}ptx_movmatrix(__LINE__, {{0}}, {{1}})"),
    (
        r"mma\.sync\.aligned(?:\.kind::f8f6f4)?\.m16n8k(\d+)\.row\.col(\.satfinite)?\.(f32|f16|s32)"
        r"\.(f16|bf16|tf32|s8|u8|e4m3|e5m2)\.(f16|bf16|tf32|s8|u8|e4m3|e5m2)\.\3",
        f"{C}ptx_mma<{C}ptx_c_<3>, {C}ptx_m_<4>, {C}ptx_m_<5>, <1>, \"<2>\"[0] == '.'>(__LINE__, {{all}})",
    ),
)
