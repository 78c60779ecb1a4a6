"""Floor 7: from a jaxpr to something that runs."""
