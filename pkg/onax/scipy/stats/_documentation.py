"""The documentation of distributions: what each of them is, and what a function of a distribution returns."""

import inspect
from typing import NamedTuple


class Distribution(NamedTuple):
    """A distribution: its name, the law of its numbers, its parameters without loc and scale, an example."""

    name: str
    law: str
    parameters: dict
    point: str  # where the example evaluates the functions of x or k
    values: dict  # name of a function -> what it returns in the example, to four digits


_Z = ", with z = (x - loc) / scale"
_OVER_SCALE = " / scale" + _Z
_TRIALS = {"n": "the number of trials", "p": "the probability that a trial succeeds, in [0, 1]"}

DISTRIBUTIONS = {
    "bernoulli": Distribution(
        "Bernoulli distribution",
        "The probabilities of 1 and 0 are p and 1 - p",
        {"p": "the probability of 1, in [0, 1]"},
        "1, 0.25",
        {"pmf": 0.25, "logpmf": -1.3863, "cdf": 1.0, "ppf": 0.0},
    ),
    "beta": Distribution(
        "beta distribution",
        f"The density is z**(a - 1) (1 - z)**(b - 1) / B(a, b){_OVER_SCALE}, for 0 <= z <= 1",
        {"a": "the exponent of z plus 1, positive", "b": "the exponent of 1 - z plus 1, positive"},
        "0.5, 2.0, 3.0",
        {"pdf": 1.5, "logpdf": 0.4055, "cdf": 0.6875, "logcdf": -0.3747, "sf": 0.3125, "logsf": -1.1632},
    ),
    "betabinom": Distribution(
        "beta-binomial distribution",
        "The probability of k is C(n, k) B(k + a, n - k + b) / B(a, b): that of k successes among n trials, whose "
        "probability is a number of the beta distribution",
        {
            "n": "the number of trials",
            "a": "the first parameter of the beta distribution, positive",
            "b": "its second parameter, positive",
        },
        "2, 5, 2.0, 3.0",
        {"pmf": 0.2381, "logpmf": -1.4351},
    ),
    "binom": Distribution(
        "binomial distribution",
        "The probability of k successes among n trials is C(n, k) p**k (1 - p)**(n - k)",
        _TRIALS,
        "2, 5, 0.25",
        {"pmf": 0.2637, "logpmf": -1.333},
    ),
    "cauchy": Distribution(
        "Cauchy distribution",
        f"The density is 1 / (pi (1 + z**2)){_OVER_SCALE}",
        {},
        "1.0",
        {
            "pdf": 0.1592,
            "logpdf": -1.8379,
            "cdf": 0.75,
            "logcdf": -0.2877,
            "sf": 0.25,
            "logsf": -1.3863,
            "ppf": -1.0,
            "isf": 1.0,
        },
    ),
    "chi2": Distribution(
        "chi-square distribution",
        f"The density is z**(df / 2 - 1) exp(-z / 2) / (2**(df / 2) gamma(df / 2)){_OVER_SCALE}, for z >= 0",
        {"df": "the degrees of freedom, positive"},
        "1.0, 3.0",
        {"pdf": 0.242, "logpdf": -1.4189, "cdf": 0.1987, "logcdf": -1.6157, "sf": 0.8013, "logsf": -0.2216},
    ),
    "expon": Distribution(
        "exponential distribution",
        f"The density is exp(-z){_OVER_SCALE}, for z >= 0",
        {},
        "1.0",
        {"pdf": 0.3679, "logpdf": -1.0, "cdf": 0.6321, "logcdf": -0.4587, "sf": 0.3679, "logsf": -1.0, "ppf": 0.2877},
    ),
    "gamma": Distribution(
        "gamma distribution",
        f"The density is z**(a - 1) exp(-z) / gamma(a){_OVER_SCALE}, for z >= 0",
        {"a": "the shape parameter, positive"},
        "1.0, 2.0",
        {"pdf": 0.3679, "logpdf": -1.0, "cdf": 0.2642, "logcdf": -1.3309, "sf": 0.7358, "logsf": -0.3069},
    ),
    "gennorm": Distribution(
        "generalized normal distribution",
        "The density is beta exp(-|x|**beta) / (2 gamma(1 / beta))",
        {"beta": "the exponent, positive: 2 is normal with variance 1/2, 1 is Laplace's"},
        "1.0, 1.5",
        {"pdf": 0.2038, "logpdf": -1.5908, "cdf": 0.8876},
    ),
    "geom": Distribution(
        "geometric distribution",
        "The probability that trial number k is the first to succeed is p (1 - p)**(k - 1)",
        {"p": "the probability that a trial succeeds, in (0, 1]"},
        "2, 0.25",
        {"pmf": 0.1875, "logpmf": -1.674},
    ),
    "gumbel_l": Distribution(
        "Gumbel distribution of minima",
        f"The density is exp(z - exp(z)){_OVER_SCALE}",
        {},
        "1.0",
        {
            "pdf": 0.1794,
            "logpdf": -1.7183,
            "cdf": 0.934,
            "logcdf": -0.0683,
            "sf": 0.066,
            "logsf": -2.7183,
            "ppf": -1.2459,
        },
    ),
    "gumbel_r": Distribution(
        "Gumbel distribution of maxima",
        f"The density is exp(-z - exp(-z)){_OVER_SCALE}",
        {},
        "1.0",
        {
            "pdf": 0.2546,
            "logpdf": -1.3679,
            "cdf": 0.6922,
            "logcdf": -0.3679,
            "sf": 0.3078,
            "logsf": -1.1783,
            "ppf": -0.3266,
        },
    ),
    "laplace": Distribution(
        "Laplace distribution",
        f"The density is exp(-|z|) / 2{_OVER_SCALE}",
        {},
        "1.0",
        {"pdf": 0.1839, "logpdf": -1.6931, "cdf": 0.8161},
    ),
    "logistic": Distribution(
        "logistic distribution",
        f"The density is exp(-z) / (1 + exp(-z))**2{_OVER_SCALE}",
        {},
        "1.0",
        {"pdf": 0.1966, "logpdf": -1.6265, "cdf": 0.7311, "sf": 0.2689, "ppf": -1.0986, "isf": 1.0986},
    ),
    "nbinom": Distribution(
        "negative binomial distribution",
        "The probability of k failures before success number n is C(k + n - 1, n - 1) p**n (1 - p)**k",
        {"n": "the number of successes, positive", "p": _TRIALS["p"]},
        "2, 3, 0.25",
        {"pmf": 0.0527, "logpmf": -2.9425},
    ),
    "norm": Distribution(
        "normal distribution",
        f"The density is exp(-z**2 / 2) / sqrt(2 pi){_OVER_SCALE}",
        {},
        "1.0",
        {
            "pdf": 0.242,
            "logpdf": -1.4189,
            "cdf": 0.8413,
            "logcdf": -0.1728,
            "sf": 0.1587,
            "logsf": -1.841,
            "ppf": -0.6745,
            "isf": 0.6745,
        },
    ),
    "pareto": Distribution(
        "Pareto distribution",
        f"The density is b / z**(b + 1){_OVER_SCALE}, for z >= 1",
        {"b": "the exponent, positive"},
        "2.0, 3.0",
        {
            "pdf": 0.1875,
            "logpdf": -1.674,
            "cdf": 0.875,
            "logcdf": -0.1335,
            "sf": 0.125,
            "logsf": -2.0794,
            "ppf": 1.1006,
        },
    ),
    "poisson": Distribution(
        "Poisson distribution",
        "The probability of k is mu**k exp(-mu) / k!",
        {"mu": "the mean, not negative"},
        "2, 3.0",
        {"pmf": 0.224, "logpmf": -1.4959, "cdf": 0.4232, "entropy": 1.9315},
    ),
    "t": Distribution(
        "Student's t distribution",
        f"The density is proportional to (1 + z**2 / df)**(-(df + 1) / 2){_Z}",
        {"df": "the degrees of freedom, positive"},
        "1.0, 5.0",
        {"pdf": 0.2197, "logpdf": -1.5156},
    ),
    "truncnorm": Distribution(
        "truncated normal distribution",
        f"The density is that of the normal distribution{_Z}, divided by its probability of a <= z <= b",
        {"a": "the lower bound of z", "b": "the upper bound of z; results are NaN unless a < b"},
        "0.5, -1.0, 2.0",
        {"pdf": 0.4301, "logpdf": -0.8438, "cdf": 0.6509, "logcdf": -0.4294, "sf": 0.3491, "logsf": -1.0523},
    ),
    "uniform": Distribution(
        "uniform distribution",
        "The density is 1 / scale, for loc <= x <= loc + scale",
        {},
        "0.25, 0.0, 2.0",
        {"pdf": 0.5, "logpdf": -0.6931, "cdf": 0.125, "ppf": 0.5},
    ),
    "vonmises": Distribution(
        "von Mises distribution",
        "The density is exp(kappa cos(x)) / (2 pi i0(kappa)), where x is an angle in radians",
        {"kappa": "the concentration; results are NaN unless it is positive"},
        "0.5, 2.0",
        {"pdf": 0.4039, "logpdf": -0.9067},
    ),
    "wrapcauchy": Distribution(
        "wrapped Cauchy distribution",
        "The density is (1 - c**2) / (2 pi (1 + c**2 - 2 c cos(x))), for angles 0 <= x <= 2 pi in radians",
        {"c": "the concentration; results are NaN unless 0 < c < 1"},
        "0.5, 0.25",
        {"pdf": 0.2392, "logpdf": -1.4303},
    ),
}

