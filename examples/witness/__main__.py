"""The witness-protection office: an agent moves, is reported, and is forgotten.

python -m examples.witness
"""

from __future__ import annotations

import click
from examples.stage import StoppedError
from examples.witness.office import office
from examples.witness.people import AGENT, OTHERS, Event
from examples.witness.story import connect, forget, move, see_each_once


@click.command()
@click.option("--events", default=20, type=click.IntRange(min=1), help="How often people move.")
@click.option("--by-hand", is_flag=True, help="Open the office, and leave the rest to you.")
def main(events: int, *, by_hand: bool) -> None:
    """Let people move, tell the tax department, and forget the agent."""
    try:
        with office() as opened:
            click.echo(f"broker   {opened.platform.servers}")
            click.echo(f"connect  {opened.platform.endpoints['connect']}")
            click.echo(f"database {opened.register.url}")
            if by_hand:
                for person in (AGENT, *OTHERS):
                    opened.register.enter(person, Event.MOVE_IN)
                click.echo("Ctrl-C ends it.")
                opened.platform.stop.wait()
                return
            click.echo("The first records come when Spark has started. Ctrl-C ends it.\n")
            connect(opened)
            opened.start_program()
            move(opened, events)
            see_each_once(opened)
            forget(opened)
    except StoppedError:
        return


if __name__ == "__main__":
    main()
