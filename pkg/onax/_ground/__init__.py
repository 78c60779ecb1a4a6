"""Floor 1: options, errors, dtypes, dimensions, devices; no arrays and no tracing."""
