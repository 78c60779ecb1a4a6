"""Floor 3: the primitives, one file per family, each closed under adjoints."""
