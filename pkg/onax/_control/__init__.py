"""Floor 5: primitives whose parameters are jaxprs."""
