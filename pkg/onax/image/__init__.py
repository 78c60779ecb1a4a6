"""onax.image: resizing."""

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax.image._resizing import ResizeMethod, resize, scale_and_translate

_wrap_api_functions(globals(), __name__, globals().keys())

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]
