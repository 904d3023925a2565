"""All pages together, as an ASGI application."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI
from nicegui import app, ui

from headwater.console.view import overview_page
from headwater.console.view.clusters import brokers_page, clusters_page
from headwater.console.view.connect import connect_page, connector_form_page, connector_page
from headwater.console.view.frame import Frame
from headwater.console.view.groups import group_page, groups_page
from headwater.console.view.pipelines import pipeline_page, pipelines_page
from headwater.console.view.records import record_page, records_page
from headwater.console.view.schemas import schemas_page
from headwater.console.view.security import (
    acl_matrix_page,
    audit_page,
    certificates_page,
    permissions_page,
    quotas_page,
    security_page,
)
from headwater.console.view.sql import sql_lists_page, sql_page
from headwater.console.view.topics import topic_page, topics_page

if TYPE_CHECKING:
    from headwater.console.model.consoles import Consoles
    from headwater.http.asgi import Application

_STATIC = Path(__file__).with_name("static")


def pages(consoles: Consoles, *, has_users: bool) -> Application:
    """Return what serves the pages; to be called once in a process, which NiceGUI wants so."""
    for console in consoles:
        _register(Frame(consoles, console, has_users))
    if len(consoles) > 1:
        clusters_page.register(Frame(consoles, consoles.first, has_users))
    app.add_static_files("/static", _STATIC, max_cache_age=3600)
    # Its clients say so when the process stops; they come back by themselves.
    logging.getLogger("nicegui").setLevel(logging.WARNING)
    served = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    ui.run_with(
        served,
        title="Headwater",
        favicon=_STATIC / "favicon.svg",
        dark=None,
        language="en-US",
        tailwind=False,
        binding_refresh_interval=None,
        reconnect_timeout=10,
        show_welcome_message=False,
    )
    return served  # type: ignore[return-value]


def _register(frame: Frame) -> None:
    """Make the pages of a cluster."""
    console = frame.console
    overview_page.register(frame)
    topics_page.register(frame)
    topic_page.register(frame)
    records_page.register(frame)
    record_page.register(frame)
    groups_page.register(frame)
    group_page.register(frame)
    if console.schemas is not None:
        schemas_page.register(frame, console.schemas)
    if console.connect is not None:
        connect_page.register(frame, console.connect)
        connector_form_page.register(frame, console.connect)
        connector_page.register(frame, console.connect)
    if console.sql is not None:
        sql_page.register(frame, console.sql)
        sql_lists_page.register(frame, console.sql)
    pipelines_page.register(frame)
    pipeline_page.register(frame)
    security_page.register(frame)
    acl_matrix_page.register(frame)
    permissions_page.register(frame)
    quotas_page.register(frame)
    certificates_page.register(frame)
    brokers_page.register(frame)
    audit_page.register(frame)
