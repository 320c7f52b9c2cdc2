"""`ssdlab schema`: print JSON Schemas of what ssdlab reads and writes, made from its own models."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Union

from pydantic import BaseModel, Field, TypeAdapter, create_model
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from ssdlab.cli import printed
from ssdlab.cli.output import print_json, print_table
from ssdlab.model.errors import unknown
from ssdlab.model.frozen import Frozen
from ssdlab.model.units import parse_duration
from ssdlab.results.kind import loaded

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

SCHEMA = "ssdlab.schemas/1"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
Mode = Literal["validation", "serialization"]
_SEAL = Field(
    None,
    description="checksum over all bytes before it, in a file; absent in printed output and in old files",
)
_ATTRIBUTES = re.compile(r"\n+Attributes\n-+\n(.*?)(?:\n\n|$)", re.DOTALL)
_ATTRIBUTE = re.compile(r"^(\w[\w, ]*)\n((?:    .*\n?)+)", re.MULTILINE)


def schema(name: str | None = None, /, *, json: bool = False) -> None:
    """Print the JSON Schema (2020-12) of a document, or list the documents.

    Schemas come from the models that ssdlab itself reads and writes. To validate a TOML file, convert its
    tables to JSON. Text such as "4k" is fully checked only when ssdlab reads it.

    Parameters
    ----------
    name
        Document: manifest, show, job, ... [default: list all].
    json
        Print the list as JSON, schema ssdlab.schemas/1; a schema is JSON in any case.
    """
    if name is not None:
        print_json(schema_of(name))
        return
    listed = [{"name": each, "id": identifier(each), "title": one.title} for each, one in DOCUMENTS.items()]
    if json:
        print_json({"schema": SCHEMA, "schemas": listed})
    else:
        print_table((each["name"], each["title"]) for each in listed)


def identifier(name: str) -> str:
    """Return the permanent id of a schema, which ends in the version number of the document."""
    return f"urn:ssdlab:schema:{name}:{DOCUMENTS[name].number}"


def schema_of(name: str) -> JsonSchemaValue:
    """Return the JSON Schema of a document.

    Raises
    ------
    UsageError
        There is no such document.
    """
    if name not in DOCUMENTS:
        raise unknown("document", name, DOCUMENTS)
    document = DOCUMENTS[name]
    adapter: TypeAdapter[Any] = TypeAdapter(document.of() if callable(document.of) else loaded(document.of))
    adapter.rebuild(_types_namespace=printed.NAMES)
    made = adapter.json_schema(mode=document.mode, schema_generator=_Generator)
    for each in (made, *made.get("$defs", {}).values()):
        _describe_fields(each)
        _name_versions(each)
    about = {"$schema": DIALECT, "$id": identifier(name), "title": document.title}
    return {**about, **{key: value for key, value in made.items() if key != "title"}}


class Document(NamedTuple):
    """A document and the type that reads or writes it.

    Attributes
    ----------
    title
        One line on what the document is.
    of
        The type, as `module:name`, or a function that makes the type.
    number
        Version number in the document's key `schema`, if it has that key.
    mode
        `validation` for a document that ssdlab reads, `serialization` for one that it writes.
    """

    title: str
    of: str | Callable[[], Any]
    number: int = 1
    mode: Mode = "validation"


class _Generator(GenerateJsonSchema):
    def field_is_required(self, field: Any, total: bool) -> bool:  # noqa: ANN401 - pydantic's own
        """Return whether a key is always present: discriminators are, despite their default."""
        inner = field["schema"]
        tag = inner["type"] == "default" and len(inner["schema"].get("expected", ())) == 1
        return (tag and self.mode == "serialization") or super().field_is_required(field, total)

    def function_before_schema(self, schema: Any) -> JsonSchemaValue:  # noqa: ANN401 - pydantic's own
        """Return the schema of a value that may also be text, such as 4k, or a number of seconds."""
        inner = super().function_before_schema(schema)
        if self.mode == "serialization" or (inner.get("type") == "string" and "maxLength" not in inner):
            return inner
        also: list[JsonSchemaValue] = [{"type": "string"}]
        if schema["function"]["function"] is parse_duration:  # users give seconds; the model has nanoseconds
            return {"anyOf": [*also, {"type": "number", "minimum": 0}]}
        if inner.get("type") == "array" or "anyOf" in inner:
            also.append(
                {"type": "number", "minimum": 0}
            )  # the only entry of a list, such as a CPU, or a switch of 0 to 2
        return {"anyOf": [inner, *also]}


def _describe_fields(made: JsonSchemaValue) -> None:
    """Copy the descriptions of a class's attributes to the properties."""
    found = _ATTRIBUTES.search(made.get("description", ""))
    if found is None:
        return
    made["description"] = made["description"].replace(found[0], "").strip()
    for names, text in _ATTRIBUTE.findall(found[1] + "\n"):
        for each in names.split(", "):
            if each in made["properties"]:
                made["properties"][each].setdefault("description", " ".join(text.split()))


def _name_versions(made: JsonSchemaValue) -> None:
    """Restrict the key `schema` to the document's own name, in every version that is read."""
    key = made.get("properties", {}).get("schema", {})
    name, _, last = str(key.pop("default", "")).partition("/")
    if last:
        key["enum"] = [f"{name}/{number}" for number in range(1, int(last) + 1)]
        made["required"] = sorted({*made.get("required", ()), "schema"})


def _sealed(place: str) -> Callable[[], type[BaseModel]]:
    def model() -> type[BaseModel]:
        base: type[BaseModel] = loaded(place)
        return create_model(base.__name__, __base__=base, __doc__=base.__doc__, seal=(str | None, _SEAL))

    return model


