"""Parses the text of a .proto file: proto2, proto3 and editions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headwater.serde.proto_text.elements import (
    MAX_ENUM_NUMBER,
    MAX_FIELD_NUMBER,
    Enum,
    EnumValue,
    Extend,
    Extensions,
    Field,
    Group,
    Message,
    Method,
    OneOf,
    ProtoFile,
    Range,
    Reserved,
    Service,
    Word,
)
from headwater.serde.proto_text.option_parser import parse_option_list, parse_option_statement
from headwater.serde.proto_text.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.serde.proto_text.elements import Option, OptionValue

# protoc allows 32; one who writes more has other troubles, and our own stack is not endless.
MAX_NESTING = 64

_LABELS = ("optional", "required", "repeated")


def parse(text: str) -> ProtoFile:
    """Return what a .proto file says; raises ProtoSyntaxError."""
    return _Parser(Tokens.of(text)).parse_file()


@dataclass(slots=True)
class _Body:
    """What was found so far between a file's or a message's braces."""

    fields: list[Field] = field(default_factory=list)
    one_ofs: list[OneOf] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    types: list[Message | Enum] = field(default_factory=list)
    extends: list[Extend] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    reserved: list[Reserved] = field(default_factory=list)
    extensions: list[Extensions] = field(default_factory=list)

    def message(self, name: str) -> Message:
        return Message(
            name,
            tuple(self.fields),
            tuple(self.one_ofs),
            tuple(self.groups),
            tuple(self.types),
            tuple(self.extends),
            tuple(self.options),
            tuple(self.reserved),
            tuple(self.extensions),
        )


@dataclass(slots=True)
class _Parser:
    tokens: Tokens
    depth: int = 0

    def parse_file(self) -> ProtoFile:
        tokens = self.tokens
        once: dict[str, str] = {}
        imports: dict[str, list[str]] = {"": [], "public": [], "weak": []}
        body = _Body()
        services: list[Service] = []
        while tokens.peek().kind != "end":
            if tokens.accept(";"):
                continue
            start = tokens.peek()
            match tokens.word("a declaration"):
                case ("syntax" | "edition") as keyword:
                    tokens.expect("=")
                    once[keyword] = tokens.string(f"the {keyword}")
                    if keyword == "syntax" and once[keyword] not in ("proto2", "proto3"):
                        tokens.fail("syntax is 'proto2' or 'proto3'", start)
                    tokens.expect(";")
                case "package":
                    if "package" in once:
                        tokens.fail("a file has one package", start)
                    once["package"] = tokens.word("the package's name")
                    tokens.expect(";")
                case "import":
                    kind = tokens.accept("public", "weak") or ""
                    imports[kind].append(tokens.string("a file's name"))
                    tokens.expect(";")
                case "option":
                    body.options.append(parse_option_statement(tokens))
                case "message":
                    body.types.append(self._message())
                case "enum":
                    body.types.append(self._enum())
                case "extend":
                    body.extends.append(self._extend())
                case "service":
                    services.append(self._service())
                case _:
                    tokens.fail("expected a declaration (message, enum, import, ...)", start)
        return ProtoFile(
            once.get("syntax"),
            once.get("edition"),
            once.get("package"),
            tuple(imports[""]),
            tuple(imports["public"]),
            tuple(imports["weak"]),
            tuple(body.options),
            tuple(body.types),
            tuple(body.extends),
            tuple(services),
        )

    def _message(self) -> Message:
        name = self.tokens.identifier("a message's name")
        return self._message_body().message(name)

    def _message_body(self) -> _Body:
        self.depth += 1
        if self.depth > MAX_NESTING:
            self.tokens.fail(f"messages nest deeper than {MAX_NESTING} levels")
        body = _Body()
        self._braces(lambda: self._message_statement(body))
        self.depth -= 1
        return body

    def _message_statement(self, body: _Body) -> None:
        tokens = self.tokens
        # Every keyword of a message may also be the name of a type: look at what follows it.
        start = tokens.peek().text
        keyword = tokens.word("a field or a declaration")
        if keyword == "option":
            body.options.append(parse_option_statement(tokens))
        elif keyword == "oneof":
            body.one_ofs.append(self._one_of())
        elif keyword == "reserved":
            body.reserved.append(self._reserved(MAX_FIELD_NUMBER))
        elif keyword == "extensions":
            body.extensions.append(self._extensions())
        elif keyword in ("message", "enum", "extend"):
            parsed = {"message": self._message, "enum": self._enum, "extend": self._extend}
            element: Any = parsed[keyword]()
            (body.extends if keyword == "extend" else body.types).append(element)
        else:
            self._field_or_group(start, body.fields, body.groups)

    def _field_or_group(self, word: str, fields: list[Field], groups: list[Group]) -> None:
        label = word if word in _LABELS else None
        kind = self.tokens.type_name("a field's type") if label else self.tokens.rest_of_name(word)
        if kind == "group":
            groups.append(self._group(label))
        else:
            fields.append(self._field(label, kind))

    def _field(self, label: str | None, kind: str) -> Field:
        tokens = self.tokens
        if kind == "map" and tokens.accept("<"):
            key = tokens.word("the type of a map's keys")
            tokens.expect(",")
            value = tokens.type_name("the type of a map's values")
            kind = f"map<{key}, {value}>"
            tokens.expect(">")
        name = tokens.identifier("a field's name")
        tokens.expect("=")
        number = self._field_number()
        options = parse_option_list(tokens)
        tokens.expect(";")
        default, json_name, others = _special_options(options)
        return Field(kind, name, number, label, default, json_name, others)

    def _group(self, label: str | None) -> Group:
        name = self.tokens.identifier("a group's name")
        self.tokens.expect("=")
        number = self._field_number()
        options = parse_option_list(self.tokens)
        return Group(number, self._message_body().message(name), label, options)

    def _field_number(self) -> int:
        token = self.tokens.peek()
        number = self.tokens.integer("a field's number")
        if not 1 <= number <= MAX_FIELD_NUMBER:
            self.tokens.fail(f"a field's number is between 1 and {MAX_FIELD_NUMBER}", token)
        return number

    def _one_of(self) -> OneOf:
        name = self.tokens.identifier("a oneof's name")
        body = _Body()

        def statement() -> None:
            word = self.tokens.word("a field")
            if word == "option":
                body.options.append(parse_option_statement(self.tokens))
            elif word in _LABELS:
                self.tokens.fail(f"a field of a oneof has no label, but this one is {word}")
            else:
                self._field_or_group(word, body.fields, body.groups)

        self._braces(statement)
        return OneOf(name, tuple(body.fields), tuple(body.groups), tuple(body.options))

    def _extend(self) -> Extend:
        extendee = self.tokens.type_name("the name of the extended message")
        body = _Body()
        self._braces(
            lambda: self._field_or_group(self.tokens.word("a field"), body.fields, body.groups)
        )
        return Extend(extendee, tuple(body.fields), tuple(body.groups))

    def _reserved(self, maximum: int) -> Reserved:
        tokens = self.tokens
        values: list[Range | str] = []
        while True:
            if tokens.peek().kind == "string":
                values.append(tokens.string("a reserved name"))
            elif tokens.peek().kind == "word":  # editions reserve names without quotes
                values.append(tokens.word("a reserved name"))
            else:
                values.append(self._range(maximum))
            if not tokens.accept(","):
                tokens.expect(";")
                return Reserved(tuple(values))

    def _extensions(self) -> Extensions:
        ranges = [self._range(MAX_FIELD_NUMBER)]
        while self.tokens.accept(","):
            ranges.append(self._range(MAX_FIELD_NUMBER))
        options = parse_option_list(self.tokens)
        self.tokens.expect(";")
        return Extensions(tuple(ranges), options)

    def _range(self, maximum: int) -> Range:
        token = self.tokens.peek()
        start = self.tokens.integer("a number")
        if not self.tokens.accept("to"):
            end = start
        elif self.tokens.accept("max"):
            return Range(start, maximum)
        else:
            end = self.tokens.integer("a number or 'max'")
            if not start <= end <= maximum:
                self.tokens.fail("a range goes upwards", token)
            return Range(start, end)
        if abs(start) > maximum:
            self.tokens.fail(f"numbers go up to {maximum}", token)
        return Range(start, end, is_single=True)

    def _enum(self) -> Enum:
        tokens = self.tokens
        name = tokens.identifier("an enum's name")
        values: list[EnumValue] = []
        options: list[Option] = []
        reserved: list[Reserved] = []

        def statement() -> None:
            start = tokens.peek()
            word = tokens.identifier("the name of an enum's value")
            if word == "option" and tokens.peek().text != "=":
                options.append(parse_option_statement(tokens))
            elif word == "reserved" and tokens.peek().text != "=":
                reserved.append(self._reserved(MAX_ENUM_NUMBER))
            else:
                tokens.expect("=")
                number = tokens.integer("a number")
                if not -MAX_ENUM_NUMBER - 1 <= number <= MAX_ENUM_NUMBER:
                    tokens.fail("an enum's number has 32 bits", start)
                values.append(EnumValue(word, number, parse_option_list(tokens)))
                tokens.expect(";")

        self._braces(statement)
        return Enum(name, tuple(values), tuple(options), tuple(reserved))

    def _service(self) -> Service:
        name = self.tokens.identifier("a service's name")
        methods: list[Method] = []
        options: list[Option] = []

        def statement() -> None:
            if self.tokens.accept("option"):
                options.append(parse_option_statement(self.tokens))
            else:
                self.tokens.expect("rpc")
                methods.append(self._method())

        self._braces(statement)
        return Service(name, tuple(methods), tuple(options))

    def _method(self) -> Method:
        tokens = self.tokens
        name = tokens.identifier("a method's name")
        request, streams_request = self._method_type()
        tokens.expect("returns")
        response, streams_response = self._method_type()
        options: list[Option] = []

        def statement() -> None:
            tokens.expect("option")
            options.append(parse_option_statement(tokens))

        if tokens.peek().text == "{":
            self._braces(statement)
        else:
            tokens.expect(";")
        return Method(name, request, response, streams_request, streams_response, tuple(options))

    def _method_type(self) -> tuple[str, bool]:
        tokens = self.tokens
        tokens.expect("(")
        name = tokens.word("a message's name")
        streams = name == "stream" and tokens.peek().kind == "word"
        if streams:
            name = tokens.word("a message's name")
        name = tokens.rest_of_name(name)
        tokens.expect(")")
        return name, streams

    def _braces(self, statement: Callable[[], None]) -> None:
        self.tokens.expect("{")
        while not self.tokens.accept("}"):
            if not self.tokens.accept(";"):
                if self.tokens.peek().kind == "end":
                    self.tokens.fail("expected '}'")
                statement()


def _special_options(
    options: tuple[Option, ...],
) -> tuple[OptionValue | None, str | None, tuple[Option, ...]]:
    default: OptionValue | None = None
    json_name: str | None = None
    others: list[Option] = []
    for option in options:
        if option.name == "default" and not option.is_extension:
            default = option.value
        elif option.name == "json_name" and not option.is_extension:
            value = option.value
            json_name = value.text if isinstance(value, Word) else str(value)
        else:
            others.append(option)
    return default, json_name, tuple(others)
