"""Floor 2: the language, i.e. jaxprs, traces and the makers of rules."""
