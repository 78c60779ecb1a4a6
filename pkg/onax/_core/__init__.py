"""Floor 2: the language, i.e. jaxprs, traces and the makers of rules."""

from onax._core import hooks
