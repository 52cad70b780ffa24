"""Sobol's sequence, by what defines it: how evenly its points lie."""

from __future__ import annotations

from itertools import combinations, islice

from hypothesis import given
from hypothesis import strategies as st

from flowdsl.sobol import MOST_DIMENSIONS, points


@given(st.integers(), st.integers(0, 9))
def test_each_interval_has_one_point_in_each_dimension(seed: int, bits: int) -> None:
    """Source: each coordinate is a (0, 1)-sequence in base 2, and a digital shift keeps that."""
    found = list(islice(points(MOST_DIMENSIONS, seed), 1 << bits))
    for coordinates in zip(*found, strict=True):
        assert sorted(int(one * (1 << bits)) for one in coordinates) == list(range(1 << bits))


@given(st.integers(), st.integers(1, 8), st.data())
def test_each_box_of_two_dimensions_has_one_point(seed: int, bits: int, data: st.DataObject) -> None:
    """Source: the first two dimensions of Sobol's sequence are a (0, 2)-sequence in base 2."""
    wide = data.draw(st.integers(0, bits))
    boxes = [
        (int(x * (1 << wide)), int(y * (1 << (bits - wide)))) for x, y in islice(points(2, seed), 1 << bits)
    ]
    assert len(set(boxes)) == 1 << bits


def test_no_two_dimensions_are_alike() -> None:
    found = list(zip(*islice(points(MOST_DIMENSIONS, 0), 256), strict=True))
    moved = [tuple(int(one * 256) ^ int(of[0] * 256) for one in of) for of in found]
    assert all(one != other for one, other in combinations(moved, 2))
