"""A Python function of the user's own, by its import path."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from headwater.config import ConfigDef, ConfigError, ConfigType, Validator
from headwater.connect.data.spark_types import ddl, schema_of_plan
from headwater.connect.data.sql_text import unless_null
from headwater.connect.transforms.settings import given_text, required, settings, side_of
from headwater.connect.transforms.transform import FunctionCall, Step
from headwater.plan.schemas.ddl import parse_ddl
from headwater.plan.schemas.types import TypeTextError

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape
    from headwater.plan.schemas.types import DataType

_NAME = "headwater.connect.transforms.PythonFunction"
_PATH = re.compile(r"[\w.]+:\w+")


@dataclass(frozen=True)
class PythonFunction:
    """Calls a function with each key or value: a dict of a struct, a list, text, a number."""

    side: str
    path: str
    returns: DataType | None

    class_names: ClassVar[tuple[str, ...]] = (f"{_NAME}$Key", f"{_NAME}$Value")
    doc: ClassVar[str] = "Calls a Python function with each key or value that is not null."
    definitions: ClassVar[Definitions] = settings(
        required(
            "function",
            ConfigType.STRING,
            "The function's module and name, such as my_package.my_module:my_function.",
            Validator(
                "a module and a function, such as my_package.my_module:my_function",
                lambda value: value is None or _PATH.fullmatch(value) is not None,
            ),
        ),
        ConfigDef(
            "returns",
            ConfigType.STRING,
            None,
            "The type that it returns, as Spark writes it; without it, the one that it is given. "
            "Records without a schema have none either afterwards.",
        ),
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take the path and read the type."""
        text = values.text("returns")
        try:
            returns = None if text is None else parse_ddl(text)
        except TypeTextError as failure:
            raise ConfigError("returns", text, str(failure)) from None
        return cls(side_of(class_name), given_text(values, "function"), returns)

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the call; values without a schema go there and back as JSON."""
        schema = shape.of(self.side)
        if schema is None:
            call = self._call("string", is_json=True)
            value = f"try_parse_json({call.name}(to_json(cast({self.side} as variant))))"
            return Step({self.side: value}, functions=(call,)), shape
        made = schema if self.returns is None else schema_of_plan(self.returns)
        call = self._call(ddl(made), is_json=False)
        value = unless_null(self.side, f"{call.name}({self.side})")
        return Step({self.side: value}, functions=(call,)), shape.with_side(self.side, made)

    def _call(self, returns: str, *, is_json: bool) -> FunctionCall:
        # A name of its own for each type: two connectors may call it with different ones.
        digest = hashlib.sha256(f"{self.path} {returns} {is_json}".encode()).hexdigest()[:16]
        return FunctionCall(f"headwater_function_{digest}", self.path, returns, is_json)
