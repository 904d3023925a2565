"""Random statements, as hypothesis draws them."""

from __future__ import annotations

import decimal
import string
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from headwater.sql.tree import expressions as ex
from headwater.sql.tree import queries as qu
from headwater.sql.tree import types as ty
from headwater.sql.tree.statements import assertions as asserts
from headwater.sql.tree.statements import changes, creation, inspection, session
from headwater.sql.tree.statements.control import ControlQuery, QueryAction
from headwater.sql.tree.statements.properties import Property
from headwater.sql.words import KEYWORDS

if TYPE_CHECKING:
    from headwater.sql.tree.statements.statement import Statement

names = st.one_of(
    st.sampled_from(sorted(KEYWORDS)),
    st.text(string.ascii_uppercase + string.digits + "_", min_size=1, max_size=6),
    st.text(min_size=1, max_size=6),
)
texts = st.text(max_size=8)
flags = st.booleans()
counts = st.integers(0, 10**6)

types: st.SearchStrategy[ty.TypeNode] = st.recursive(
    st.one_of(
        st.builds(ty.NamedType, names),
        st.builds(ty.NamedType, names, st.tuples(counts, st.one_of(counts, names))),
    ),
    lambda inner: st.one_of(
        st.builds(ty.ArrayType, inner),
        st.builds(ty.MapType, inner, inner),
        st.builds(ty.StructType, st.lists(st.tuples(names, inner), max_size=3).map(tuple)),
    ),
    max_leaves=5,
)


def _decimal(digits: int, scale: int) -> decimal.Decimal:
    return decimal.Decimal(digits).scaleb(-scale)


literals: st.SearchStrategy[ex.Literal] = st.one_of(
    st.builds(ex.NullLiteral),
    st.builds(ex.BooleanLiteral, flags),
    st.builds(ex.IntegerLiteral, st.integers(0, 2**63 - 1)),
    st.builds(ex.DecimalLiteral, st.builds(_decimal, st.integers(0, 10**12), st.integers(0, 9))),
    st.builds(ex.DoubleLiteral, st.floats(0, allow_infinity=False, allow_nan=False)),
    st.builds(ex.StringLiteral, texts),
)


def _several(
    inner: st.SearchStrategy[ex.Expression], at_least: int = 0
) -> st.SearchStrategy[tuple[ex.Expression, ...]]:
    return st.lists(inner, min_size=at_least, max_size=3).map(tuple)


