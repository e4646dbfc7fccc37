"""Engine profiles, read from data."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from roofline.errors import UnknownIdError
from roofline.specs.engine import EngineProfile
from roofline.specs.hardware import Accelerator


@cache
def _profiles() -> dict[str, EngineProfile]:
    text = (resources.files("roofline.catalog") / "data" / "engines.toml").read_text(encoding="utf-8")
    return {key: EngineProfile.model_validate({"id": key, **entry}) for key, entry in tomllib.loads(text).items()}


def engine_ids() -> tuple[str, ...]:
    """Every engine profile."""
    return tuple(_profiles())


def engine_profiles() -> tuple[EngineProfile, ...]:
    """Every profile, whole."""
    return tuple(_profiles().values())


def load_engine(ref: str, accelerator: Accelerator) -> EngineProfile:
    """The profile of this id; for ``auto`` the one that is usual on such a device."""
    profiles = _profiles()
    if ref == "auto":
        return next(p for p in profiles.values() if accelerator.category in p.categories)
    if ref not in profiles:
        raise UnknownIdError("engines", ref, ("auto", *profiles))
    return profiles[ref]
