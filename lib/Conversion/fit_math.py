"""Derives the coefficients of ExpandMath*.cpp.

Weighted minimax fits on a Chebyshev grid by Lawson's reweighted least squares,
with values from mpmath. For f32 the coefficients are rounded one at a time, the
lowest power first, and the rest is fitted again: that loses no accuracy to the
rounding. Prints each polynomial, highest power first, with the error of its fit
relative to the function that it serves.

Needs mpmath and numpy; no build runs this.
"""

import mpmath as mp
import numpy as np

mp.mp.dps = 40
ONE = mp.mpf(1)
HALF_LN2 = mp.log(2) / 2 * mp.mpf("1.0005")
HALF = ONE / 2 * mp.mpf("1.0005")
QUARTER_PI = mp.pi / 4 * mp.mpf("1.01")


def lawson(powers, values, weights, iterations=60):
    """Coefficients c that minimise max |weights (values - powers c)|."""
    lam = np.full(len(values), 1.0 / len(values))
    best = None
    for _ in range(iterations):
        scale = np.sqrt(lam) * weights
        c = np.linalg.lstsq(powers * scale[:, None], values * scale, rcond=None)[0]
        error = np.abs(weights * (values - powers @ c))
        if best is None or error.max() < best[0]:
            best = (error.max(), c)
        lam = lam * (error / error.max() + 1e-12)
        lam /= lam.sum()
    return best[1]


def fit(function, weight, interval, degree, fixed=(), single=True, points=300):
    """Coefficients, lowest power first, and the greatest weighted error. `fixed`
    gives the first ones; `single` rounds to f32."""
    a, b = (mp.mpf(end) for end in interval)
    grid = [
        (a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * mp.mpf(i) / points)
        for i in range(points + 1)
    ]
    span = float(max(abs(a), abs(b)))
    x = np.array([float(v) for v in grid]) / span
    weights = np.array([abs(float(weight(v))) for v in grid])
    rest = np.array([float(function(v)) for v in grid])
    result = list(fixed)
    for power, c in enumerate(fixed):
        rest = rest - c * (x * span) ** power
    while len(result) <= degree:
        powers = np.stack([x**p for p in range(len(result), degree + 1)], 1)
        c = lawson(powers, rest, weights)
        count = 1 if single else len(c)
        for value in c[:count]:
            power = len(result)
            value = value / span**power
            value = float(np.float32(value) if single else value)
            result.append(value)
            rest = rest - value * (x * span) ** power
    return result, np.abs(weights * rest).max()


def show(name, fitted):
    coefficients, error = fitted
    words = ", ".join(c.hex() for c in reversed(coefficients))
    print(f"{name}: 2^{np.log2(error):.1f}\n  {words}", flush=True)


def limit(function, value):
    """The function with its limit at 0 put in."""
    return lambda x: value if abs(x) < mp.mpf(10) ** -9 else function(x)


def odd(function, value):
    """(f(sqrt(s)) / sqrt(s) - 1) / s, for f(x) = x + x^3 q(x^2)."""
    return limit(lambda s: (function(mp.sqrt(s)) / mp.sqrt(s) - 1) / s, value)


def exponentials():
    show(
        "exp, e^r",
        fit(mp.exp, lambda x: mp.exp(-x), (-HALF_LN2, HALF_LN2), 6, fixed=(1.0, 1.0)),
    )
    show(
        "exp2, 2^r",
        fit(
            lambda x: mp.mpf(2) ** x,
            lambda x: mp.mpf(2) ** -x,
            (-HALF, HALF),
            6,
            fixed=(1.0,),
        ),
    )
    show(
        "expm1, (e^r - 1 - r) / r^2",
        fit(
            limit(lambda x: (mp.expm1(x) - x) / x**2, ONE / 2),
            limit(lambda x: x * x / mp.expm1(x), 0),
            (-HALF_LN2, HALF_LN2),
            4,
        ),
    )
    show(
        "2^r in f64",
        fit(
            lambda x: mp.mpf(2) ** x,
            lambda x: mp.mpf(2) ** -x,
            (-HALF, HALF),
            8,
            single=False,
            points=400,
        ),
    )


def logarithms():
    show(
        "log(1 + f) = f - f^2/2 + f^3 q",
        fit(
            limit(lambda x: (mp.log(1 + x) - x + x * x / 2) / x**3, ONE / 3),
            limit(lambda x: x**3 / mp.log(1 + x), 0),
            ("-0.2500001", "0.5000001"),
            7,
        ),
    )
    most = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * mp.mpf("1.0001")

    def series(z):
        s = mp.sqrt(z)
        return mp.log((1 + s) / (1 - s), 2) / s

    show(
        "log2((1 + s) / (1 - s)) / s in f64, of s^2",
        fit(
            series,
            lambda z: 1 / series(z),
            ("1e-18", most**2),
            5,
            single=False,
            points=400,
        ),
    )


def trigonometry():
    show(
        "sin: x + x^3 q(x^2)",
        fit(odd(mp.sin, -ONE / 6), lambda s: s, ("1e-8", QUARTER_PI**2), 2),
    )
    cosine = limit(lambda s: (mp.cos(mp.sqrt(s)) - 1 + s / 2) / s**2, ONE / 24)
    show(
        "cos: 1 - x^2/2 + x^4 q(x^2)",
        fit(cosine, lambda s: s * s / mp.cos(mp.sqrt(s)), ("1e-4", QUARTER_PI**2), 2),
    )


def sigmoids():
    show(
        "tanh: x + x^3 q(x^2), up to 0.55",
        fit(odd(mp.tanh, -ONE / 3), lambda s: s, ("1e-8", mp.mpf("0.55") ** 2), 4),
    )
    ratio = limit(lambda s: mp.erf(mp.sqrt(s)) / mp.sqrt(s), 2 / mp.sqrt(mp.pi))
    show(
        "erf: x + x p(x^2), up to 0.93",
        fit(
            lambda s: ratio(s) - 1,
            lambda s: 1 / ratio(s),
            ("1e-9", mp.mpf("0.93") ** 2),
            5,
        ),
    )
    show(
        "erf: 1 - exp(x g - x), 0.92 to 4",
        fit(
            lambda t: (mp.log(mp.erfc(t)) + t) / t,
            lambda t: t * mp.erfc(t) / mp.erf(t),
            ("0.92", "4"),
            5,
        ),
    )


if __name__ == "__main__":
    exponentials()
    logarithms()
    trigonometry()
    sigmoids()
