"""The base of models whose fields a user sets by name: an error says in which of them a value stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import field_validator

from ssdlab.model.errors import UsageError
from ssdlab.model.frozen import Frozen

if TYPE_CHECKING:
    from pydantic import ValidationInfo, ValidatorFunctionWrapHandler


class NamedOptions(Frozen):
    """Options: what reads a text knows what is wrong with it and not whose it is; here that is added."""

    @field_validator("*", mode="wrap")
    @classmethod
    def _named(cls, value: object, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> object:
        try:
            return handler(value)
        except UsageError as error:
            name = info.field_name or ""
            word = cls.model_fields[name].alias or name
            within = error.facts.get("field")
            if within is None or isinstance(value, str):  # a text's own fields are nobody's words
                error.what = f"{word}: {error.what}"
                error.advice = error.advice.removeprefix(f"{within}: ")
                error.facts["field"] = word
            raise
