"""JSON in texts. What is no JSON, or not of the kind that is asked for, gives null."""

from __future__ import annotations

from typing import Any

from headwater.sql.server.rows.functions.json_paths import steps
from headwater.sql.server.rows.functions.json_texts import is_same, json_of, parsed, written
from headwater.sql.server.rows.functions.row_call import CallMaker, RowCall, lenient, strict, typed


def _field(text: str, path: str) -> str | None:
    wanted = steps(path)
    node = parsed(text)
    for step in wanted:
        if isinstance(node, list):
            place = int(step) if step.isdecimal() else -1
            if not 0 <= place < len(node):
                return None
            node = node[place]
        elif isinstance(node, dict) and step in node:
            node = node[step]
        else:
            return None
    return node if isinstance(node, str) else written(node)


def _is_json(text: str | None) -> bool:
    try:
        parsed(text or "")
    except ValueError:
        return False
    return True


def _array(text: str) -> list[Any]:
    node = parsed(text)
    if not isinstance(node, list):
        raise ValueError("no array")
    return node


def _object(text: str) -> dict[str, Any]:
    node = parsed(text)
    if not isinstance(node, dict):
        raise ValueError("no object")
    return node


def _contains(call: RowCall) -> CallMaker:
    type_ = call.types[1]

    def contains(text: str | None, value: Any) -> bool | None:
        if text is None:
            return None
        try:
            nodes = _array(text)
        except ValueError:
            return False
        wanted = None if value is None else parsed(json_of(value, type_))
        return any(is_same(node, wanted) for node in nodes)

    return lenient(contains)


def _concat(*texts: str) -> str:
    nodes = [parsed(text) for text in texts]
    result = nodes[0]
    for node in nodes[1:]:
        if isinstance(result, dict) and isinstance(node, dict):
            result = {**result, **node}
        else:
            first = result if isinstance(result, list) else [result]
            result = first + (node if isinstance(node, list) else [node])
    return written(result)


def _to_json(call: RowCall) -> CallMaker:
    (type_,) = call.types
    return lenient(lambda value: json_of(value, type_))


FUNCTIONS: dict[str, CallMaker] = {
    "EXTRACTJSONFIELD": strict(_field),
    "IS_JSON_STRING": lenient(_is_json),
    "JSON_ARRAY_CONTAINS": typed(_contains),
    "JSON_ARRAY_LENGTH": strict(lambda text: len(_array(text))),
    "JSON_CONCAT": strict(_concat),
    "JSON_ITEMS": strict(lambda text: [written(node) for node in _array(text)]),
    "JSON_KEYS": strict(lambda text: list(_object(text))),
    "JSON_RECORDS": strict(
        lambda text: {name: written(node) for name, node in _object(text).items()}
    ),
    "TO_JSON_STRING": typed(_to_json),
}
