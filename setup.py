"""Builds the compiled floor of onax; everything else about the package stands in pyproject.toml."""

import gzip
import os
import re
import shutil
import sys
import sysconfig
import tarfile
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import cache
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

SOURCES = Path("cython_src/onax/_native")
# What Cython writes.  C files for NumPy 2.5, which needs Python 3.12, do not compile with the headers of 2.4.
BUILT = Path("build/cython" if sys.version_info < (3, 12) else f"build/cython-{sys.implementation.cache_tag}")
ALSO = {"tape": "blocks_*.c"}  # C files that a module has besides its own
# Modules whose classes are made when they are imported, so that attributes can be set on them: Array.
HEAP_TYPES = {"array": [("CYTHON_USE_TYPE_SPECS", "1")]}


def _require_toolchain():
    """Ends the build with one clear line when the compiler or Python's headers are missing."""
    if sys.platform == "win32":
        return  # setuptools finds MSVC through the registry and words its absence itself
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        sys.exit(f"onax: no C compiler: '{compiler}' is not on PATH; install one (e.g. the package gcc).")
    include = Path(sysconfig.get_paths()["include"])
    if not (include / "Python.h").exists():
        sys.exit(f"onax: no Python headers: {include}/Python.h is missing; install e.g. the package python3-dev.")


def _sanitizers():
    """Flags for the sanitizers that the variable ONAX_SANITIZE names, as -fsanitize takes them; scripts/native_build.py
    sets it."""
    names = os.environ.get("ONAX_SANITIZE")
    return [f"-fsanitize={names}", "-O1", "-g1", "-fno-omit-frame-pointer"] if names else []


