"""Sobol's sequence, by what defines it: how evenly its points lie."""

from __future__ import annotations

from itertools import combinations, islice

from hypothesis import given
from hypothesis import strategies as st

from flowdsl.points.sobol import MOST_DIMENSIONS, points


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


def test_the_points_are_those_of_others() -> None:
    """Source: scipy 1.x, `qmc.Sobol(21, scramble=False)`: its points 85 and 170, in parts of 256."""
    first, *others = islice(points(MOST_DIMENSIONS, 0), 171)
    found = [
        [int(one * 256) ^ int(start * 256) for one, start in zip(others[at - 1], first, strict=True)]
        for at in (85, 170)
    ]
    assert found == [
        [254, 254, 138, 30, 14, 42, 194, 142, 166, 22, 138, 178, 38, 14, 118, 234, 202, 170, 242, 90, 174],
        [255, 1, 79, 141, 147, 209, 33, 163, 215, 77, 169, 153, 21, 173, 235, 111, 173, 199, 73, 27, 255],
    ]
