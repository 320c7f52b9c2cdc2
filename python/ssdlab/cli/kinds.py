"""What an option takes, under the word that its help shows: `--size SIZE` instead of `--size STR`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

Count = Annotated[int, Parameter(metavar="N")]
Share = Annotated[str | None, Parameter(metavar="PERCENT")]
Time = Annotated[str | None, Parameter(metavar="TIME")]
DriveText = Annotated[str | None, Parameter(metavar="DRIVE")]
RunText = Annotated[str | None, Parameter(metavar="RUN")]
Identifier = Annotated[str | None, Parameter(metavar="ID")]
Identifiers = Annotated[tuple[str, ...], Parameter(metavar="ID", negative=())]
Name = Annotated[str, Parameter(metavar="NAME")]
Settings = Annotated[tuple[str, ...], Parameter(name="--set", metavar="NAME=VALUE", negative=())]
