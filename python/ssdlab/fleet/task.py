"""The work of one job, in typed fields: its command and what it destroys follow from them.

No field gives consent, names another library or a file, and no word of the command comes as it stands.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import Field

from ssdlab.fleet.fields import MeterSpec, MethodName, SettingName, SettingValue
from ssdlab.model.errors import UsageError
from ssdlab.model.failed_ios import OnError
from ssdlab.model.frozen import Metavar, Stored
from ssdlab.model.meter_text import MeterText
from ssdlab.model.options import Endurance
from ssdlab.model.units import percent_text
from ssdlab.runs.conditions.variant import AS_IT_IS, Variant, on_text
from ssdlab.runs.order import Order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ssdlab.lab.method import Params
    from ssdlab.runs.suites.ordering import SuiteOrder

_FILE = "FILE"
"""What stands for the value of a parameter that names a file (`Metavar`)."""


class Task(Stored):
    """What one drive is to do."""

    run: MethodName = Field(description="a method or a suite, by its name")
    quick: bool = False
    repeat: int = Field(1, ge=1, le=99)
    settings: dict[SettingName, SettingValue] = Field(default={}, description="parameters, as of --set")
    variant: Variant = Field(AS_IT_IS, description="what the drive is to be")
    endurance_cap: Endurance | None = Field(None, gt=0, description="a share, or whole bytes")
    meter: MeterSpec | None = None
    on_error: OnError = "stop"
    seed: int | None = Field(None, ge=0, lt=2**64)

    def words(self) -> tuple[str, ...]:
        """Return the words of its command after `ssdlab run`, without the drive, consent and library."""
        found: list[str] = [self.run]
        if self.quick:
            found.append("--quick")
        if self.repeat > 1:
            found += ["--repeat", str(self.repeat)]
        for name, value in self.settings.items():
            found += ["--set", f"{name}={value}"]
        variant = self.variant.model_dump(mode="json", by_alias=True, exclude_none=True)
        for name, given in variant.items():
            found += [f"--{name.replace('_', '-')}", str(given)]
        found += cap_words(self.endurance_cap)
        if self.on_error != "stop":
            found += ["--on-error", self.on_error]
        for flag, option in (("--meter", self.meter), ("--seed", self.seed)):
            if option is not None:
                found += [flag, str(option)]
        return tuple(found)

    def writes_to(self, drive: str) -> bool:
        """Whether a drive's data will be lost: by the method with its parameters, or by the variant.

        Raises
        ------
        LabError
            There is no such method here, or it does not take what is set.
        """
        return _writes(self.model_dump_json(by_alias=True), drive)

    def order(self, drive: str, **own: Any) -> Order | SuiteOrder:  # noqa: ANN401 - fields of Order
        """Return what is to be run on a drive; `own` are further fields of its order.

        Raises
        ------
        UsageError
            A method, a parameter or a variant that does not exist, or a parameter that names a file.
        """
        from ssdlab.lab.found import find_method
        from ssdlab.lab.suites import find_suite
        from ssdlab.runs.suites.ordering import SuiteOrder, repeated, suite_params

        suite = find_suite(self.run)
        method = find_method(self.run if suite is None else suite.parts[0].method)
        params = method.params.build(self.settings if suite is None else {}, quick=self.quick)
        like = Order(
            method,
            params,
            on_text(drive, self.variant),
            quick=self.quick,
            variant=self.variant,
            endurance_cap=self.endurance_cap,
            on_error=self.on_error,
            meter=None if self.meter is None else MeterText.parse(self.meter),
            **own,
        )
        if suite is not None:
            several = suite_params(suite, self.settings, quick=self.quick, drive=like.drive)
        elif self.repeat > 1:
            suite, several = repeated(method, params, self.repeat)
        else:
            _refuse_files({"": params})
            return like
        _refuse_files(several)
        return SuiteOrder(suite, several, like, self.repeat)


def cap_words(cap: float | None) -> list[str]:
    """Return the words that set an endurance cap: a share as a percentage, or whole bytes."""
    if cap is None:
        return []
    return ["--endurance-cap", str(cap) if isinstance(cap, int) else percent_text(Fraction(str(cap)))]


@cache
def _writes(task: str, drive: str) -> bool:
    found = Task.model_validate_json(task)
    order = found.order(drive)
    if found.variant.destroys:
        return True
    return order.method.writes(order.params) if isinstance(order, Order) else order.writes


def _refuse_files(parts: Mapping[str, Params]) -> None:
    """Refuse parameters that name a file: what it holds is in no plan, and each host has its own."""
    for params in parts.values():
        for name, field in type(params).model_fields.items():
            value = getattr(params, name)
            if value != field.default and any(
                isinstance(each, Metavar) and each.word == _FILE for each in field.metadata
            ):
                raise UsageError(
                    f"{name} = {value!r} names a file, and a fleet's runs read none",
                    "leave it out, or do that run by itself: ssdlab run",
                    field=name,
                )
