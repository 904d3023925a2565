"""What the table of stream processing says: its columns and rows, its goals, and the text above."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from benchmarks.apache_kafka import VERSION as KAFKA_VERSION
from benchmarks.pipeline import delays, flink, kafka_streams, python_peers
from benchmarks.pipeline.flink import PYFLINK
from benchmarks.pipeline.kafka_streams import KAFKA_STREAMS
from benchmarks.pipeline.programs import GUARANTEES, KINDS
from benchmarks.pipeline.python_peers import FAUST, QUIX_STREAMS

if TYPE_CHECKING:
    from benchmarks.pipeline.peer import Peer
    from benchmarks.pipeline.programs import Guarantee, Kind

HEADWATER = "Headwater"
BY_HAND = "PySpark by hand"
PEERS: tuple[Peer, ...] = (KAFKA_STREAMS, PYFLINK, QUIX_STREAMS, FAUST)
COLUMNS = (HEADWATER, KAFKA_STREAMS.name, PYFLINK.name, BY_HAND, QUIX_STREAMS.name, FAUST.name)

READ = "read only, Spark's Kafka connector"

_JOBS: dict[Kind, str] = {
    "filter": "filter",
    "count": "count per key and minute",
    "join": "stream-table join",
    "pair": "stream-stream join",
    "tables": "table-table join",
    "sessions": "session windows",
}
_GUARANTEES: dict[Guarantee, str] = {
    "at_least_once": "at least once",
    "exactly_once": "exactly once",
}
DELAYS: dict[tuple[Guarantee, Kind], str] = {
    ("exactly_once", "filter"): "exactly once, filter: topic to topic",
    ("exactly_once", "count"): "exactly once, windowed count: topic to topic",
    ("at_least_once", "filter"): "real-time mode, filter: topic to topic",
    ("at_least_once", "join"): "real-time mode, stream-table join: topic to topic",
}


def job(kind: Kind, guarantee: Guarantee) -> str:
    return f"{_JOBS[kind]}, {_GUARANTEES[guarantee]}"


def share_of_hand(kind: Kind) -> str:
    return f"{_JOBS[kind]}: share of PySpark by hand"


def share_of_read(kind: Kind) -> str:
    return f"{_JOBS[kind]}: share of the read rate"


def times_python(kind: Kind) -> str:
    return f"{_JOBS[kind]}: times the faster of Quix Streams and Faust"


def times_jvm(kind: Kind, guarantee: Guarantee) -> str:
    return f"{job(kind, guarantee)}: times the faster of Kafka Streams and PyFlink"


GOALS = {
    **{job(*each): "200,000/s" for each in product(KINDS, GUARANTEES)},
    **{times_jvm(*each): "1.5 x" for each in product(KINDS, GUARANTEES)},
    share_of_hand("filter"): "95 %",
    share_of_hand("count"): "95 %",
    **{times_python(kind): "3 x" for kind in KINDS if QUIX_STREAMS.has(kind, "at_least_once")},
    f"{DELAYS['exactly_once', 'filter']}, median": "300 ms",
    f"{DELAYS['exactly_once', 'count']}, median": "600 ms",
    f"{DELAYS['at_least_once', 'filter']}, median": "20 ms",
    f"{DELAYS['at_least_once', 'filter']}, 99 %": "100 ms",
    f"{DELAYS['at_least_once', 'join']}, median": "50 ms",
}

_CONNECTOR = flink.CONNECTOR.rpartition(":")[2]

INTRODUCTION = f"""Programs of `headwater.streams` next to Kafka Streams {KAFKA_VERSION}, which the
ratio is about, PyFlink {flink.VERSION}, the same query in PySpark without Headwater, and
{" and ".join(python_peers.ENVIRONMENT.requirements[:2])} from PyPI. All read from and write to one
Headwater broker with `flush=os`, one after the other. A record that is no JSON fails each of them.
`python -m benchmarks pipeline --rows "filter" --records 1000000` measures some rows, with fewer
records.