def _extensions():
    """One extension module per .pyx of floor 0, with the C files `<module>_*.c` that lie beside it, if any."""
    _require_toolchain()

    import numpy
    from Cython.Build import cythonize

    sanitizers = _sanitizers()
    # Loops over sqrt, floor and comparisons become vector code only where nobody reads errno or traps.
    flags = [*(sanitizers or ["-O2", "-g0"]), "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
    extensions = []
    for pyx in sorted(SOURCES.glob("*.pyx")):
        patterns = {f"{pyx.stem}_*.c", ALSO.get(pyx.stem, f"{pyx.stem}_*.c")}
        kernels = sorted([str(path) for pattern in patterns for path in SOURCES.glob(pattern)])
        extensions.append(
            Extension(
                f"onax._native.{pyx.stem}",
                [str(pyx), *kernels],
                include_dirs=[numpy.get_include(), str(SOURCES)],
                define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION"), *HEAP_TYPES.get(pyx.stem, [])],
                extra_compile_args=[] if sys.platform == "win32" else flags,
                extra_link_args=sanitizers,
            )
        )
    extensions = cythonize(extensions, include_path=["cython_src"], build_dir=str(BUILT), language_level=3)
    for header in BUILT.rglob("*.h"):  # copies, which would hide the headers themselves when those change
        header.unlink()
    return extensions


@cache
def _read_files(path):
    """A C file and those of this folder that it includes, at any depth."""
    included = re.findall(r'^\s*#\s*include "(\w+\.h)"', path.read_text(), re.MULTILINE)
    found = [SOURCES / name for name in included if (SOURCES / name).exists()]
    return {path}.union(*[_read_files(header) for header in found])


def _without_python_flags(compiler):
    """A copy of the compiler that does not optimize, warn and debug as Python itself was built.

    The object files of C files that know nothing of Python are then the same for every Python, and ccache shares them.
    """
    kernels = copy(compiler)
    if hasattr(compiler, "compiler_so"):  # not MSVC
        of_python = re.compile(r"-(g\d?|O.|W.*|DNDEBUG|fwrapv|fno-strict-overflow)")
        kernels.compiler_so = [x for x in compiler.compiler_so if not of_python.fullmatch(x)] + ["-fwrapv", "-Wall"]
    return kernels


class BuildExtensions(build_ext):
    """Compiles the C files of all extensions side by side, the longest first.

    Object files that are newer than all that they are made of, this file with its flags included, are kept.
    """

    def build_extensions(self):
        self._kernel_compiler = _without_python_flags(self.compiler)
        jobs = [(Path(source), extension) for extension in self.extensions for source in extension.sources]
        jobs.sort(key=lambda job: -job[0].stat().st_size)
        with ThreadPoolExecutor(self.parallel) as threads:
            made = list(threads.map(lambda job: self._compile(*job), jobs))
        for extension in self.extensions:
            extension.extra_objects = [path for path, (_, owner) in zip(made, jobs) if owner is extension]
            extension.sources, extension.depends = [], extension.extra_objects
        super().build_extensions()

    def _compile(self, source, extension):
        """The path of the object file of a C file."""
        (made,) = self.compiler.object_filenames([str(source)], output_dir=self.build_temp)
        read = max([path.stat().st_mtime for path in (*_read_files(source), Path("setup.py"))])
        if self.force or not os.path.exists(made) or os.path.getmtime(made) <= read:
            is_kernel = source.parent == SOURCES  # plain C; Cython writes the others
            (self._kernel_compiler if is_kernel else self.compiler).compile(
                [str(source)],
                output_dir=self.build_temp,
                macros=[] if is_kernel else extension.define_macros,
                include_dirs=[str(SOURCES)] if is_kernel else extension.include_dirs,
                debug=self.debug,
                extra_postargs=extension.extra_compile_args,
            )
        return made


class ReproducibleSdist(sdist):
    """An archive with the same bytes for the same files: entries in order, one date, no owner.

    The date is the variable SOURCE_DATE_EPOCH, in seconds since 1970, or the first that a zip file can hold.
    """

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, owner=None, group=None):
        if format != "gztar":
            return super().make_archive(base_name, format, root_dir, base_dir, owner, group)
        date = int(os.environ.get("SOURCE_DATE_EPOCH", 315532800))

        def normalized(entry):
            entry.uid, entry.gid, entry.uname, entry.gname, entry.mtime = 0, 0, "", "", date
            entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            return entry

        made = f"{base_name}.tar.gz"
        with (
            open(made, "wb") as raw,
            gzip.GzipFile("", "wb", fileobj=raw, mtime=date) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for path in sorted(Path(base_dir).rglob("*")):
                archive.add(path, recursive=False, filter=normalized)
        return made


def _packages():
    """Every package below pkg/, and export/ installed as onax.export."""
    inner = [".".join(p.parent.parts[1:]) for p in sorted(Path("pkg").rglob("__init__.py"))]
    export = [".".join(("onax", *p.parent.parts)) for p in sorted(Path("export").rglob("__init__.py"))]
    return inner + export


BUILDS = {"build_ext", "build", "bdist_wheel", "develop", "editable_wheel", "install"}

setup(
    packages=_packages(),
    package_dir={"": "pkg", "onax.export": "export"},
    package_data={
        "onax": ["py.typed", "*.pyi", "include/onax/*.h"],
        "onax._pages": ["*.html", "*.css", "*.js"],
        "onax.errors": ["errors.md"],
        "onax._ground": ["*.pyi"],
        "onax._native": ["*.pyi"],
        "onax.experimental": ["*.pyi"],
        "onax.export": ["*.pyi"],
        "onax.scipy": ["*.pyi"],
        "onax.export.graph": ["*.json"],
        "onax.interop": ["private_names.txt", "distributions/*.py", "distributions/*/METADATA"],
    },
    include_package_data=False,
    zip_safe=False,
    ext_modules=_extensions() if BUILDS & set(sys.argv) else [],
    cmdclass={"build_ext": BuildExtensions, "sdist": ReproducibleSdist},
    options={"build_ext": {"parallel": os.cpu_count()}},
)
