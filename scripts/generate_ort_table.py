"""Writes the positions of ONNX Runtime's C functions, by name, from the published header.

    python scripts/generate_ort_table.py PATH/onnxruntime_c_api.h [--api-version 24] [--check]

The runtime hands out one table of function pointers (`struct OrtApi`) that only ever grows, so a function's position is
the place of its name in the header.  Only names that `cython_src` uses, as `ONAX_ORT(t, Name, ...)`, are written.  The
header is not part of this repository: https://github.com/microsoft/onnxruntime has it as
include/onnxruntime/core/session/onnxruntime_c_api.h.  `--check` writes nothing and fails if the file would change.
"""

import argparse
import re
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "cython_src" / "onax" / "_native"
TABLE = SOURCES / "ort_table.h"
API_VERSION = 24  # asked for when the library is attached; any library since has it

# How the header declares an entry: by a macro, or as a pointer to a function.
_ENTRY = re.compile(
    r"""ORT_API2_STATUS\s*\(\s*(?P<status>\w+)
      | ORT_CLASS_RELEASE\s*\(\s*(?P<release>\w+)
      | \(\s*(?:ORT_API_CALL\s*)?\*\s*(?P<pointer>\w+)\s*\)\s*\(""",
    re.VERBOSE,
)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def entries(header):
    """The names of the functions in `struct OrtApi`, in order.  ValueError if a declaration has no known form."""
    text = _COMMENT.sub(" ", header)
    body = re.search(r"struct\s+OrtApi\s*\{(.*?)\n\s*\}\s*;", text, re.DOTALL)
    if body is None:
        raise ValueError("the header has no struct OrtApi")
    names = []
    for declaration in body.group(1).split(";"):
        if not declaration.strip():
            continue
        found = _ENTRY.search(declaration)
        if found is None:
            raise ValueError(f"a declaration of struct OrtApi has an unknown form: {' '.join(declaration.split())}")
        name = found["status"] or found["pointer"] or f"Release{found['release']}"
        names.append(name)
    return names


def header_version(header):
    """The version of the API that the header describes."""
    found = re.search(r"#define\s+ORT_API_VERSION\s+(\d+)", header)
    if found is None:
        raise ValueError("the header does not define ORT_API_VERSION")
    return int(found.group(1))


def used_names(sources=SOURCES):
    """The names of the entries that the sources call."""
    paths = [sources / "ort_api.h", sources / "ort_operator.h"]
    return {name for path in paths for name in re.findall(r"ONAX_ORT\(t, (\w+),", path.read_text())}


def render(header, used, api_version=API_VERSION):
    """The text of `ort_table.h`.  ValueError if the header is too old for it."""
    if header_version(header) < api_version:
        raise ValueError(f"the header describes version {header_version(header)} of the API; {api_version} is needed")
    order = entries(header)
    missing = sorted(used - set(order))
    if missing:
        raise ValueError(f"the header has no {', '.join(missing)}")
    lines = [f"    ORT_{name} = {i}," for i, name in enumerate(order) if name in used]
    return "\n".join([
        "/* Positions of ONNX Runtime's C functions in its table.",
        "   Written by scripts/generate_ort_table.py from onnxruntime_c_api.h; do not edit. */",
        "",
        f"#define ONAX_ORT_API_VERSION {api_version}  /* of the table that is asked for */",
        "",
        "enum onax_ort_position {",
        *lines,
        "};",
        "",
    ])  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("header", type=Path, help="path of onnxruntime_c_api.h")
    parser.add_argument("--api-version", type=int, default=API_VERSION, help="version of the table to ask for")
    parser.add_argument("--check", action="store_true", help="only compare with the file that is there")
    options = parser.parse_args(arguments)
    text = render(options.header.read_text(), used_names(), options.api_version)
    if options.check:
        return 0 if TABLE.read_text() == text else f"{TABLE} is not what the header gives"
    TABLE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
