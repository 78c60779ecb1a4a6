"""onax.image: resizing."""

from onax.image._resizing import ResizeMethod, resize, scale_and_translate
