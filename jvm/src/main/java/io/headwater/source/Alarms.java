package io.headwater.source;

import java.util.TreeSet;

import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;

/**
 * When the timers of a query are due, by the clock on the wall.
 *
 * <p>Timers are in Spark's state, which no driver looks into while a query runs. A query reads once,
 * when it starts, which ones there are; those that are set later each batch tells as a metric under
 * {@link #METRIC}. Times are rounded up, so that many timers are few alarms.
 */
final class Alarms {

    /** The metric that a query observes: an array of times in milliseconds. */
    static final String METRIC = "headwater-timers";

    private static final long STEP_MS = 100;

    private final TreeSet<Long> times = new TreeSet<>();
    private IncrementalExecution told;

    private Alarms() {}

    /** Return the alarms of a query, given the folder of one of its sources in its checkpoint. */
    static Alarms of(String sourceCheckpoint) {
        Alarms alarms = new Alarms();
        alarms.readState(new Path(sourceCheckpoint).getParent().getParent());
        return alarms;
    }

    /** Tell whether one is due that has not rung: at a time the clock had rung before. */
    boolean areDue(long rangMs, long nowMs) {
        // In this order: a timer that was set for the past has to ring, too.
        times.headSet(rangMs, true).clear();
        listen();
        return !times.isEmpty() && times.first() <= nowMs;
    }

    /** Return how long it is until the next one; a long time if there is none. */
    long untilNextMs() {
        return times.isEmpty()
                ? Long.MAX_VALUE
                : Math.max(0, times.first() - System.currentTimeMillis());
    }

    private void listen() {
        StreamExecution query = QuerySources.queryOfThisThread();
        IncrementalExecution last = query == null ? null : query.lastExecution();
        if (last == null || last == told) {
            return;
        }
        told = last;
        scala.Option<Row> metric = last.observedMetrics().get(METRIC);
        if (metric.isDefined() && !metric.get().isNullAt(0)) {
            metric.get().<Long>getList(0).forEach(times::add);
        }
    }

    private void readState(Path checkpoint) {
        SparkSession session = SparkSession.active();
        try {
            FileSystem files = checkpoint.getFileSystem(session.sessionState().newHadoopConf());
            Path commits = new Path(checkpoint, "commits");
            if (!files.exists(commits) || files.listStatus(commits).length == 0) {
                return;
            }
        } catch (java.io.IOException error) {
            throw new java.io.UncheckedIOException("the timers in " + checkpoint, error);
        }
        Dataset<Row> timers = session.read()
                .format("statestore")
                .option("readRegisteredTimers", "true")
                .load(checkpoint.toString());
        timers.selectExpr("CEIL(expiration_timestamp_ms / " + STEP_MS + ") * " + STEP_MS)
                .distinct()
                .collectAsList()
                .forEach(row -> times.add(row.getLong(0)));
    }
}
