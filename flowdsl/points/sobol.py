"""The Sobol sequence: points that cover a space more evenly than random ones, for any number of trials."""

from __future__ import annotations

from collections.abc import Iterator

_BITS = 32

#: For each dimension but the first a primitive polynomial, as its degree and inner coefficients, and its initial
#: direction numbers. Source: S. Joe, F. Y. Kuo, Constructing Sobol sequences with better two-dimensional
#: projections, SIAM J. Sci. Comput. 30 (2008), new-joe-kuo-6.
_POLYNOMIALS: tuple[tuple[int, int, tuple[int, ...]], ...] = (
    (1, 0, (1,)),
    (2, 1, (1, 3)),
    (3, 1, (1, 3, 1)),
    (3, 2, (1, 1, 1)),
    (4, 1, (1, 1, 3, 3)),
    (4, 4, (1, 3, 5, 13)),
    (5, 2, (1, 1, 5, 5, 17)),
    (5, 4, (1, 1, 5, 5, 5)),
    (5, 7, (1, 1, 7, 11, 19)),
    (5, 11, (1, 1, 5, 1, 1)),
    (5, 13, (1, 1, 1, 3, 11)),
    (5, 14, (1, 3, 5, 5, 31)),
    (6, 1, (1, 3, 3, 9, 7, 49)),
    (6, 13, (1, 1, 1, 15, 21, 21)),
    (6, 16, (1, 3, 1, 13, 27, 49)),
    (6, 19, (1, 1, 1, 15, 7, 5)),
    (6, 22, (1, 3, 1, 15, 13, 25)),
    (6, 25, (1, 1, 5, 5, 19, 61)),
    (7, 1, (1, 3, 7, 11, 23, 15, 103)),
    (7, 4, (1, 3, 7, 13, 13, 15, 69)),
)
MOST_DIMENSIONS = len(_POLYNOMIALS) + 1
"""The maximal number of parameters that can be searched together."""


def points(dimensions: int, seed: int) -> Iterator[tuple[float, ...]]:
    """The points of the unit cube, each coordinate in [0, 1), shifted by a random amount from the seed.

    `dimensions` is at most MOST_DIMENSIONS. The digital shift preserves how evenly the points are distributed.
    """
    import random

    source = random.Random(seed)
    # getrandbits and random() are the same in every Python.
    at = [source.getrandbits(_BITS) for _ in range(dimensions)]
    directions = [_directions(one) for one in range(dimensions)]
    for number in range(1, 1 << _BITS):
        yield tuple([one / (1 << _BITS) for one in at])
        changed = (number & -number).bit_length() - 1  # the bit in which the Gray codes of neighbours differ
        at = [one ^ numbers[changed] for one, numbers in zip(at, directions, strict=True)]


def _directions(dimension: int) -> list[int]:
    """The direction numbers of a dimension, from the highest bit down."""
    if dimension == 0:
        return [1 << (_BITS - 1 - bit) for bit in range(_BITS)]
    degree, inner, first = _POLYNOMIALS[dimension - 1]
    found = [one << (_BITS - 1 - bit) for bit, one in enumerate(first)]
    for bit in range(degree, _BITS):
        made = found[bit - degree] ^ (found[bit - degree] >> degree)
        for place in range(1, degree):
            if inner >> (degree - 1 - place) & 1:
                made ^= found[bit - place]
        found.append(made)
    return found
