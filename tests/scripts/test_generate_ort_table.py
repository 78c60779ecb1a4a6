"""The script that writes the positions of ONNX Runtime's functions: on a small header, and what it wrote."""

import importlib.util
import re
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[2] / "scripts" / "generate_ort_table.py"
SPEC = importlib.util.spec_from_file_location("generate_ort_table", PATH)
script = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(script)

HEADER = """
#define ORT_API_VERSION 25
struct OrtApiBase { const void*(ORT_API_CALL* GetApi)(uint32_t version); };
struct OrtApi {
  /** \\brief Makes a status; not an entry: void(ORT_API_CALL* Old)(int); */
  OrtStatus*(ORT_API_CALL* CreateStatus)(OrtErrorCode code, _In_ const char* msg)NO_EXCEPTION ORT_ALL_ARGS_NONNULL;
  ORT_API2_STATUS(Run, _Inout_ OrtSession* session,
                  _In_reads_(n) const char* const* names, size_t n);  // several lines; one entry
  ORT_CLASS_RELEASE(Env);
  void(ORT_API_CALL* ClearBoundInputs)(_Inout_ OrtIoBinding* binding) NO_EXCEPTION;
};
struct OrtCustomOp { void(ORT_API_CALL* KernelDestroy)(_In_ void* kernel); };
"""


def test_positions_come_from_the_headers_order():
    assert script.entries(HEADER) == ["CreateStatus", "Run", "ReleaseEnv", "ClearBoundInputs"]
    text = script.render(HEADER, {"Run", "ClearBoundInputs"}, 25)
    assert "ORT_Run = 1,\n    ORT_ClearBoundInputs = 3,\n};" in text and "#define ONAX_ORT_API_VERSION 25 " in text


@pytest.mark.parametrize("header, used, message", [
    (HEADER, {"Run", "Walk"}, "the header has no Walk"),
    (HEADER.replace("25", "3"), {"Run"}, "describes version 3 of the API; 24 is needed"),
    (HEADER.replace("ORT_CLASS_RELEASE(Env)", "ORT_NEW(Env)"), {"Run"}, r"unknown form: ORT_NEW\(Env\)"),
    (HEADER.replace("#define", ""), {"Run"}, "does not define ORT_API_VERSION"),
    (HEADER.replace("struct OrtApi ", "struct Other "), {"Run"}, "no struct OrtApi"),
], ids=["missing", "old", "unknown form", "no version", "no table"])  # fmt: skip
def test_headers_that_do_not_serve(header, used, message):
    with pytest.raises(ValueError, match=message):
        script.render(header, used)


def test_the_table_has_the_names_that_are_used():
    """The committed file, for a header in which they stand where the file says."""
    text = script.TABLE.read_text()
    positions = {name: int(place) for name, place in re.findall(r"ORT_(\w+) = (\d+),", text)}
    assert positions.keys() == script.used_names()
    order = {place: name for name, place in positions.items()}
    names = [order.get(i, f"Other{i}") for i in range(max(order) + 1)]
    body = "".join(f"  ORT_API2_STATUS({name}, void* x);\n" for name in names)
    header = f"#define ORT_API_VERSION {script.API_VERSION}\nstruct OrtApi {{\n{body}}};\n"
    assert script.render(header, positions.keys()) == text


def test_checking_the_file_against_a_header(tmp_path, monkeypatch):
    header, table = tmp_path / "onnxruntime_c_api.h", tmp_path / "ort_table.h"
    header.write_text(HEADER)
    monkeypatch.setattr(script, "TABLE", table)
    monkeypatch.setattr(script, "used_names", lambda: {"Run"})
    assert script.main([str(header)]) == 0 and "ORT_Run = 1," in table.read_text()
    assert script.main([str(header), "--check"]) == 0
    header.write_text(
        HEADER.replace("ORT_CLASS_RELEASE(Env);", "").replace("OrtStatus*(", "ORT_CLASS_RELEASE(Env); int(")
    )
    assert "is not what the header gives" in script.main([str(header), "--check"])
