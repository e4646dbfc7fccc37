"""A table of fields inside a reference, so that what is the person's own travels in a link.

Prefix + base64url(deflate(JSON)), limited in size packed and unpacked. It is text: nothing in it is run.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from roofline.errors import InputError
from roofline.language import tr


@dataclass(frozen=True)
class Envelope:
    """One kind of table that may travel, its limits and the words of its refusals."""

    prefix: str
    noun: str
    advice: str
    """What makes it smaller."""
    remedy: str
    """What to do when it arrives damaged."""
    most_characters: int
    """Packed, prefix included."""
    most_bytes: int
    """Unpacked."""

    def holds(self, ref: str) -> bool:
        """Whether a reference is such a table itself."""
        return ref.startswith(self.prefix)

    def pack(self, table: Mapping[str, Any]) -> str:
        """A table as a reference.

        Raises
        ------
        InputError
            It is too large to travel in a link.
        """
        text = json.dumps(table, separators=(",", ":"), sort_keys=True).encode()
        packed = self.prefix + base64.urlsafe_b64encode(zlib.compress(text, 9)).decode().rstrip("=")
        if len(packed) > self.most_characters or len(text) > self.most_bytes:
            raise InputError(
                tr(
                    "this {noun} needs {n:,} characters in a link ({of:,} bytes unpacked) and "
                    "{most:,} ({most_bytes:,}) are allowed; {advice}.",
                    noun=tr(self.noun),
                    n=len(packed),
                    of=len(text),
                    most=self.most_characters,
                    most_bytes=self.most_bytes,
                    advice=tr(self.advice),
                )
            )
        return packed

    def unpack(self, ref: str) -> dict[str, Any]:
        """The table of a reference.

        Raises
        ------
        InputError
            It is damaged, too large, or no table.
        """
        if len(ref) > self.most_characters:
            raise InputError(
                tr("a {noun} in a link has at most {most:,} characters.", noun=tr(self.noun), most=self.most_characters)
            )
        body = ref.removeprefix(self.prefix)
        try:
            raw = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
            inflater = zlib.decompressobj()
            text = inflater.decompress(raw, self.most_bytes)
            if inflater.unconsumed_tail or not inflater.eof:
                raise InputError(
                    tr(
                        "the {noun} in this link is cut short or larger than {most:,} bytes.",
                        noun=tr(self.noun),
                        most=self.most_bytes,
                    )
                )
            table = json.loads(text)
        except (binascii.Error, zlib.error, ValueError, RecursionError):
            raise InputError(
                tr("the {noun} in this link is damaged: {remedy}.", noun=tr(self.noun), remedy=tr(self.remedy))
            ) from None
        if not isinstance(table, dict):
            raise InputError(
                tr("the {noun} in this link is no table of fields: {remedy}.", noun=tr(self.noun), remedy=tr(self.remedy))
            )
        return table
