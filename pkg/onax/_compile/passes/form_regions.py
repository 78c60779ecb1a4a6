"""Native target: forms the parts of a program that compiled code of ours computes, within branches and loops too.

loops     a loop whose step is small becomes one equation (`loops.py`)
words     random keys become words (`words.py`)
regions   elementwise equations and reductions that run in one pass over memory become one equation (`regions.py`)
"""

from onax._compile.passes.bodies import cache_on_program
from onax._compile.passes.loops import form_loops
from onax._compile.passes.regions import fuse
from onax._compile.passes.words import worded


@cache_on_program
def form_regions(jaxpr):
    """The program with these parts as equations of `looped_p` and `fused_p`; it must have no calls and no dead code."""
    return fuse(worded(form_loops(jaxpr, form_regions)))
