"""A program in real-time mode to be killed: joins readings with a table, until it is stopped.

python -m tests.chaos.real_time_driver SERVERS READINGS UNITS OUTPUT CHECKPOINT
"""

from __future__ import annotations

import sys

from headwater.spark.jobs.job import Job
from headwater.spark.session import spark_session
from headwater.streams import App


def main(servers: str, readings: str, units: str, output: str, checkpoint: str) -> None:
    app = App(
        "chaos",
        bootstrap_servers=servers,
        checkpoint_dir=checkpoint,
        spark={"spark.headwater.realTime": "true"},
    )
    stream = app.stream(readings, value_type="number bigint, version bigint")
    table = app.table(units, value_type="version bigint")
    stream.left_join(table, number="number", wanted="left.version", met="right.version").to(output)
    job = Job(app.plan(), notice=lambda line: print(line, flush=True))
    job.start(spark_session("chaos", conf={"spark.ui.enabled": "false"}))
    state = ""
    while not job.wait(0.05):
        if job.progress()[0].state != state:
            state = job.progress()[0].state
            print(f"state {state}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
