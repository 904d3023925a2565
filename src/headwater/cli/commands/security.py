"""`headwater security`: keys for a platform of one's own."""

from __future__ import annotations

from pathlib import Path

import click

from headwater.cli.errors import CommandError
from headwater.cli.lazy_group import LazyGroup
from headwater.cli.output import note, print_table


@click.group(cls=LazyGroup)
def security() -> None:
    """Make an authority, certificates, users and client properties."""


@security.command(
    epilog="""\b
Examples:
  headwater security init ./security
  headwater security init ./security --host kafka.plant.example --user ann --user bob

\b
Then:
  headwater up --secure --security ./security
  headwater broker --config ./security/broker.properties
  headwater topics list --command-config ./security/users/admin/java.properties

Only you can read the files. Passwords are generated; each user's is in secrets.properties."""
)
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--host",
    "hosts",
    metavar="NAME",
    multiple=True,
    help="A name or an address by which clients reach this machine, for the certificates; may be"
    " given several times. localhost, loopback and the machine's own name are there anyway.",
)
@click.option(
    "--user",
    "users",
    metavar="NAME",
    multiple=True,
    help="A user besides admin, who may do everything; may be given several times.",
)
@click.option(
    "--days",
    type=click.IntRange(1, 3650),
    default=825,
    show_default=True,
    help="How long certificates last; the authority itself lasts ten years.",
)
def init(directory: Path, hosts: tuple[str, ...], users: tuple[str, ...], days: int) -> None:
    """Make it all in a folder that is not there yet."""
    from headwater.security.init import KitError, KitPlan, make_kit

    try:
        kit = make_kit(directory, KitPlan(hosts=hosts, users=users, days=days))
    except (KitError, ValueError) as failure:
        raise CommandError(str(failure)) from None
    rows = [(folder.name, folder) for folder in sorted((kit.folder / "users").iterdir())]
    print_table(("USER", "FILES"), rows)
    note(f"Made an authority, certificates and {len(rows)} users in {kit.folder}.")
