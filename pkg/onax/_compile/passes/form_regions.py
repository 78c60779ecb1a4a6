"""Native target: forms the regions and loops that onax's own kernels compute, also inside branches and loops.

loops     a loop whose step is small becomes one equation (`loops.py`)
words     random keys become words (`words.py`)
regions   elementwise equations and reductions that run in one pass over memory become one equation (`regions.py`)
"""

from onax._compile.passes.bodies import cache_on_program
from onax._compile.passes.loops import form_loops
from onax._compile.passes.words import worded
from onax._tape.regions import fuse


@cache_on_program
def form_regions(jaxpr):
    """Rewrites regions and loops to equations of `fused_p` and `looped_p`; there must be no calls or dead code."""
    return fuse(worded(form_loops(jaxpr, form_regions)))
