"""Writes a .proto file in one fixed layout, so that schemas that say the same look the same.

The layout is the one that Confluent's registry stores: without comments, two spaces of indentation,
and in a message first what is reserved, then options, fields, oneofs and nested types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.serde.proto_text.elements import MAX_FIELD_NUMBER, Aggregate, Enum, Message, Word

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headwater.serde.proto_text.elements import (
        EnumValue,
        Extend,
        Extensions,
        Field,
        Group,
        Method,
        OneOf,
        Option,
        OptionValue,
        ProtoFile,
        Range,
        Reserved,
        Service,
    )


def format_file(file: ProtoFile) -> str:
    """Return the file's text."""
    head = ""
    if file.syntax is not None:
        head += f'syntax = "{file.syntax}";\n'
    if file.edition is not None:
        head += f'edition = "{file.edition}";\n'
    if file.package is not None:
        head += f"package {file.package};\n"
    imports = [f'import "{_escape(name)}";\n' for name in file.imports]
    imports += [f'import public "{_escape(name)}";\n' for name in file.public_imports]
    imports += [f'import weak "{_escape(name)}";\n' for name in file.weak_imports]
    return head + _sections(
        imports,
        [_option_statement(option) for option in file.options],
        _types(file.types),
        [_extend(extend) for extend in file.extends],
        [_service(service) for service in file.services],
    )


def _sections(*sections: Sequence[str]) -> str:
    # A blank line before each section that has something in it.
    return "".join("\n" + "".join(section) for section in sections if section)


def _block(head: str, *sections: Sequence[str]) -> str:
    return f"{head} {{{_sections(*[[_indent(part) for part in each] for each in sections])}}}\n"


def _types(types: Iterable[Message | Enum]) -> list[str]:
    # A message's place among its like is part of the wire format, an enum's is not.
    types = tuple(types)
    return [_message(type_) for type_ in types if isinstance(type_, Message)] + [
        _enum(type_) for type_ in types if isinstance(type_, Enum)
    ]


def _message(message: Message) -> str:
    return _block(f"message {message.name}", *_members(message))


def _members(message: Message) -> list[list[str]]:
    return [
        [_reserved(reserved) for reserved in message.reserved],
        [_option_statement(option) for option in message.options],
        [_field(field) for field in message.fields],
        [_one_of(one_of) for one_of in message.one_ofs],
        [_group(group) for group in message.groups],
        [_extensions(extensions) for extensions in message.extensions],
        [_extend(extend) for extend in message.extends],
        _types(message.types),
    ]


def _enum(enum: Enum) -> str:
    parts = [_reserved(reserved) for reserved in enum.reserved]
    parts += [_option_statement(option) for option in enum.options]
    parts += [_enum_value(value) for value in enum.values]
    return _block(f"enum {enum.name}", parts)


def _enum_value(value: EnumValue) -> str:
    return f"{value.name} = {value.number}{_option_list(value.options)};\n"


def _one_of(one_of: OneOf) -> str:
    return _block(
        f"oneof {one_of.name}",
        [_option_statement(option) for option in one_of.options],
        [_field(field) for field in one_of.fields],
        [_group(group) for group in one_of.groups],
    )


def _group(group: Group) -> str:
    label = f"{group.label} " if group.label else ""
    head = f"{label}group {group.message.name} = {group.number}{_option_list(group.options)}"
    return _block(head, *_members(group.message))


def _extend(extend: Extend) -> str:
    return _block(
        f"extend {extend.extendee}",
        [_field(field) for field in extend.fields],
        [_group(group) for group in extend.groups],
    )


def _field(field: Field) -> str:
    label = f"{field.label} " if field.label else ""
    options = [_option(option) for option in field.options]
    if field.default is not None:
        options.append(f"default = {_value(field.default)}")
    if field.json_name is not None:
        options.append(f'json_name = "{_escape(field.json_name)}"')
    return f"{label}{field.type} {field.name} = {field.number}{_bracketed(options)};\n"


def _reserved(reserved: Reserved) -> str:
    values = [
        f'"{_escape(value)}"' if isinstance(value, str) else _range(value)
        for value in reserved.values
    ]
    return f"reserved {', '.join(values)};\n"


def _extensions(extensions: Extensions) -> str:
    ranges = ", ".join(_range(range_) for range_ in extensions.ranges)
    return f"extensions {ranges}{_option_list(extensions.options)};\n"


def _range(range_: Range) -> str:
    if range_.is_single:
        return str(range_.start)
    return f"{range_.start} to {range_.end if range_.end < MAX_FIELD_NUMBER else 'max'}"


def _service(service: Service) -> str:
    return _block(
        f"service {service.name}",
        [_option_statement(option) for option in service.options],
        [_method(method) for method in service.methods],
    )


def _method(method: Method) -> str:
    request = ("stream " if method.streams_request else "") + method.request
    response = ("stream " if method.streams_response else "") + method.response
    options = "".join(_indent(_option_statement(option)) for option in method.options)
    body = f" {{\n{options}}}" if options else ""
    return f"rpc {method.name} ({request}) returns ({response}){body};\n"


def _option_statement(option: Option) -> str:
    return f"option {_option(option)};\n"


def _option_list(options: Iterable[Option]) -> str:
    return _bracketed([_option(option) for option in options])


def _bracketed(texts: Sequence[str]) -> str:
    return f" {_listed(texts)}" if texts else ""


def _listed(texts: Sequence[str]) -> str:
    if len(texts) == 1:
        return f"[{texts[0]}]"
    return "[\n" + _comma_separated(texts) + "]"


def _comma_separated(texts: Sequence[str]) -> str:
    return "".join(
        _indent(text + ("," if number < len(texts) else "")) for number, text in enumerate(texts, 1)
    )


def _option(option: Option) -> str:
    name = f"({option.name})" if option.is_extension else option.name
    path = "".join(f".{part}" for part in option.path)
    if isinstance(option.value, tuple):
        return f"{name}{path} = {_listed([_value(value) for value in option.value])}"
    return f"{name}{path} = {_value(option.value)}"


def _value(value: OptionValue) -> str:
    if isinstance(value, str):
        return f'"{_escape(value)}"'
    if isinstance(value, Word):
        return value.text
    if isinstance(value, Aggregate):
        entries = [f"{key}: {_value(each)}" for key, each in value.entries.items()]
        return "{\n" + _comma_separated(entries) + "}"
    return "[\n" + _comma_separated([_value(each) for each in value]) + "]"


def _indent(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.removesuffix("\n").split("\n"))


_ESCAPES = str.maketrans({
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
    "\\": "\\\\", "'": "\\'", '"': '\\"',
})  # fmt: skip


def _escape(text: str) -> str:
    return text.translate(_ESCAPES)
