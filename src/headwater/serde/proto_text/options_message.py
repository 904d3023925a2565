"""Turns parsed options into a descriptor's options message, and back.

A custom option is a field with a number that its `extend` declares, so it can be encoded only
where that declaration is in reach. Where it is not, the option stays in the text and is left out
of the descriptor, as there is no number to put it under.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf import text_encoding, text_format
from google.protobuf.message import Message as ProtoMessage
from google.protobuf.message_factory import GetMessageClass

from headwater.serde.proto_text.elements import Aggregate, Option, OptionValue, Word
from headwater.serde.proto_text.errors import InvalidOptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from google.protobuf.descriptor import FieldDescriptor
    from google.protobuf.descriptor_pool import DescriptorPool

    from headwater.serde.proto_text.scopes import Scopes


def is_custom(option: Option) -> bool:
    """Whether it is an extension, or has one in its path (`features.(pb.cpp).string_type`)."""
    return option.is_extension or any(part.startswith("(") for part in option.path)


def set_options(target: ProtoMessage, options: Iterable[Option], place: str) -> None:
    """Set those options that every descriptor knows (`deprecated`, `java_package`, ...)."""
    for option in options:
        if not is_custom(option):
            _merge(target, _text((*option.name.split("."), *option.path), option.value), place)


def set_custom_options(
    target: ProtoMessage,
    options: Sequence[Option],
    scopes: Scopes,
    scope: str,
    pool: DescriptorPool,
    place: str,
) -> None:
    """Set those options that are extensions declared in reach, or have one in their path."""
    texts = []
    for option in filter(is_custom, options):
        if option.is_extension:
            name = scopes.resolve_extension(option.name, scope)
            start = None if name is None else [f"[{name}]"]
        else:
            extension = next(part for part in option.path if part.startswith("("))
            is_known = scopes.resolve_extension(extension[1:-1], scope) is not None
            start = option.name.split(".") if is_known else None
        if start is not None:
            texts.append(_text(start, with_full_names(option, scopes, scope)))
    if texts:
        known = GetMessageClass(pool.FindMessageTypeByName(target.DESCRIPTOR.full_name))()
        for text in texts:
            _merge(known, text, place)
        target.MergeFromString(known.SerializeToString(deterministic=True))


def read_options(message: ProtoMessage, pool: DescriptorPool) -> tuple[Option, ...]:
    """Return the options that a descriptor's options message holds, in the order they are known."""
    kind = GetMessageClass(pool.FindMessageTypeByName(message.DESCRIPTOR.full_name))
    known = kind.FromString(message.SerializeToString())
    order = _ORDER.get(message.DESCRIPTOR.name, ())
    fields = sorted(known.ListFields(), key=lambda entry: _rank(entry[0], order))
    options: list[Option] = []
    for field, value in fields:
        values = list(value) if _is_list(value) else [value]
        name = field.full_name if field.is_extension else field.name
        options += [
            Option(name, parsed, field.is_extension)
            for each in values
            if (parsed := _option_value(field, each)) != Aggregate({})
        ]
    return tuple(options)


def with_full_names(option: Option, scopes: Scopes, scope: str) -> OptionValue:
    """Return an option's value with its path as braces around it, and extensions named in full."""
    value = _named_in_full(option.value, scopes, scope)
    for part in reversed(option.path):
        key = f"[{part[1:-1]}]" if part.startswith("(") else part
        value = Aggregate({_key_in_full(key, scopes, scope): value})
    return value


_ORDER = {
    "FileOptions": (
        "java_package", "java_outer_classname", "java_multiple_files",
        "java_generate_equals_and_hash", "java_string_check_utf8", "optimize_for", "go_package",
        "cc_generic_services", "java_generic_services", "py_generic_services", "deprecated",
        "cc_enable_arenas", "objc_class_prefix", "csharp_namespace", "swift_prefix",
        "php_class_prefix", "php_namespace", "php_metadata_namespace", "ruby_package",
    ),
    "FieldOptions": ("ctype", "packed", "jstype", "deprecated"),
    "MessageOptions": ("no_standard_descriptor_accessor", "deprecated", "map_entry"),
}  # fmt: skip


def _rank(field: FieldDescriptor, order: tuple[str, ...]) -> tuple[int, int]:
    if field.is_extension:
        return (2, field.number)
    return (0, order.index(field.name)) if field.name in order else (1, field.number)


def _named_in_full(value: OptionValue, scopes: Scopes, scope: str) -> OptionValue:
    if isinstance(value, Aggregate):
        return Aggregate(
            {
                _key_in_full(key, scopes, scope): _named_in_full(each, scopes, scope)
                for key, each in value.entries.items()
            }
        )
    if isinstance(value, tuple):
        return tuple(_named_in_full(each, scopes, scope) for each in value)
    return value


def _key_in_full(key: str, scopes: Scopes, scope: str) -> str:
    if not key.startswith("[") or "/" in key:
        return key
    name = key[1:-1]
    return f"[{scopes.resolve_extension(name, scope) or name}]"


def _merge(target: ProtoMessage, text: str, place: str) -> None:
    try:
        text_format.Merge(text, target)
    except text_format.ParseError as failure:
        raise InvalidOptionError(f"{place}: a wrong option: {failure}") from None


def _text(path: Sequence[str], value: OptionValue) -> str:
    text = f"{path[-1]}{_value_text(value)}"
    for part in reversed(path[:-1]):
        text = f"{part} {{ {text} }}"
    return text


def _value_text(value: OptionValue) -> str:
    if isinstance(value, Aggregate):
        return f" {_braces(value)}"
    return f": {_scalar_text(value)}"


def _scalar_text(value: OptionValue) -> str:
    if isinstance(value, str):
        return f'"{text_encoding.CEscape(value.encode("utf-8"), as_utf8=False)}"'
    if isinstance(value, Word):
        return value.text
    if isinstance(value, Aggregate):
        return _braces(value)
    return f"[{', '.join(_scalar_text(each) for each in value)}]"


def _braces(value: Aggregate) -> str:
    entries = [f"{key}{_value_text(each)}" for key, each in value.entries.items()]
    return f"{{ {' '.join(entries)} }}"


def _is_list(value: Any) -> bool:
    return not isinstance(value, str | bytes | int | float | ProtoMessage) and not _is_map(value)


def _is_map(value: Any) -> bool:
    return hasattr(value, "items") and not isinstance(value, ProtoMessage)


def _option_value(field: FieldDescriptor, value: Any) -> OptionValue:
    if _is_map(value):
        assert field.message_type is not None
        key_field, value_field = field.message_type.fields
        return tuple(
            Aggregate(
                {"key": _option_value(key_field, key), "value": _option_value(value_field, each)}
            )
            for key, each in value.items()
        )
    if _is_list(value):
        return tuple(_single_value(field, each) for each in value)
    return _single_value(field, value)


def _single_value(field: FieldDescriptor, value: Any) -> OptionValue:
    if isinstance(value, ProtoMessage):
        entries: dict[str, OptionValue] = {}
        for inner, each in value.ListFields():
            key = f"[{inner.full_name}]" if inner.is_extension else inner.name
            entries[key] = _option_value(inner, each)
        return Aggregate(entries)
    if field.enum_type is not None:
        found = field.enum_type.values_by_number.get(value)
        return Word(found.name if found is not None else str(value))
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, bool):
        return Word("true" if value else "false")
    return value if isinstance(value, str) else Word(str(value))
