"""Read statements, expressions and types; what is wrong is a SqlSyntaxError with its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from headwater.sql.errors import SqlError
from headwater.sql.location import Location
from headwater.sql.parser.reading import read
from headwater.sql.parser.splitting import Piece, split
from headwater.sql.tree.statements.session import DefineVariable, UndefineVariable
from headwater.sql.variables import Variables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.sql.tree.expressions import Expression
    from headwater.sql.tree.statements.statement import Statement
    from headwater.sql.tree.types import TypeNode


@dataclass(frozen=True)
class ParsedStatement:
    """A statement, its text with the values of variables, and where it stood.

    Locations in the tree are those within `text`.
    """

    statement: Statement
    text: str
    location: Location


def parse(text: str, variables: Variables | None = None) -> Iterator[ParsedStatement]:
    """Read statements one by one, so that each can be run before the next is looked at.

    DEFINE and UNDEFINE change `variables`, and thereby the statements after them.
    """
    known = Variables() if variables is None else variables
    for piece in split(text):
        try:
            replaced = known.substitute(piece.text)
            statement = cast("Statement", read(replaced, "statement"))
            _remember(statement, known)
        except SqlError as error:
            raise _in_whole(error, piece, text) from None
        yield ParsedStatement(statement, replaced, piece.location)


def parse_statement(text: str) -> Statement:
    """Read one statement, without its semicolon."""
    return cast("Statement", read(text, "statement"))


def parse_expression(text: str) -> Expression:
    """Read one expression."""
    return cast("Expression", read(text, "expression"))


def parse_type(text: str) -> TypeNode:
    """Read one type."""
    return cast("TypeNode", read(text, "type"))


def _remember(statement: Statement, variables: Variables) -> None:
    match statement:
        case DefineVariable(name, value):
            variables.define(name, value, statement.location)
        case UndefineVariable(name):
            variables.undefine(name)
        case _:
            pass


def _in_whole(error: SqlError, piece: Piece, text: str) -> SqlError:
    """Return an error in a statement as one in the whole text, if the text was not replaced."""
    if error.text != piece.text:
        return error
    before, at = piece.location, error.location
    column = at.column + before.column - 1 if at.line == 1 else at.column
    return type(error)(error.reason, Location(at.line + before.line - 1, column), text)
