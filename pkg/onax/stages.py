"""The stages of ahead-of-time compilation: `jit(f).trace(...)`, `.lower()`, `.compile()`."""

from onax._compile.jit import PjitFunction as Wrapped
from onax._compile.stages import ArgInfo, Compiled, Lowered, Traced

CompilerOptions = dict

__all__ = ["ArgInfo", "Compiled", "CompilerOptions", "Lowered", "Traced", "Wrapped"]
