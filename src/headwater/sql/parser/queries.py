"""Queries of the tree, out of the grammar's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.errors import SqlSyntaxError
from headwater.sql.parser.tokens import name_of, place
from headwater.sql.tree.queries import (
    Duration,
    Emit,
    HoppingWindow,
    Join,
    JoinKind,
    Query,
    Relation,
    SelectAll,
    SelectExpression,
    SelectFields,
    SelectItem,
    SessionWindow,
    Source,
    TimeUnit,
    TumblingWindow,
    Window,
    Within,
)

if TYPE_CHECKING:
    from lark import Token

    from headwater.sql.tree.expressions import Expression

    WindowOptions = tuple[Duration | None, Duration | None]


class QueryRules:
    """A method for each rule of a query."""

    def query(
        self,
        start: Token,
        select: tuple[SelectItem, ...],
        from_: Token,
        source: Relation,
        window: Window | None,
        where: Expression | None,
        group_by: tuple[Expression, ...] | None,
        partition_by: tuple[Expression, ...] | None,
        having: Expression | None,
        emit: Emit | None,
        limit: int | None,
    ) -> Query:
        """`SELECT ... FROM ...` with all its clauses."""
        return Query(
            select,
            source,
            window,
            where,
            group_by or (),
            partition_by or (),
            having,
            emit,
            limit,
            location=place(start),
        )

    def select_list(self, *items: SelectItem) -> tuple[SelectItem, ...]:
        """What stands between SELECT and FROM."""
        return items

    def select_expression(self, expression: Expression, alias: Token | None) -> SelectItem:
        """`expression [AS alias]`."""
        name = None if alias is None else name_of(alias)
        return SelectExpression(expression, name, location=expression.location)

    def select_all(self, *parts: Token) -> SelectItem:
        """`*` or `source.*`."""
        source = name_of(parts[0]) if len(parts) > 1 else None
        return SelectAll(source, location=place(parts[0]))

    def select_fields(self, struct: Expression) -> SelectItem:
        """`struct->*`."""
        return SelectFields(struct, location=struct.location)

    def alias(self, as_: Token, name: Token) -> Token:
        """`AS name`."""
        return name

    def source(self, name: Token, alias: Token | None) -> Source:
        """`name [alias]`."""
        given = None if alias is None else name_of(alias)
        return Source(name_of(name), given, location=place(name))

    def join(
        self,
        left: Relation,
        kind: JoinKind | None,
        join: Token,
        right: Source,
        within: Within | None,
        on: Token,
        condition: Expression,
    ) -> Relation:
        """`left JOIN right ON condition`."""
        return Join(left, kind or JoinKind.INNER, right, condition, within, location=left.location)

    def join_kind(self, word: Token, outer: Token | None = None) -> JoinKind:
        """`LEFT [OUTER]` and the like."""
        return JoinKind[word.upper()]

    def within(self, start: Token, size: Duration, grace: Duration | None) -> Within:
        """`WITHIN size`."""
        return Within(size, size, grace, location=place(start))

    def within_both(
        self, start: Token, before: Duration, after: Duration, grace: Duration | None
    ) -> Within:
        """`WITHIN (before, after)`."""
        return Within(before, after, grace, location=place(start))

    def grace(self, start: Token, period: Token, duration: Duration) -> Duration:
        """`GRACE PERIOD duration`."""
        return duration

    def retention(self, start: Token, duration: Duration) -> Duration:
        """`RETENTION duration`."""
        return duration

    def window_options(self, retention: Duration | None, grace: Duration | None) -> WindowOptions:
        """`, RETENTION duration, GRACE PERIOD duration`."""
        return retention, grace

    def tumbling(
        self,
        start: Token,
        unused: Token | None,
        kind: Token,
        size_: Token,
        size: Duration,
        options: WindowOptions,
    ) -> Window:
        """`TUMBLING (SIZE size)`; a window's own name before it means nothing to anyone."""
        return TumblingWindow(size, *options, location=place(start))

    def hopping(
        self,
        start: Token,
        unused: Token | None,
        kind: Token,
        size_: Token,
        size: Duration,
        advance_: Token,
        by: Token,
        advance: Duration,
        options: WindowOptions,
    ) -> Window:
        """`HOPPING (SIZE size, ADVANCE BY advance)`."""
        return HoppingWindow(size, advance, *options, location=place(start))

    def session(
        self,
        start: Token,
        unused: Token | None,
        kind: Token,
        gap: Duration,
        options: WindowOptions,
    ) -> Window:
        """`SESSION (gap)`."""
        return SessionWindow(gap, *options, location=place(start))

    def duration(self, amount: Token, unit: Token) -> Duration:
        """`30 SECONDS`."""
        name = unit.upper()
        return Duration(
            int(amount),
            TimeUnit[name if name.endswith("S") else f"{name}S"],
            location=place(amount),
        )

    def where(self, start: Token, condition: Expression) -> Expression:
        """`WHERE condition`."""
        return condition

    def having(self, start: Token, condition: Expression) -> Expression:
        """`HAVING condition`."""
        return condition

    def group_by(
        self, start: Token, by: Token, expressions: tuple[Expression, ...]
    ) -> tuple[Expression, ...]:
        """`GROUP BY expressions`."""
        if not expressions:
            raise SqlSyntaxError("GROUP BY needs at least one expression", place(start))
        return expressions

    def partition_by(
        self, start: Token, by: Token, expressions: tuple[Expression, ...]
    ) -> tuple[Expression, ...]:
        """`PARTITION BY expressions`."""
        if not expressions:
            raise SqlSyntaxError("PARTITION BY needs at least one expression", place(start))
        return expressions

    def expression_list(self, *expressions: Expression) -> tuple[Expression, ...]:
        """`a, b`."""
        return expressions

    def emit(self, start: Token, what: Token) -> Emit:
        """`EMIT CHANGES` or `EMIT FINAL`."""
        return Emit[what.upper()]

    def limit(self, start: Token, count: Token) -> int:
        """`LIMIT count`."""
        return int(count)
