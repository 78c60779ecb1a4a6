"""Floor 4: interpreters of the language."""
