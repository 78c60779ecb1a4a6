"""Rotations, spectra, solvers, minimisation and statistics of samples against SciPy, in double precision."""

import numpy as np
import pytest
import scipy.optimize
import scipy.signal
import scipy.stats
from scipy.spatial.transform import Rotation as Theirs

import onax as jax
import onax.numpy as jnp
import onax.scipy.stats as stats
from onax.scipy import optimize, signal
from onax.scipy.sparse import linalg
from onax.scipy.spatial.transform import Rotation, Slerp

RNG = np.random.default_rng(0)
QUATS = RNG.normal(size=(6, 4))
LONG = RNG.normal(size=(2, 150))
X = np.array([-2.5, -0.5, 0.3, 1.0, 2.7, 6.0])


@pytest.fixture(autouse=True)
def double_precision():
    """SciPy computes in it."""
    with jax.enable_x64(True):
        yield


def close(got, want, atol=1e-12):
    np.testing.assert_allclose(got, want, 1e-9, atol)


# ---- rotations


@pytest.mark.parametrize("seq", ["xyz", "XYZ", "zyx", "zxz", "YXY", "ZYX"])
def test_euler_angles(seq):
    angles = RNG.uniform(-1.4, 1.4, (5, 3))
    close(Rotation.from_euler(seq, angles).as_matrix(), Theirs.from_euler(seq, angles).as_matrix())
    close(Rotation.from_quat(QUATS).as_euler(seq), Theirs.from_quat(QUATS).as_euler(seq))


def test_locked_angles_give_the_rotation_back():
    for seq, middle in (("xyz", np.pi / 2), ("ZYX", -np.pi / 2), ("zxz", 0.0), ("XYX", np.pi)):
        rotation = Rotation.from_euler(seq, np.array([0.3, middle, 0.5]))
        angles = rotation.as_euler(seq)
        assert angles[2] == 0
        close(Rotation.from_euler(seq, angles).as_matrix(), rotation.as_matrix(), 1e-7)


def test_forms_of_rotations():
    mine, theirs = Rotation.from_quat(QUATS), Theirs.from_quat(QUATS)
    for name in ("as_matrix", "as_rotvec", "as_mrp", "magnitude"):
        close(getattr(mine, name)(), getattr(theirs, name)())
    close(Rotation.from_matrix(mine.as_matrix()).as_quat(canonical=True), theirs.as_quat(canonical=True))
    close(Rotation.from_mrp(QUATS[:, :3]).as_matrix(), Theirs.from_mrp(QUATS[:, :3]).as_matrix())
    close((mine * mine[1]).as_matrix(), (theirs * theirs[1]).as_matrix())
    close(mine.inv().apply(QUATS[:, :3]), theirs.inv().apply(QUATS[:, :3]))
    close(mine.mean().as_matrix(), theirs.mean().as_matrix(), 1e-9)
    assert len(Rotation.identity(3)) == 3 and bool(Rotation.identity())
    drawn = Rotation.random(jax.random.key(0), 4).quat
    close(np.linalg.norm(drawn, axis=-1), np.ones(4))


def test_rotations_are_differentiable_at_none():
    got = jax.jacobian(lambda v: Rotation.from_rotvec(v).apply(np.array([1.0, 2, 3])))(np.zeros(3))
    close(got, [[0, 3, -2], [-3, 0, 1], [2, -1, 0]])


def test_slerp():
    from_scipy = scipy.spatial.transform.Slerp(np.arange(6.0), Theirs.from_quat(QUATS))
    times = np.array([0.0, 0.4, 2.0, 3.7, 5.0])
    got = jax.jit(Slerp.init(np.arange(6.0), Rotation.from_quat(QUATS)))(times)
    close(got.as_matrix(), from_scipy(times).as_matrix())


# ---- spectra


