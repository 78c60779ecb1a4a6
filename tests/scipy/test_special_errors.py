"""Error functions of complex and scaled kind: values and slopes against SciPy, in double precision."""

import pytest
import scipy.special as theirs

import onax.scipy.special as ours
from special_functions import A, B, X, Z, assert_close, double_precision, scipy_tests  # noqa: F401

#  name: (arguments, SciPy's function, absolute error)
REAL = {
    "wofz": ((Z,), theirs.wofz, 0),
    "erfcx": ((X,), theirs.erfcx, 0),
    "dawsn": ((X,), theirs.dawsn, 0),
    "owens_t": ((A - 2, 2 * B - 4), theirs.owens_t, 1e-15),
}
SLOPES = {  # name -> arguments, all differentiated
    "erfcx": (0.4,),
    "dawsn": (0.8,),
    "owens_t": (0.7, -1.4),
}

TestScipy = scipy_tests(REAL, SLOPES)


def test_complex_arguments():
    assert_close(ours.erfcx(Z), theirs.erfcx(Z), 0)
    with pytest.raises(ValueError, match="complex"):
        ours.dawsn(Z)
