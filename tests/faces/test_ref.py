"""`onax.ref`: JAX's names of mutable array references."""

import onax
import onax.ref
from onax.numpy import _refs


def test_the_names_are_those_of_the_package():
    assert onax.new_ref is onax.ref.new_ref and onax.freeze is onax.ref.freeze and onax.Ref is onax.ref.Ref
    assert onax.ref.set is _refs.set and onax.ref.swap is _refs.swap
