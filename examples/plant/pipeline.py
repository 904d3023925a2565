"""The plant's program: alerts, values with their units, averages, and motors that stop too soon.

    headwater run examples/plant/pipeline.py

What sensors and motors send is a union in Avro: `value.member0` is the number of a sensor,
`value.member1` the state of a motor.

With PLANT_GUARANTEE=at_least_once it runs in real-time mode, as far as that can be.
"""

import os

from headwater.streams import App, avg, between, col, count, lit, max, tumbling

TOO_HIGH = 800_000

# In real-time mode, results come with each record: there are no batches to wait for.
REAL_TIME = os.environ.get("PLANT_GUARANTEE") == "at_least_once"

app = App(
    "plant",
    guarantee="at_least_once" if REAL_TIME else "exactly_once",
    emit="record" if REAL_TIME else "batch",
    spark={
        # What is known of the sensors was there before they sent anything.
        "spark.headwater.realTime": "true",
        # For a few records a second, more tasks would only cost.
        "spark.sql.shuffle.partitions": "1",
    },
)

measurements = app.stream(
    "myPlant",
    value="avro",
    timestamp_by="timestamp_millis(datetime)",
    dead_letter="myPlant-malformed",
)
metadata = app.global_table("metadata", value="avro")

sensors = measurements.filter(col("value.member0").isNotNull()).map_values(
    sensor_id="sensor_id", value="value.member0"
)
motors = measurements.filter(col("value.member1").isNotNull()).map_values(
    motor_id="sensor_id", state="value.member1", at="timestamp"
)

# Alerts: a value that is too high, a motor in error.
high = sensors.filter(col("value") > TOO_HIGH).map_values(
    source="sensor_id", reason=lit("value too high"), value=col("value").cast("string")
)
broken = motors.filter(col("state") == "error").map_values(
    source="motor_id", reason=lit("motor in error"), value="state"
)
high.merge(broken).to("alerts", value="json")

# Enrichment: each value with the unit and the place of its sensor.
sensors.left_join(metadata, on="sensor_id").to("measurements-with-units", value="json")

# The average of each sensor and minute.
(
    sensors.group_by_key()
    .windowed_by(tumbling("1 minute").grace("10 seconds"))
    .aggregate(average=avg("value"), highest=max("value"), measurements=count())
    .to_stream()
    .to("averages-per-minute", value="json")
)

# Motors that stop within two minutes after they started.
started = motors.filter(col("state") == "starting")
stopped = motors.filter(col("state") == "stopped")
started.join(
    stopped,
    window=between("0 seconds", "2 minutes"),
    motor_id=col("left.motor_id"),
    started=col("left.at"),
    stopped=col("right.at"),
).to("short-runs", value="json")
