"""Columns of a sweep: their types, which are the same in every part, and cells that are filled block by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from roofline.answers.grid import Box, Grid
from roofline.answers.report import Bound, Times
from roofline.language import later
from roofline.specs.base import Frozen

if TYPE_CHECKING:
    import pandas as pd

LABELS = ("limit", "expected", "low", "high")
_FLAGS = ("fits", "attention_data_parallel_used")
_WORDS = ("decode_bound", "reason")
NAMES = (
    "batch_used",
    "fits",
    "max_batch",
    "tensor_parallel_used",
    "pipeline_parallel_used",
    "data_parallel_used",
    "expert_parallel_used",
    "attention_data_parallel_used",
    "weights_bytes_per_device",
    "kv_cache_bytes_per_device",
    "decode_bound",
    *(f"{label}_{field.name}" for label in LABELS for field in fields(Times)),
    *(f"{label}_usd_per_million_output_tokens" for label in LABELS),
    "reason",
)
"""What is answered, after the axes."""
REASONS = ("", later("does not fit"), later("cannot keep up"))
_UNKNOWN = -1


class Columns:
    """Rows ``start`` to ``stop`` of a grid, or all of them in another order of its axes."""

    def __init__(self, grid: Grid, start: int, stop: int, order: Sequence[str]) -> None:
        self._grid, self._start, self._size, self._order = grid, start, stop - start, tuple(order)
        self._reasons = {reason: code for code, reason in enumerate(REASONS)}
        self._values = {name: _axis_values(grid.axes[name]) for name in self._order}
        self._axes = {name: np.empty(self._size, dtype=values.dtype) for name, values in self._values.items()}
        self._cells: dict[str, NDArray[Any]] = {name: np.empty(self._size, dtype=_dtype(name)) for name in NAMES}

    def fill(self, row: int, box: Box, answers: Mapping[str, Any]) -> None:
        """Write the answers of one block; what is not answered is empty."""
        shape = tuple(part.stop - part.start for part in box)
        for axis, (name, part) in enumerate(zip(self._grid.axes, box, strict=True)):
            along = [-1 if at == axis else 1 for at in range(len(shape))]
            self._place(self._axes[name], row, box, shape, self._values[name][part].reshape(along))
        for name, cells in self._cells.items():
            found = answers.get(name, _UNKNOWN if name in _WORDS else name not in _FLAGS and np.nan)
            values = np.asarray(found).reshape(-1) if np.size(found) == 1 else np.asarray(found)
            self._place(cells, row, box, shape, values)

    def _place(self, cells: NDArray[Any], row: int, box: Box, shape: tuple[int, ...], values: NDArray[Any]) -> None:
        """Broadcast values into the cells of a block."""
        names = tuple(self._grid.axes)
        if self._order == names:
            first = row - self._start
            cells[first : first + int(np.prod(shape))].reshape(shape)[...] = values
        else:
            sizes = [len(self._grid.axes[name]) for name in self._order]
            cells.reshape(sizes).transpose([self._order.index(name) for name in names])[box] = values

    def reason_code(self, reason: str) -> int:
        """The number that stands for a reason in its column."""
        return self._reasons.setdefault(reason, len(self._reasons))

    def frame(self) -> pd.DataFrame:
        """The table; its columns are the arrays themselves, not copies."""
        import pandas as pd

        words = {"decode_bound": get_args(Bound), "reason": tuple(self._reasons)}
        axes = {name: _axis_column(self._grid.axes[name], cells) for name, cells in self._axes.items()}
        answers = {
            name: pd.Categorical.from_codes(cells.astype(np.int16, copy=False), pd.Index(words[name])) if name in words else cells
            for name, cells in self._cells.items()
        }
        return pd.DataFrame({**axes, **answers}, copy=False)


def _dtype(name: str) -> type[np.generic]:
    if name in _WORDS:
        return np.int16
    return np.bool_ if name in _FLAGS else np.float64


def _is_number(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _axis_values(values: Sequence[Any]) -> NDArray[Any]:
    """Whole numbers stay whole; with a None among them numbers are floats; all else is kept by its place on the axis."""
    if all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in values):
        return np.array(values, dtype=np.int64)
    if all(value is None or _is_number(value) for value in values):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.arange(len(values), dtype=np.int32)


def _axis_column(values: Sequence[Any], cells: NDArray[Any]) -> Any:  # noqa: ANN401
    """An axis as a column: numbers, flags, or words told once."""
    import pandas as pd

    if cells.dtype != np.int32:
        return cells
    if all(value is None or isinstance(value, bool) for value in values):
        return pd.array(list(values), dtype="boolean").take(cells)
    told = pd.Categorical([None if value is None else _told(value) for value in values])
    return told.take(cells)


def _told(value: Any) -> Any:  # noqa: ANN401
    """A value as a cell of a table: what is written as one word stays one."""
    return str(value) if isinstance(value, Frozen) else value