def _nested(inner: st.SearchStrategy[ex.Expression]) -> st.SearchStrategy[ex.Expression]:
    lambdas = st.builds(ex.Lambda, st.lists(names, max_size=3).map(tuple), inner)
    whens = st.lists(st.builds(ex.When, inner, inner), min_size=1, max_size=2).map(tuple)
    compared = ("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
    return st.one_of(
        st.builds(ex.Dereference, inner, names),
        st.builds(ex.Subscript, inner, inner),
        st.builds(ex.Sign, st.sampled_from("+-"), inner),
        st.builds(ex.Arithmetic, st.sampled_from("+-*/%"), inner, inner),
        st.builds(ex.Comparison, st.sampled_from(compared), inner, inner),
        st.builds(ex.Logical, st.sampled_from(("AND", "OR")), inner, inner),
        st.builds(ex.Not, inner),
        st.builds(ex.IsNull, inner, flags),
        st.builds(ex.Between, inner, inner, inner, flags),
        st.builds(ex.In, inner, _several(inner, 1), flags),
        st.builds(ex.Like, inner, inner, st.none() | st.characters(), flags),
        st.builds(ex.Case, st.none() | inner, whens, st.none() | inner),
        st.builds(ex.Cast, inner, types),
        st.builds(ex.Call, names, _several(inner | lambdas)),
        st.builds(ex.Call, names, star=st.just(True)),
        st.builds(ex.MakeArray, _several(inner)),
        st.builds(ex.MakeMap, st.lists(st.tuples(inner, inner), max_size=2).map(tuple)),
        st.builds(ex.MakeStruct, st.lists(st.tuples(names, inner), max_size=2).map(tuple)),
    )


expressions: st.SearchStrategy[ex.Expression] = st.recursive(
    st.one_of(literals, st.builds(ex.Column, names, st.none() | names)), _nested, max_leaves=8
)
_small: st.SearchStrategy[ex.Expression] = st.builds(ex.Column, names) | expressions

durations = st.builds(qu.Duration, counts, st.sampled_from(qu.TimeUnit))
_maybe_duration = st.none() | durations
_items = st.one_of(
    st.builds(qu.SelectExpression, _small, st.none() | names),
    st.builds(qu.SelectAll, st.none() | names),
    st.builds(qu.SelectFields, _small),
)
_sources = st.builds(qu.Source, names, st.none() | names)
_withins = st.builds(qu.Within, durations, durations, _maybe_duration)
_relations: st.SearchStrategy[qu.Relation] = st.recursive(
    _sources,
    lambda left: st.builds(
        qu.Join, left, st.sampled_from(qu.JoinKind), _sources, _small, st.none() | _withins
    ),
    max_leaves=2,
)
_windows = st.one_of(
    st.builds(qu.TumblingWindow, durations, _maybe_duration, _maybe_duration),
    st.builds(qu.HoppingWindow, durations, durations, _maybe_duration, _maybe_duration),
    st.builds(qu.SessionWindow, durations, _maybe_duration, _maybe_duration),
)
queries = st.builds(
    qu.Query,
    st.lists(_items, min_size=1, max_size=2).map(tuple),
    _relations,
    st.none() | _windows,
    st.none() | _small,
    _several(_small),
    _several(_small),
    st.none() | _small,
    st.none() | st.sampled_from(qu.Emit),
    st.none() | counts,
)

_numbers = st.integers(-(2**63) + 1, 2**63 - 1)
_properties = st.lists(
    st.builds(Property, names | texts, literals | st.builds(ex.IntegerLiteral, _numbers)),
    max_size=3,
).map(tuple)
_columns = st.lists(
    st.one_of(
        st.builds(
            creation.ColumnDefinition,
            names,
            types,
            st.sampled_from(creation.ColumnRole).filter(lambda role: role.name != "HEADER"),
        ),
        st.builds(
            creation.ColumnDefinition, names, types, st.just(creation.ColumnRole.HEADER), texts
        ),
    ),
    max_size=3,
).map(tuple)
_kinds = st.sampled_from(creation.SourceKind)
_name_lists = st.lists(names, max_size=3).map(tuple)
_values = _several(_small, 1)

by_kind: dict[type, st.SearchStrategy[Statement]] = {
    qu.Query: queries,
    creation.CreateSource: st.builds(
        creation.CreateSource, _kinds, names, _columns, _properties, flags, flags, flags
    ),
    creation.CreateAsSelect: st.builds(
        creation.CreateAsSelect, _kinds, names, queries, _properties, flags, flags
    ),
    creation.CreateType: st.builds(creation.CreateType, names, types, flags),
    creation.CreateConnector: st.builds(
        creation.CreateConnector, st.sampled_from(creation.ConnectorKind), names, _properties, flags
    ),
    changes.InsertSelect: st.builds(changes.InsertSelect, names, queries, _properties),
    changes.InsertValues: st.builds(changes.InsertValues, names, _name_lists, _values),
    changes.DropSource: st.builds(changes.DropSource, _kinds, names, flags, flags),
    changes.DropNamed: st.builds(
        changes.DropNamed, st.sampled_from(changes.NamedKind), names, flags
    ),
    changes.AlterSource: st.builds(
        changes.AlterSource,
        _kinds,
        names,
        st.lists(st.builds(changes.AddedColumn, names, types), min_size=1, max_size=2).map(tuple),
    ),
    changes.AlterSystem: st.builds(changes.AlterSystem, texts, texts),
    inspection.Show: st.builds(inspection.Show, st.sampled_from(inspection.Listing), flags),
    inspection.Describe: st.builds(inspection.Describe, names, flags),
    inspection.DescribeAll: st.builds(
        inspection.DescribeAll, st.sampled_from(inspection.Described), flags
    ),
    inspection.DescribeFunction: st.builds(inspection.DescribeFunction, names),
    inspection.DescribeConnector: st.builds(inspection.DescribeConnector, names),
    inspection.ExplainQuery: st.builds(inspection.ExplainQuery, names),
    inspection.ExplainStatement: st.builds(inspection.ExplainStatement, queries),
    inspection.PrintTopic: st.builds(
        inspection.PrintTopic, texts, flags, st.none() | counts, st.none() | counts
    ),
    ControlQuery: st.builds(ControlQuery, st.sampled_from(QueryAction), st.none() | names),
    session.SetProperty: st.builds(session.SetProperty, texts, texts),
    session.UnsetProperty: st.builds(session.UnsetProperty, texts),
    session.DefineVariable: st.builds(session.DefineVariable, names, texts),
    session.UndefineVariable: st.builds(session.UndefineVariable, names),
    session.RunScript: st.builds(session.RunScript, texts),
    session.Spool: st.builds(session.Spool, st.none() | texts),
    asserts.AssertTopic: st.builds(asserts.AssertTopic, texts, _properties, _maybe_duration, flags),
    asserts.AssertSchema: st.one_of(
        st.builds(asserts.AssertSchema, texts, st.none() | counts, _maybe_duration, flags),
        st.builds(asserts.AssertSchema, st.none(), counts, _maybe_duration, flags),
    ),
    asserts.AssertValues: st.builds(asserts.AssertValues, names, _name_lists, _values),
    asserts.AssertTombstone: st.builds(asserts.AssertTombstone, names, _name_lists, _values),
    asserts.AssertSource: st.builds(
        asserts.AssertSource, st.builds(creation.CreateSource, _kinds, names, _columns, _properties)
    ),
}
statements = st.sampled_from(sorted(by_kind, key=str)).flatmap(by_kind.__getitem__)
