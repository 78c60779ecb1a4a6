"""Floor 1: options, errors, dtypes, dimensions, devices; this package knows neither arrays nor tracing."""
