"""One log of many services: prefixes, colours, and a reader that goes away."""

from __future__ import annotations

import io

from headwater.up.log_lines import LogLines


def test_names_stand_in_a_column() -> None:
    out = io.StringIO()
    log = LogLines(["broker", "registry"], out, colours=False)
    log.write("broker", ["a", "b"])
    log.write("registry", ["c"])
    assert out.getvalue() == "broker   | a\nbroker   | b\nregistry | c\n"
    log.say("hello")
    assert out.getvalue().splitlines()[-1].startswith("up       | 2")
    assert out.getvalue().endswith(" hello\n")


def test_colours_differ_and_end_with_the_name() -> None:
    out = io.StringIO()
    names = [f"service-{number}" for number in range(8)]
    log = LogLines(names, out, colours=True)
    for name in names[:6]:
        log.write(name, ["text"])
    prefixes = [line.split("service")[0] for line in out.getvalue().splitlines()]
    assert len(set(prefixes)) == 6
    assert all(line.endswith("|\x1b[0m text") for line in out.getvalue().splitlines())


def test_a_reader_that_goes_away_is_told_once() -> None:
    class Closed(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    told: list[str] = []
    log = LogLines(["a"], Closed(), colours=False)
    log.on_reader_gone = lambda: told.append("gone")
    log.write("a", ["x"])
    log.say("y")
    assert told == ["gone"]
