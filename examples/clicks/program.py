"""Cards that may be stolen, errors of each minute, and what the best customers do.

    headwater run examples/clicks/program.py

In SQL these are the three statements with which ksqlDB is often introduced:

    CREATE TABLE possible_fraud AS SELECT card_number, count(*) FROM authorization_attempts
      WINDOW TUMBLING (SIZE 5 SECONDS) GROUP BY card_number HAVING count(*) > 3;
    CREATE TABLE error_counts AS SELECT error_code, count(*) FROM monitoring_stream
      WINDOW TUMBLING (SIZE 1 MINUTE) WHERE type = 'ERROR' GROUP BY error_code;
    CREATE STREAM vip_users AS SELECT userid, page, action FROM clickstream c
      LEFT JOIN users u ON c.userid = u.user_id WHERE u.level = 'Platinum';
"""

from headwater.streams import App, col, tumbling

app = App("clicks")

attempts = app.stream("authorization_attempts", value_type="card_number string, amount double")
(
    attempts.group_by("card_number")
    .windowed_by(tumbling("5 seconds"))
    .count()
    .to_stream()
    .filter(col("count") > 3)
    .to("possible_fraud", value="json")
)

monitoring = app.stream("monitoring_stream", value_type="type string, error_code string")
(
    monitoring.filter(col("type") == "ERROR")
    .group_by("error_code")
    .windowed_by(tumbling("1 minute"))
    .count()
    .to_stream()
    .to("error_counts", value="json")
)

clicks = app.stream("clickstream", value_type="userid string, page string, action string")
users = app.global_table("users", value_type="user_id string, level string")
(
    clicks.left_join(
        users,
        on="userid",
        userid=col("left.userid"),
        page=col("left.page"),
        action=col("left.action"),
        level=col("right.level"),
    )
    .filter(col("level") == "Platinum")
    .map_values(userid="userid", page="page", action="action")
    .to("vip_users", value="json")
)