@pytest.mark.parametrize(
    "options",
    [
        {"nperseg": 32},
        {"nperseg": 30, "noverlap": 7, "nfft": 41, "fs": 3.0, "detrend": "linear", "scaling": "spectrum"},
        {"nperseg": 24, "average": "median", "window": "hamming", "return_onesided": False},
    ],
)
def test_densities(options):
    for name, args in (("welch", (LONG,)), ("csd", (LONG, LONG[::-1])), ("csd", (LONG[:, :90], LONG))):
        for got, want in zip(getattr(signal, name)(*args, **options), getattr(scipy.signal, name)(*args, **options)):
            close(got, want)


@pytest.mark.parametrize(
    "options",
    [{"nperseg": 32}, {"nperseg": 16, "noverlap": 12, "nfft": 20}, {"nperseg": 20, "boundary": "odd", "padded": False}],
)
def test_short_time_transforms(options):
    got, want = signal.stft(LONG, **options), scipy.signal.stft(LONG, **options)
    for g, w in zip(got, want):
        close(g, w)
    back = {k: v for k, v in options.items() if k in ("nperseg", "noverlap", "nfft")}
    for g, w in zip(signal.istft(want[2], **back), scipy.signal.istft(want[2], **back)):
        close(g, w)


def test_detrending():
    for options in ({}, {"type": "constant", "axis": 0}, {"bp": [40, 90]}, {"axis": 0}):
        close(signal.detrend(LONG, **options), scipy.signal.detrend(LONG, **options))
    close(jax.jit(signal.detrend)(LONG), scipy.signal.detrend(LONG))


# ---- solvers

POSITIVE = QUATS.T @ QUATS + np.eye(4)
GENERAL = RNG.normal(size=(4, 4)) + 4 * np.eye(4)


@pytest.mark.parametrize("solver", [linalg.cg, linalg.gmres, linalg.bicgstab])
def test_solvers(solver):
    a = POSITIVE if solver is linalg.cg else GENERAL
    b = QUATS[0]
    want = np.linalg.solve(a, b)
    for m in (None, np.diag(1 / np.diag(a)), lambda x: x / 4):
        close(solver(a, b, tol=1e-12, M=m)[0], want, 1e-9)
    tree, _ = solver(lambda t: {"x": a @ t["x"], "y": 2 * t["y"]}, {"x": b, "y": np.ones(2)}, tol=1e-12)
    close(tree["x"], want, 1e-9)
    close(tree["y"], 0.5 * np.ones(2), 1e-9)
    solve = lambda b: solver(a, b, tol=1e-12)[0]
    close(jax.jit(jax.jacrev(solve))(b), np.linalg.inv(a), 1e-9)
    close(jax.vmap(solve)(QUATS), np.linalg.solve(a, QUATS.T).T, 1e-9)


def test_complex_system():
    a = GENERAL + 1j * POSITIVE
    close(linalg.gmres(a, QUATS[0] + 1j, tol=1e-12, restart=2, maxiter=200)[0], np.linalg.solve(a, QUATS[0] + 1j), 1e-9)


def test_gmres_tells_of_failure():
    x, info = linalg.gmres(np.zeros((3, 3)), np.ones(3))
    assert info == -1 and not np.isfinite(x).all()


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@pytest.mark.parametrize("method", ["BFGS", "l-bfgs-experimental-do-not-rely-on-this"])
def test_minimisation(method):
    found = optimize.minimize(rosenbrock, np.zeros(6), method=method)
    assert found.success and found.status == 0 and found.nfev >= found.nit
    close(found.x, np.ones(6), 1e-5)
    assert np.abs(found.jac).max() < 1e-5
    if found.hess_inv is not None:
        want = scipy.optimize.minimize(lambda x: float(rosenbrock(x)), np.zeros(6), method="BFGS").hess_inv
        np.testing.assert_allclose(found.hess_inv, want, 0.3, 0.3)
    one = optimize.minimize(rosenbrock, np.zeros(6), method=method, options={"maxiter": 1})
    assert not one.success and one.status == 1 and one.nit == 1
    mapped = jax.jit(jax.vmap(lambda x: optimize.minimize(lambda y: ((y - 1) ** 4).sum(), x, method=method).x))
    close(mapped(np.array([[0.0, 3.0], [2.0, 2.0]])), np.ones((2, 2)), 0.05)