def _any_of(models: Iterator[Any], by: str) -> Any:  # noqa: ANN401 - a type
    return Annotated[Union[tuple(models)], Field(discriminator=by)]  # noqa: UP007 - of a tuple


def _result() -> Any:  # noqa: ANN401 - a type
    from ssdlab.lab.kinds import KINDS

    return _any_of((each.loaded_model() for each in KINDS.values()), "kind")


def _journal() -> Any:  # noqa: ANN401 - a type
    from ssdlab.results import records

    kinds = ("OpenRecord", "BeginRecord", "EndRecord", "VoidRecord", "PartRecord")
    return _any_of((_sealed(f"{records.__name__}:{each}")() for each in kinds), "t")


def _job() -> type[BaseModel]:
    """Return the model of a job file; options of a step may be spelt with hyphens or underscores."""
    from ssdlab.lab.job import step_options
    from ssdlab.model.limits import STEPS

    def step(do: str, options: dict[str, FieldInfo]) -> type[BaseModel]:
        fields: dict[str, Any] = {
            spelt.replace("-", "__"): (
                Annotated[(field.annotation, *field.metadata, None)],
                Field(field.default, alias=spelt, description=field.description),
            )
            for key, field in options.items()
            for spelt in dict.fromkeys((key.replace("_", "-"), key))
        }
        fields |= {"do": (Literal[do], ...), "label": (str, Field("", description="name in reports"))}
        return create_model(f"{do.title()}Step", __base__=Frozen, __doc__=f"A {do} step.", **fields)

    steps = _any_of((step(do, options) for do, options in step_options().items()), "do")
    several = tuple[steps, ...]  # type: ignore[valid-type]  # made at run time
    listed: dict[str, Any] = {"step": (several, Field(min_length=1, max_length=STEPS))}
    return create_model("Job", __base__=Frozen, __doc__="A sequence of steps: [[step]] tables.", **listed)


def _rank() -> Any:  # noqa: ANN401 - a type
    return Union[printed.RankingDocument, printed.FiguresDocument]  # noqa: UP007 - made at run time


def _plan() -> Any:  # noqa: ANN401 - a type
    return printed.PlanDocument | printed.SuitePlanDocument | printed.DrivesPlanDocument


def _claims() -> type[BaseModel]:
    from ssdlab.report.claims import UserClaim

    about = "Claims of a page's author, each with its figure and bound."
    return create_model(
        "Claims", __base__=Frozen, __doc__=about, claim=(list[UserClaim], Field(min_length=1))
    )


_PRINTED = "ssdlab.cli.printed:"
_WRITTEN: Mode = "serialization"
DOCUMENTS: dict[str, Document] = {
    "manifest": Document(
        "manifest.json of a run: what was run, on which drive, and the result",
        _sealed("ssdlab.results.schema:Manifest"),
        2,
        _WRITTEN,
    ),
    "result": Document(
        "the result of a run, by the kind of its method: `result` of its manifest", _result, 2, _WRITTEN
    ),
    "journal": Document("a line of journal.jsonl of a run", _journal, 2, _WRITTEN),
    "show": Document("what `ssdlab show --json` prints, and `run`", f"{_PRINTED}ShowDocument", 1, _WRITTEN),
    "runs": Document("what `ssdlab runs --json` prints", f"{_PRINTED}RunsDocument", 1, _WRITTEN),
    "rank": Document("what `ssdlab rank --json` prints", _rank, 1, _WRITTEN),
    "compare": Document("what `ssdlab compare --json` prints", f"{_PRINTED}ComparisonDocument", 1, _WRITTEN),
    "changes": Document("what `ssdlab changes --json` prints", f"{_PRINTED}ChangesDocument", 1, _WRITTEN),
    "plan": Document("what `ssdlab plan --json` prints, and --dry-run", _plan, 1, _WRITTEN),
    "measure": Document("what `ssdlab measure --json` prints", f"{_PRINTED}MeasurementDocument", 1, _WRITTEN),
    "inventory": Document(
        "the drives of a host, as `ssdlab fleet inventory` writes and prints them",
        _sealed("ssdlab.fleet.inventory:Inventory"),
        1,
        _WRITTEN,
    ),
    "fleet-plan": Document(
        "a plan of a fleet, as `ssdlab fleet plan` writes it",
        _sealed("ssdlab.fleet.fleet_plan:FleetPlan"),
        2,
        _WRITTEN,
    ),
    "job": Document("a job file, TOML: `ssdlab job`", _job),
    "review": Document(
        "a review or suite, TOML: `ssdlab run FILE`", "ssdlab.lab.suites.declaration:Declaration"
    ),
    "theme": Document("a theme, TOML: --theme", "ssdlab.report.theme_file:ThemeText"),
    "claims": Document("claims with figure and bound, TOML: `ssdlab report --claims`", _claims),
    "drive-record": Document("a drive's record, by a person, TOML", "ssdlab.drives.drive_record:DriveRecord"),
    "ratings": Document(
        "a drive's ratings, TOML: `ssdlab sim check --ratings`", "ssdlab.drives.ratings:Ratings"
    ),
    "rig": Document("the rig file, TOML: --rig", "ssdlab.host.platform:Rig"),
    "config": Document("config.toml: what is used where nothing is named", "ssdlab.host.defaults:Defaults"),
    "selection": Document("work for a fleet, TOML: `ssdlab fleet plan`", "ssdlab.fleet.selection:Selection"),
    "trace-columns": Document(
        "the columns of a trace, TOML: `ssdlab trace show --columns`", "ssdlab.formats.traces.columns:Columns"
    ),
}
"""Documents by name: first those that ssdlab writes and prints, then those that users write."""
