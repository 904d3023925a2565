"""All statements as one type, for those who have to decide what each of them means."""

from __future__ import annotations

from typing import TypeAlias

from headwater.sql.tree.queries import Query
from headwater.sql.tree.statements.assertions import (
    AssertSchema,
    AssertSource,
    AssertTombstone,
    AssertTopic,
    AssertValues,
)
from headwater.sql.tree.statements.changes import (
    AlterSource,
    AlterSystem,
    DropNamed,
    DropSource,
    InsertSelect,
    InsertValues,
)
from headwater.sql.tree.statements.control import ControlQuery
from headwater.sql.tree.statements.creation import (
    CreateAsSelect,
    CreateConnector,
    CreateSource,
    CreateType,
)
from headwater.sql.tree.statements.inspection import (
    Describe,
    DescribeAll,
    DescribeConnector,
    DescribeFunction,
    ExplainQuery,
    ExplainStatement,
    PrintTopic,
    Show,
)
from headwater.sql.tree.statements.session import (
    DefineVariable,
    RunScript,
    SetProperty,
    Spool,
    UndefineVariable,
    UnsetProperty,
)

Statement: TypeAlias = (
    Query
    | CreateSource
    | CreateAsSelect
    | CreateType
    | CreateConnector
    | InsertSelect
    | InsertValues
    | DropSource
    | DropNamed
    | AlterSource
    | AlterSystem
    | Show
    | Describe
    | DescribeAll
    | DescribeFunction
    | DescribeConnector
    | ExplainQuery
    | ExplainStatement
    | PrintTopic
    | ControlQuery
    | SetProperty
    | UnsetProperty
    | DefineVariable
    | UndefineVariable
    | RunScript
    | Spool
    | AssertTopic
    | AssertSchema
    | AssertValues
    | AssertTombstone
    | AssertSource
)
