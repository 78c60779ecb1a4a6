"""All families, in the order of the report."""

from onax._divergence import casts, indexing, integers, numerics, prng, types

FAMILIES = (
    *indexing.FAMILIES,
    *casts.FAMILIES,
    *integers.FAMILIES,
    *types.FAMILIES,
    *numerics.FAMILIES,
    *prng.FAMILIES,
)
NAMES = tuple(family.name for family in FAMILIES)
