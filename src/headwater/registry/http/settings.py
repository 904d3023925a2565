"""/config and /mode: settings and modes of everything, a context or a subject."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from headwater.http.answers import Answer, answer
from headwater.registry import changes
from headwater.registry.entities import Config, ConfigUpdate, ModeUpdate
from headwater.registry.errors import (
    invalid_subject,
    no_subject_config,
    no_subject_mode,
    not_permitted,
)
from headwater.registry.subjects import is_valid, normalize

if TYPE_CHECKING:
    from headwater.http.request import Request
    from headwater.registry.service import RegistryService


async def get_config(service: RegistryService, request: Request) -> Answer:
    """Answer GET /config and GET /config/{subject}."""
    subject = _subject(request)
    scope = service.scope
    inherits = request.flag("defaultToGlobal")
    config = scope.config_in_scope(subject) if inherits else scope.config(subject)
    if config is None:
        raise no_subject_config(subject or "")
    return answer(config.to_json())


async def put_config(service: RegistryService, request: Request) -> Answer:
    """Answer PUT /config and PUT /config/{subject}."""
    update = changes.check_config(request.decode(ConfigUpdate))
    subject = _valid_subject(request)
    config = await service.write(
        lambda: changes.update_config(service.store, service.scope, subject, update)
    )
    return answer(_updated_json(config))


async def delete_config(service: RegistryService, request: Request) -> Answer:
    """Answer DELETE /config and DELETE /config/{subject}."""
    subject = _subject(request)
    config = await service.write(lambda: changes.delete_config(service.scope, subject))
    return answer(config.to_json())


async def get_mode(service: RegistryService, request: Request) -> Answer:
    """Answer GET /mode and GET /mode/{subject}."""
    subject = _subject(request)
    inherits = request.flag("defaultToGlobal")
    scope = service.scope
    mode = scope.mode_in_scope(subject) if inherits else scope.mode(subject)
    if mode is None:
        raise no_subject_mode(subject or "")
    return answer({"mode": mode})


async def put_mode(service: RegistryService, request: Request) -> Answer:
    """Answer PUT /mode and PUT /mode/{subject}."""
    update = request.decode(ModeUpdate)
    subject = _valid_subject(request)
    mode = changes.check_mode(update.mode if isinstance(update.mode, str) else None, subject)
    force = request.flag("force")
    _refuse_fixed_modes(service)
    if update.mode is not UNSET:
        await service.write(
            lambda: changes.set_mode(service.store, service.scope, subject, mode, force=force)
        )
    return answer({"mode": mode})


async def delete_mode(service: RegistryService, request: Request) -> Answer:
    """Answer DELETE /mode and DELETE /mode/{subject}."""
    subject = _subject(request)
    recursive = request.flag("recursive")
    _refuse_fixed_modes(service)
    mode = await service.write(
        lambda: changes.delete_mode(service.store, service.scope, subject, recursive=recursive)
    )
    return answer({} if mode is None else {"mode": mode})


def _subject(request: Request) -> str | None:
    return normalize(request.parameters.get("subject", "")) or None


def _valid_subject(request: Request) -> str | None:
    subject = request.parameters.get("subject", "")
    if not is_valid(subject, for_settings=True):
        raise invalid_subject(subject)
    return normalize(subject) or None


def _refuse_fixed_modes(service: RegistryService) -> None:
    if not service.modes_can_change:
        raise not_permitted("Mode changes are not allowed")


def _updated_json(config: Config) -> dict[str, Any]:
    value = config.to_json()
    level = value.pop("compatibilityLevel", None)
    return value if level is None else {**value, "compatibility": level}
