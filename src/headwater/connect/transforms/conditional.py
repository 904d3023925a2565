"""A transform for some of the records only: one shape that fits those it changed and the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.connect.data.merging import fitted, merged_schema
from headwater.connect.data.spark_types import ddl
from headwater.connect.transforms.transform import Step, TransformError

if TYPE_CHECKING:
    from headwater.connect.data.shape import Shape


def conditional(condition: str, step: Step, before: Shape, after: Shape) -> tuple[Step, Shape]:
    """Return what a step does to the records of a condition, and the shape of all.

    A struct that the step changes has the fields of both afterwards: those of the other kind of
    record are null. Raises TransformError where the two have no type in common.
    """
    columns = {name: f"if({condition}, {new}, {name})" for name, new in step.columns.items()}
    made = after
    for side in ("key", "value"):
        old, new = before.of(side), after.of(side)
        if ddl(old) == ddl(new) and (old is None) == (new is None):
            continue
        try:
            merged = merged_schema(new, old)
        except ValueError as refusal:
            raise TransformError(
                f"its predicate gives some records another schema of the {side} than others have: "
                f"{refusal}. Give those topics a connector of their own"
            ) from None
        changed = step.columns.get(side, side)
        columns[side] = (
            f"if({condition}, {fitted(changed, new, merged)}, {fitted(side, old, merged)})"
        )
        made = made.with_side(side, merged)
    return (
        Step(
            columns,
            where=None if step.where is None else f"(not ({condition}) or ({step.where}))",
            failed=None if step.failed is None else f"if({condition}, {step.failed}, null)",
            functions=step.functions,
        ),
        made,
    )