Throughput is over 10 million JSON records of 100 bytes with 100,000 keys, if nothing else is said
below, which are in a topic of 4 partitions already, results in a topic. The filter keeps half of
them. The count is of tumbling minutes, and the records lie in ten of them. The table of the
stream-table join has 100,000 keys, and an update for every hundred records; a record meets the
table as it stood at the record's time, which PySpark has no join for. The stream-stream join reads
as many checks of the same keys as there are readings, and a reading meets one of them, on average;
its rate is of the records of both. The table-table join is of
the newest reading of each key with the same table. Sessions end after 10 seconds without a record.
After each run the results are read again and counted: as many records as the filter keeps and the
joins have to find, windows that hold as many as there are, a row for each key of the tables. What
is wrong has no figure.

- **Headwater** and **PySpark** run in one warm Spark session in local mode; the clock runs from
  the start of the job to its end. PySpark's sink is at least once only.
- **Kafka Streams** is a Java program with `num.stream.threads=2`, the topology's optimization, a
  heap of {kafka_streams.HEAP}, RocksDB, Jackson with records for JSON, and defaults else: results
  are cached and emitted with each commit, every 30 s or, with `exactly_once_v2`, every 100 ms. The
  JVM has run the job once over 500,000 records before. The clock runs from the first record until
  the last is processed and all is committed and closed, so that the start and the group's first
  assignment are not in it.
- **PyFlink** is Flink SQL with version {_CONNECTOR} of its Kafka connector, in Flink's own local
  cluster in one JVM with a heap of {flink.HEAP}: parallelism 2, object reuse, mini-batches of 5,000
  records or 5 s, a checkpoint every 10 s, state in memory (the default). Topics are read to where
  they end, after the same warm-up; the clock runs from the statement to the end of its job. Flink's
  windows come out when they close. Its joins are a temporal one, without mini-batches, which would
  lose versions of the table and so results, and, of two `upsert-kafka` tables, a regular one.
- **Quix Streams** and **Faust** process the first 200,000 records; the clock runs from the first
  record to the last, so that their start is not in it, and the records that go in are counted. They
  run as they do by default: one process, at least once, Quix Streams with RocksDB, Faust with its
  default store, memory, and uvloop. The windows of Quix Streams come out when they close. Faust's
  counts are the changelog of its table, and its join meets the table as far as it has been read.
  Neither has joins of tables or sessions with updates.

The figures below are from before Kafka Streams, PyFlink and the last two jobs were added, and from
before [plain JSON was read and written by classes of ours](decisions/0058-plain-json.md); the next
run on a machine with nothing else to do replaces them. Where the time of the filter went was asked
of Java's flight recorder (574 samples, on a busy machine): 38 % were spent in Spark's JSON parser
and 5 % in its generator, 32 % reading (Kafka's consumer 11, Spark's connector 13, rows of records
8) and 17 % writing (the producer 12, rows for it 5).

What that change did was measured on the same busy machine (load 10 to 16 on two cores; 500,000
records, 20,000 keys, at least once, the second of two rounds). "Before" is the same session, right
before each run, with the rule left out and Kafka's defaults for the producer. Under such a load
rates go up and down by a third, the JVM's CPU time less so; both have the fixed work of a short job
in them.

| | before | after | CPU for a record, before | after |
| --- | ---: | ---: | ---: | ---: |
| filter | 102,846/s | 155,033/s | 6.9 µs | 3.9 µs |
| count per key and minute | 38,209/s | 58,828/s | 15.6 µs | 10.9 µs |
| stream-table join | 45,198/s | 73,093/s | 13.7 µs | 10.1 µs |
| table-table join | 59,038/s | 56,011/s | 11.5 µs | 9.5 µs |
| session windows | 34,768/s | 38,726/s | 17.1 µs | 12.1 µs |
| filter, exactly once (600,000 records) | 106,792/s | 150,244/s | 6.2 µs | 3.7 µs |

Latency is from the call that sends a record to the call that receives what became of it
(`read_committed`), at {delays.RECORDS_PER_S} records/s into {delays.PARTITIONS} partitions, after
a warm-up. Exactly once runs in micro-batches, at least once in Spark's real-time mode."""
