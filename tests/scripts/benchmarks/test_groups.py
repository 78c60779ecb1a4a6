"""The groups of the benchmark."""

import onax
import script_modules


def test_the_large_group_has_several_kinds_of_work():
    names = {case.name for case in script_modules.benchmark_cases("groups", "large_cases", onax)}
    assert len(names) > 200
    for name in ("matmul, i8[512,512] to i32", "fft2, f32[512,512]", "LSTM step, f32[16,64]", "gelu, bf16[1000000]"):
        assert name in names
