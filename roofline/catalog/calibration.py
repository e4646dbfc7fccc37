"""Fitted constants and their errors, read from the file that `scripts/calibrate.py` writes."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Literal

from pydantic import Field

from roofline.specs.base import Frozen

Band = tuple[float, float]


class Fitted(Frozen):
    """A constant of the fit: value, standard error, and its range over fits that leave one source out."""

    value: float = Field(gt=0)
    error: float = Field(ge=0, description="standard error as a share of the value, prior included")
    low: float = Field(gt=0)
    high: float = Field(gt=0)
    rows: int = Field(ge=0, description="measurements that bear on it")


class Bands(Frozen):
    """10th and 90th percentiles of measured over predicted time of rows left out of the fit, by kind."""

    decode: Band
    prefill: Band
    request: Band


class KindErrors(Frozen):
    """Absolute relative errors of one kind of row, in the fit and with its source left out."""

    rows: int
    median: float
    p90: float
    left_out_median: float
    left_out_p90: float
    coverage: float = Field(description="share of left-out rows inside the band")


class Residual(Frozen):
    """Percentiles of measured over predicted time, in the fit, for one combination."""

    architecture: str
    engine: str
    kind: str
    rows: int
    p10: float
    p50: float
    p90: float


class Calibration(Frozen):
    """Everything the fit says."""

    n_rows: int
    n_constants: int
    classes: dict[str, dict[str, Fitted]] = Field(description="class of engines -> constant -> mean")
    architectures: dict[str, dict[str, dict[str, Fitted]]] = Field(description="architecture -> class -> constant")
    engines: dict[str, dict[str, Fitted]] = Field(description="profile -> constant")
    links: dict[str, dict[str, Fitted]] = Field(description="kind of link -> constant")
    ceilings: dict[str, dict[str, float]] = Field(description="device -> width -> best matrix product over the peak")
    known: dict[str, Bands] = Field(description="class -> bands where architecture and engine were measured")
    unknown: dict[str, Bands] = Field(description="class -> bands where they were not")
    errors: dict[str, KindErrors]
    residuals: tuple[Residual, ...] = ()


Width = Literal["16bit", "8bit", "4bit"]


@cache
def calibration() -> Calibration:
    """The shipped fit."""
    text = (resources.files("roofline.catalog") / "data" / "calibration.toml").read_text(encoding="utf-8")
    return Calibration.model_validate(tomllib.loads(text))
