"""A calculator at the terminal, which forgets nothing.

python -m examples.calculator
"""

from __future__ import annotations

import sys
from decimal import Decimal, InvalidOperation

import click
from examples.calculator.calculator import OPERATIONS, TOPIC, Calculator
from examples.stage import StoppedError, stage

HELP = "Type + 5, - 2.5, * 3 or / 4; `at 2` is the number after two operations; `history`; `quit`."


@click.command()
def main() -> None:
    """Calculate until `quit`, or the end of the input."""
    try:
        with stage("calculator") as platform:
            platform.create_topics(TOPIC)
            calculator = Calculator(platform.servers, "mine")
            click.echo(HELP)
            for line in sys.stdin:
                if line.strip() == "quit" or platform.stop.is_set():
                    break
                click.echo(answer(calculator, line.split()))
            calculator.close()
    except StoppedError:
        return


def answer(calculator: Calculator, words: list[str]) -> str:
    """Return what a line is answered with."""
    try:
        match words:
            case ["history"]:
                return "\n".join(
                    f"{done.operation} {done.operand} = {done.error or done.result}"
                    for done, _ in calculator.history()
                )
            case ["at", number]:
                return str(calculator.number(after=int(number)))
            case [operation, operand] if operation in OPERATIONS:
                done = calculator.do(operation, Decimal(operand))
                return done.error or str(done.result)
    except (InvalidOperation, ValueError):
        return f"{words[1]!r} is no number"
    return HELP


if __name__ == "__main__":
    main()
