"""gaussian_kde: a density estimated by a normal distribution around each sample."""

import math

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._core.trees import register_pytree_node_class
from onax.numpy._promotion import ensure_arraylike, promote_dtypes_inexact
from onax.random import choice, multivariate_normal
from onax.random import split as split_key
from onax.scipy import special
from onax.scipy.linalg import cho_factor, cho_solve


@register_pytree_node_class
class gaussian_kde:
    """A density estimate of samples: a normal distribution around each of them.

    The attributes `covariance`, `inv_cov` and `neff` hold the covariance of these distributions, its inverse and the
    effective number of samples.  It is a pytree.

    Args:
      dataset: (n,) or (d, n): n samples of dimension d, real numbers.
      bw_method: the width of the distributions: "scott" (the default), "silverman", a number, or a function of this
        object.
      weights: the weights of the samples, (n,); default None, equal ones.

    Raises:
      ValueError: fewer than two samples, weights of another length, or another `bw_method`.
      NotImplementedError: complex samples.

    Examples:
      >>> kde = onax.scipy.stats.gaussian_kde(jnp.array([-1.0, 0.0, 2.0]))
      >>> kde.evaluate(jnp.array([0.0, 10.0])).shape
      (2,)
    """

    def __init__(self, dataset, bw_method=None, weights=None):
        dataset = ensure_arraylike("gaussian_kde", dataset)
        if jnp.iscomplexobj(dataset):
            raise NotImplementedError("gaussian_kde does not support complex data")
        (dataset,) = promote_dtypes_inexact(jnp.atleast_2d(dataset))
        if dataset.size <= 1:
            raise ValueError("`dataset` input should have multiple elements.")
        n = dataset.shape[1]
        if weights is None:
            weights = jnp.full(n, 1.0 / n, dataset.dtype)
        else:
            _, weights = promote_dtypes_inexact(dataset, jnp.atleast_1d(weights))
            if weights.ndim != 1:
                raise ValueError("`weights` input should be one-dimensional.")
            if len(weights) != n:
                raise ValueError("`weights` input should be of length n")
            weights = weights / weights.sum()
        self.dataset, self.weights = dataset, weights
        self.neff = 1 / jnp.sum(weights**2)
        factor = self._factor(bw_method)
        covariance = jnp.atleast_2d(jnp.cov(dataset, rowvar=True, bias=False, aweights=weights))
        self.inv_cov = jnp.linalg.inv(covariance) / factor**2
        self.covariance = covariance * factor**2

    def _factor(self, bw_method):
        if bw_method is None or (isinstance(bw_method, str) and bw_method == "scott"):
            return self.neff ** (-1.0 / (self.d + 4))
        if isinstance(bw_method, str) and bw_method == "silverman":
            return (self.neff * (self.d + 2) / 4.0) ** (-1.0 / (self.d + 4))
        if callable(bw_method):
            return bw_method(self)
        if not isinstance(bw_method, str) and jnp.isscalar(bw_method):
            return bw_method
        raise ValueError("`bw_method` should be 'scott', 'silverman', a scalar, or a callable.")

    def tree_flatten(self):
        """The arrays, without auxiliary data."""
        return (self.neff, self.dataset, self.weights, self.covariance, self.inv_cov), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        """The object that holds these arrays."""
        del aux_data
        kde = cls.__new__(cls)
        kde.neff, kde.dataset, kde.weights, kde.covariance, kde.inv_cov = children
        return kde

    @property
    def d(self):
        """The dimension of the samples."""
        return self.dataset.shape[0]

    @property
    def n(self):
        """The number of samples."""
        return self.dataset.shape[1]

    def evaluate(self, points):
        """The density at points, (d, m); (m,) for samples of dimension 1."""
        return jnp.exp(self.logpdf(points))

    def __call__(self, points):
        """The density at points."""
        return self.evaluate(points)

    def pdf(self, x):
        """The density at points."""
        return self.evaluate(x)

    def logpdf(self, x):
        """The logarithm of the density at points; ValueError for points of another dimension."""
        points = self._as_points(x)
        root = jnp.linalg.cholesky(self.covariance)
        dataset, query = (
            lax.linalg.triangular_solve(root, v, left_side=True, lower=True) for v in (self.dataset, points)
        )
        squares = jnp.sum((dataset[:, :, None] - query[:, None, :]) ** 2, axis=0)
        constant = jnp.sum(jnp.log(jnp.diagonal(root))) + 0.5 * self.d * math.log(2 * math.pi)
        return special.logsumexp(-0.5 * squares, axis=0, b=self.weights[:, None]) - constant

    def _as_points(self, x):
        x = ensure_arraylike("gaussian_kde.evaluate", x)
        points, _ = promote_dtypes_inexact(jnp.atleast_2d(x), self.dataset)
        d, m = points.shape
        if d != self.d:
            if d != 1 or m != self.d:
                raise ValueError(f"points have dimension {d}, dataset has dimension {self.d}")
            points = points.reshape(self.d, 1)
        return points

    def integrate_gaussian(self, mean, cov):
        """The integral of the density times a normal one; ValueError for another dimension."""
        mean, cov = jnp.atleast_1d(jnp.squeeze(mean)), jnp.atleast_2d(cov)
        if mean.shape != (self.d,):
            raise ValueError(f"mean does not have dimension {self.d}")
        if cov.shape != (self.d, self.d):
            raise ValueError(f"covariance does not have dimension {self.d}")
        return jnp.sum(self.weights * _centred_normal_pdf(self.dataset - mean[:, None], self.covariance + cov))

    def integrate_box_1d(self, low, high):
        """The probability between two numbers; ValueError unless the samples are numbers."""
        if self.d != 1:
            raise ValueError("integrate_box_1d() only handles 1D pdfs")
        if jnp.ndim(low) != 0 or jnp.ndim(high) != 0:
            raise ValueError("the limits of integration in integrate_box_1d must be scalars")
        width = jnp.sqrt(self.covariance[0, 0])
        low, high = ((limit - self.dataset[0]) / width for limit in (low, high))
        return jnp.sum(self.weights * (special.ndtr(high) - special.ndtr(low)))

    def integrate_kde(self, other):
        """The integral of the product of two densities; ValueError for another dimension."""
        if other.d != self.d:
            raise ValueError("KDEs are not the same dimensionality")
        apart = (self.dataset[:, :, None] - other.dataset[:, None, :]).reshape(self.d, -1)
        weights = (self.weights[:, None] * other.weights[None, :]).reshape(-1)
        return jnp.sum(weights * _centred_normal_pdf(apart, self.covariance + other.covariance))

    def resample(self, key, shape=()):
        """Points drawn at random from the density, (d, *shape)."""
        first, second = split_key(key)
        chosen = choice(first, self.n, shape=shape, p=self.weights)
        noise = multivariate_normal(
            second, jnp.zeros(self.d, self.covariance.dtype), self.covariance, shape=shape, dtype=self.dataset.dtype
        )
        return self.dataset[:, chosen] + jnp.moveaxis(noise, -1, 0)

    def integrate_box(self, low_bounds, high_bounds, maxpts=None):
        """Not supported: see `integrate_box_1d`."""
        del low_bounds, high_bounds, maxpts
        raise NotImplementedError("only 1D box integrations are supported; use `integrate_box_1d`")

    def set_bandwidth(self, bw_method=None):
        """Not supported: make another object."""
        del bw_method
        raise NotImplementedError("dynamically changing the bandwidth method is not supported")


def _centred_normal_pdf(apart, covariance):
    """The density of the centred normal distribution at the columns of `apart`."""
    factor = cho_factor(covariance, lower=True)
    energy = 0.5 * jnp.sum(apart * cho_solve(factor, apart), axis=0)
    logarithm = 0.5 * apart.shape[0] * math.log(2 * np.pi) + jnp.sum(jnp.log(jnp.diagonal(factor[0])))
    return jnp.exp(-energy - logarithm)
