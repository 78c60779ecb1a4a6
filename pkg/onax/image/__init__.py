"""onax.image: resizing."""

from onax._core.public import publish as _publish
from onax.image._resizing import ResizeMethod, resize, scale_and_translate

_publish(globals(), __name__, globals().keys())
