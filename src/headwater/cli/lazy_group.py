"""A click group whose commands are imported only when they run, so that start-up stays quick."""

from __future__ import annotations

import difflib
import importlib
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from collections.abc import Sequence


class LazyCommand(NamedTuple):
    """Where a command lives ("module:attribute"), and the line that the group's help shows."""

    name: str
    target: str
    help: str
    is_hidden: bool = False

    def load(self) -> click.Command:
        """Import the module and return the command."""
        module, _, attribute = self.target.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command


class LazyGroup(click.Group):
    """A group that lists its commands without importing them, and suggests close names."""

    def __init__(
        self, *args: Any, lazy_commands: Sequence[LazyCommand] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._lazy = {command.name: command for command in lazy_commands}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order they were given in: the order a newcomer needs them."""
        return [*self._lazy, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module, on first use."""
        if cmd_name in self._lazy:
            return self._lazy[cmd_name].load()
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which ones have a similar name."""
        name = args[0]
        known = self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            close = difflib.get_close_matches(name, known)
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            ctx.fail(f"There is no command '{name}'.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands; of lazy ones the lines given, without importing anything."""
        lines = [
            (command.name, command.help) for command in self._lazy.values() if not command.is_hidden
        ]
        # Whole sentences, however long: click would cut them off at the end of the line.
        lines += [
            (name, command.get_short_help_str(sys.maxsize))
            for name, command in sorted(self.commands.items())
            if not command.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(lines)