# name of a function -> (what it returns, its first argument)
_X, _Q = "where to evaluate, an array of numbers", "probabilities in [0, 1]"
FUNCTIONS = {
    "pdf": ("the density", _X),
    "logpdf": ("the logarithm of the density", _X),
    "pmf": ("the probability of k", _X),
    "logpmf": ("the logarithm of the probability of k", _X),
    "cdf": ("the probability of at most {first}", _X),
    "logcdf": ("the logarithm of the probability of at most {first}", _X),
    "sf": ("the probability of more than {first}", _X),
    "logsf": ("the logarithm of the probability of more than {first}", _X),
    "ppf": ("the inverse of `cdf`", _Q),
    "isf": ("the inverse of `sf`", _Q),
    "entropy": ("the entropy in nats", None),
}
_SHARED = {"loc": "the shift of the distribution; default 0", "scale": "its scale, positive; default 1"}
_TEMPLATE = """Returns {returned} of the {name}.

    {law}.

    Args:
{arguments}

    Returns:
      Float array of the shape to which the arguments broadcast.

    Examples:
      >>> round(float(onax.scipy.stats.{call}), 4)
      {value}
    """


def document(path, functions):
    """Gives the functions of a distribution their documentation; `functions` is the namespace of its module."""
    distribution = DISTRIBUTIONS.get(path)
    if distribution is None:
        return  # it documents itself: its points are vectors
    for name in FUNCTIONS.keys() & functions.keys():
        names = list(inspect.signature(functions[name]).parameters)
        returned, argument = FUNCTIONS[name]
        described = {**_SHARED, **distribution.parameters}
        if argument is not None:
            described[names[0]] = argument
        functions[name].__doc__ = _TEMPLATE.format(
            returned=returned.format(first=names[0]),
            name=distribution.name,
            law=distribution.law,
            arguments="\n".join(f"      {n}: {described[n]}." for n in names),
            call=f"{path}.{name}({example_arguments(distribution, name)})",
            value=distribution.values[name],
        )


def example_arguments(distribution, name):
    """The arguments of a function's example, as text."""
    point, _, rest = distribution.point.partition(", ")
    first = {"ppf": "0.25", "isf": "0.25", "entropy": ""}.get(name, point)
    return ", ".join(part for part in (first, rest) if part)
