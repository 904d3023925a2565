r"""How often each word came, which is where every book on streams begins.

    headwater run examples/words/program.py

In Kafka Streams, in Java:

    textLines.mapValues(line -> line.toLowerCase())
        .flatMapValues(line -> Arrays.asList(line.split("\\W+")))
        .selectKey((key, word) -> word)
        .groupByKey()
        .count(Materialized.as("Counts"));
"""

from headwater.streams import App

app = App("word-count")

counts = (
    app.stream("text-lines", value="string")
    .map_values("lower(value)")
    .flat_map_values(r"split(value, '\\W+')")
    .filter("value <> ''")
    .select_key("value")
    .group_by_key()
    .count()
)
counts.store("Counts")
counts.to_stream().to("word-counts", value="json")
