"""Axes crossed: a number for every row, and the blocks of rows that are evaluated as arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Box = tuple[slice, ...]
"""Where a block lies on every axis of a grid: one value on each outer axis, a range on each inner one."""


@dataclass(frozen=True)
class Grid:
    """Outer axes, then inner ones; rows are numbered with the last axis running fastest."""

    outer: Mapping[str, Sequence[Any]]
    inner: Mapping[str, Sequence[Any]]

    @cached_property
    def axes(self) -> dict[str, Sequence[Any]]:
        """All axes in the order of the rows."""
        return {**self.outer, **self.inner}

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Values on each axis."""
        return tuple(len(values) for values in self.axes.values())

    @cached_property
    def size(self) -> int:
        """Rows in all."""
        return math.prod(self.shape)

    def boxes(self, start: int, stop: int, most: int) -> Iterator[tuple[int, Box]]:
        """Blocks of at most so many rows that cover rows ``start`` to ``stop`` in order, each with its first row.

        >>> grid = Grid({"model": "ab"}, {"batch": (1, 2, 4), "output_tokens": (8, 9)})
        >>> [(row, [(s.start, s.stop) for s in box]) for row, box in grid.boxes(1, 8, 4)]
        [(1, [(0, 1), (0, 1), (1, 2)]), (2, [(0, 1), (1, 3), (0, 2)]), (6, [(1, 2), (0, 1), (0, 2)])]
        """
        row = start
        while row < stop:
            box = self.box(row, min(most, stop - row))
            yield row, box
            row += math.prod(part.stop - part.start for part in box)

    def outer_end(self, row: int) -> int:
        """The row after the last one with the same outer values."""
        n = math.prod(len(values) for values in self.inner.values())
        return (row // n + 1) * n

    def box(self, row: int, most: int) -> Box:
        """The largest block of at most so many rows that begins at a row."""
        place = [int(i) for i in np.unravel_index(row, self.shape)] if self.shape else []
        ends = [i + 1 for i in place]
        rows = 1
        for axis in range(len(place) - 1, len(self.outer) - 1, -1):
            ends[axis] = min(self.shape[axis], place[axis] + max(1, most // rows))
            rows *= ends[axis] - place[axis]
            if rows < math.prod(self.shape[axis:]):
                break
        return tuple(slice(i, end) for i, end in zip(place, ends, strict=True))

    def fixed(self, box: Box) -> dict[str, Any]:
        """The value of every outer axis in a block."""
        return {name: values[part.start] for (name, values), part in zip(self.outer.items(), box, strict=False)}

    def loads(self, box: Box) -> dict[str, NDArray[np.float64]]:
        """The values of every inner axis in a block, each along an axis of its own, so that they broadcast to the block."""
        own, n = box[len(self.outer) :], len(self.inner)
        return {
            name: _numbers(values[part]).reshape([-1 if at == axis else 1 for at in range(n)])
            for axis, ((name, values), part) in enumerate(zip(self.inner.items(), own, strict=True))
        }


def _numbers(values: Sequence[Any]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else float(value) for value in values])
