"""The modules of onax.scipy for type checkers; they are imported on first access."""

from onax.scipy import cluster as cluster
from onax.scipy import fft as fft
from onax.scipy import integrate as integrate
from onax.scipy import interpolate as interpolate
from onax.scipy import linalg as linalg
from onax.scipy import ndimage as ndimage
from onax.scipy import optimize as optimize
from onax.scipy import signal as signal
from onax.scipy import sparse as sparse
from onax.scipy import spatial as spatial
from onax.scipy import special as special
from onax.scipy import stats as stats
