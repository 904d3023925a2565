"""Parses options: `option name = value;`, `[name = value, ...]` and values in braces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.serde.proto_text.elements import Aggregate, Option, OptionValue, Word

if TYPE_CHECKING:
    from headwater.serde.proto_text.tokens import Tokens

MAX_VALUE_DEPTH = 32


def parse_option_statement(tokens: Tokens) -> Option:
    """Parse what follows the word `option`, up to and with the semicolon."""
    option = _parse_option(tokens)
    tokens.expect(";")
    return option


def parse_option_list(tokens: Tokens) -> tuple[Option, ...]:
    """Parse `[...]` if it stands there."""
    if not tokens.accept("["):
        return ()
    options: list[Option] = []
    while not tokens.accept("]"):
        options.append(_parse_option(tokens))
        if tokens.peek().text != "]":
            tokens.expect(",")
    return tuple(options)


def _parse_option(tokens: Tokens) -> Option:
    is_extension = bool(tokens.accept("("))
    name = tokens.word("an option's name")
    if is_extension:
        tokens.expect(")")
    path = _parse_path(tokens)
    tokens.expect("=")
    return Option(name, _parse_value(tokens, 0), is_extension, path)


def _parse_path(tokens: Tokens) -> tuple[str, ...]:
    path: list[str] = []
    while True:
        if tokens.peek().text.startswith(".") and tokens.peek().kind == "word":
            path += tokens.word("a field's name")[1:].split(".")
        elif tokens.accept("."):  # an extension inside another option: (a).(b), features.(c)
            tokens.expect("(")
            name = tokens.word("an extension's name").removeprefix(".")
            path.append(f"({name})")
            tokens.expect(")")
        else:
            return tuple(path)


def _parse_value(tokens: Tokens, depth: int) -> OptionValue:
    if depth > MAX_VALUE_DEPTH:
        tokens.fail(f"options nest deeper than {MAX_VALUE_DEPTH} levels")
    token = tokens.peek()
    if token.kind == "string":
        return tokens.string("a value")
    if tokens.accept("{"):
        return _parse_aggregate(tokens, "}", depth)
    if tokens.accept("<"):
        return _parse_aggregate(tokens, ">", depth)
    if tokens.accept("["):
        return _parse_list(tokens, depth)
    sign = "-" if tokens.accept("-", "+") == "-" else ""
    token = tokens.take()
    if token.kind not in ("word", "number"):
        tokens.fail("expected a value", token)
    return Word(sign + token.text)


def _parse_list(tokens: Tokens, depth: int) -> tuple[OptionValue, ...]:
    values: list[OptionValue] = []
    while not tokens.accept("]"):
        values.append(_parse_value(tokens, depth + 1))
        if tokens.peek().text != "]":
            tokens.expect(",")
    return tuple(values)


def _parse_aggregate(tokens: Tokens, closing: str, depth: int) -> Aggregate:
    entries: dict[str, OptionValue] = {}
    while not tokens.accept(closing):
        key = _parse_key(tokens)
        if tokens.peek().text not in ("{", "<"):
            tokens.expect(":")
        else:
            tokens.accept(":")
        value = _parse_value(tokens, depth + 1)
        entries[key] = _together(entries[key], value) if key in entries else value
        tokens.accept(",", ";")
    return Aggregate(entries)


def _parse_key(tokens: Tokens) -> str:
    if not tokens.accept("["):
        return tokens.word("a field's name")
    name = tokens.word("an extension's name").removeprefix(".")
    while tokens.accept("/"):
        name += "/" + tokens.word("a type's name")
    tokens.expect("]")
    return f"[{name}]"


def _together(first: OptionValue, second: OptionValue) -> OptionValue:
    before = first if isinstance(first, tuple) else (first,)
    after = second if isinstance(second, tuple) else (second,)
    return before + after
