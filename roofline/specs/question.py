"""What people ask, as a spec that answers a mistake with one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from roofline.errors import InputError
from roofline.specs.base import Frozen
from roofline.specs.messages import validation_sentence


class Question(Frozen):
    """A frozen spec made from what a person typed."""

    if not TYPE_CHECKING:

        def __init__(self, **values: Any) -> None:  # noqa: ANN401
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise InputError(validation_sentence(error, type(self).model_fields)) from None