def test_minimisation_ends_without_a_minimum():
    falling = optimize.minimize(lambda x: -(x**2).sum(), np.ones(2), method="BFGS")
    assert not falling.success and falling.status == 3
    nothing = optimize.minimize(lambda x: x.sum() * np.nan, np.ones(2), method="BFGS")
    assert not nothing.success and nothing.nit == 0


# ---- statistics


@pytest.mark.parametrize(
    ("name", "args"),
    [("truncnorm", (-1.0, 2.0)), ("truncnorm", (0.3, np.inf)), ("truncnorm", (-8.0, -5.0)), ("vonmises", (2.0,)),
     ("gennorm", (1.5,))],
)  # fmt: skip
def test_distributions(name, args):
    mine, theirs = getattr(stats, name), getattr(scipy.stats, name)
    x = X - 6 if args[0] == -8 else X
    for f in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"):
        if hasattr(mine, f):
            np.testing.assert_allclose(getattr(mine, f)(x, *args), getattr(theirs, f)(x, *args), 1e-7, 1e-12)


def test_multinomial_counts_along_the_last_axis():
    counts, p = np.array([[1, 2, 3], [6, 0, 0], [1, 1, 1]]), np.array([0.2, 0.3, 0.5])
    close(stats.multinomial.pmf(counts, 6, p), scipy.stats.multinomial.pmf(counts, 6, p))


def test_samples():
    x = RNG.integers(0, 5, (7, 4)).astype(float)
    for axis in (0, 1, None):
        got, want = stats.mode(x, axis), scipy.stats.mode(x, axis)
        close(got.mode, want.mode)
        close(got.count, want.count)
        for method in ("average", "min", "max", "dense", "ordinal"):
            close(stats.rankdata(x, method, axis=axis), scipy.stats.rankdata(x, method, axis=axis))
        close(stats.sem(x, axis), scipy.stats.sem(x, axis))
    x[2, 1] = np.nan
    close(stats.sem(x, nan_policy="omit"), scipy.stats.sem(x, nan_policy="omit"))
    assert np.isnan(stats.rankdata(x, axis=0))[:, 1].all()
    mu = np.array([0.0, 0.3, 5.0, 99.0, 101.0, 500.0])
    close(stats.poisson.entropy(mu), np.where(mu == 0, 0, scipy.stats.poisson.entropy(np.maximum(mu, 0.1))), 1e-7)


def test_density_of_samples():
    data, points = RNG.normal(size=(2, 9)), RNG.normal(size=(2, 4))
    for options in ({}, {"bw_method": "silverman"}, {"bw_method": 0.4, "weights": np.arange(1.0, 10)}):
        mine, theirs = stats.gaussian_kde(data, **options), scipy.stats.gaussian_kde(data, **options)
        close(mine(points), theirs(points))
        close(mine.covariance, theirs.covariance)
        close(mine.inv_cov, theirs.inv_cov)
        close(mine.integrate_kde(mine), theirs.integrate_kde(theirs))
        close(mine.integrate_gaussian(points[:, 0], np.eye(2)), theirs.integrate_gaussian(points[:, 0], np.eye(2)))
    close(jax.jit(lambda k, p: k.logpdf(p))(mine, points), theirs.logpdf(points))
    line = stats.gaussian_kde(data[0])
    close(line.integrate_box_1d(-1, 0.5), scipy.stats.gaussian_kde(data[0]).integrate_box_1d(-1, 0.5))
    assert line.resample(jax.random.key(0), (3,)).shape == (1, 3)
