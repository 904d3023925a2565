package io.headwater.source;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.apache.hadoop.fs.Path;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The topic sources of one running query: one of them waits, and for news in any of them.
 *
 * <p>Spark asks its sources one after the other, always in the same order and in the query's own
 * thread. Nobody waits before all of them have been asked in vain for a while: so a query that has
 * just had records answers as fast as ever, and the watcher has begun to watch.
 */
final class QuerySources {

    /** So long there was nothing; longer than a fetch of the watcher lasts. */
    private static final long QUIET_NS = TimeUnit.SECONDS.toNanos(1);

    /** Asked less often, Spark has a trigger that waits by itself. */
    private static final long POLLED_WITHIN_NS = TimeUnit.SECONDS.toNanos(1);

    /**
     * Then the cluster is asked all the same: for new partitions, and for topics that are gone. A
     * system property, so that tests can tell who has seen a record.
     */
    private static final String LONGEST_MS = "headwater.source.longestWaitMs";

    private static final long USUAL_LONGEST_MS = 10_000;

    private static final long CHECK_NS = TimeUnit.SECONDS.toNanos(1);

    private static final ThreadLocal<QuerySources> OF_THREAD =
            ThreadLocal.withInitial(QuerySources::new);

    private final String id = UUID.randomUUID().toString();
    private final Map<TopicStream, Source> sources = new LinkedHashMap<>();
    private long lastNews = System.nanoTime();

    /** Null where progress is not copied, or nothing was planned yet. */
    private ProgressCopy progress;

    /** Timers of the query by the clock on the wall; null where there are none. */
    private Alarms alarms;

    static QuerySources ofThisThread() {
        return OF_THREAD.get();
    }

    /** A name that no other run of any query has. */
    String id() {
        return id;
    }

    /** Copy the progress of the query, of which a batch was planned. */
    void planned(Map<String, Object> kafka, String topic, String sourceCheckpoint) {
        if (progress == null) {
            Path checkpoint = new Path(sourceCheckpoint).getParent().getParent();
            progress = new ProgressCopy(kafka, topic, queryOfThisThread().name(), checkpoint);
        }
        progress.planned();
    }

    /** Copy that a batch is done. */
    void goesOn() {
        if (progress != null) {
            progress.goesOn();
        }
    }

    /** Do not sleep through these. */
    void wakeBy(Alarms alarms) {
        this.alarms = alarms;
    }

    /** Wait if there is reason to believe that the stream's end has not moved from there. */
    void awaitNews(TopicStream stream, Offset end) throws InterruptedException {
        long now = System.nanoTime();
        Source source = sources.get(stream);
        if (source == null
                || !end.equals(source.end)
                || now - source.askedAt > POLLED_WITHIN_NS
                || now - lastNews < QUIET_NS
                || sources.keySet().iterator().next() != stream
                || !areAllOfQuery()) {
            return;
        }
        CountDownLatch news = new CountDownLatch(1);
        try {
            for (Source each : sources.values()) {
                if (each.end == null) {
                    return;
                }
                each.watcher.tell(news, each.positions);
            }
            long longestMs = Long.getLong(LONGEST_MS, USUAL_LONGEST_MS);
            if (alarms != null) {
                longestMs = Math.min(longestMs, alarms.untilNextMs());
            }
            long deadline = now + TimeUnit.MILLISECONDS.toNanos(longestMs);
            long left;
            while ((left = deadline - System.nanoTime()) > 0 && allWatched()) {
                if (news.await(Math.min(left, CHECK_NS), TimeUnit.NANOSECONDS)) {
                    return;
                }
            }
        } finally {
            sources.values().forEach(each -> each.watcher.forget(news));
        }
    }

    /** Note what the cluster said of a stream that had been read up to a start. */
    void found(TopicStream stream, Map<String, Object> kafka, Offset start, Offset end) {
        Source source =
                sources.computeIfAbsent(stream, each -> new Source(EndWatcher.join(kafka)));
        source.askedAt = System.nanoTime();
        if (!start.equals(end)) {
            source.end = null;
            stir();
        } else {
            Map<TopicPartition, Long> positions =
                    end.equals(source.end) ? source.positions : Positions.of(end);
            // Also if nothing is new: another query may have had the watcher elsewhere.
            source.watcher.watch(source.positions.keySet(), positions);
            source.positions = positions;
            source.end = end;
        }
    }

    /** Do not wait for a while: something has happened. */
    void stir() {
        lastNews = System.nanoTime();
    }

    /** End what is kept for a stream that was stopped. */
    void leave(TopicStream stream) {
        Source source = sources.remove(stream);
        if (source != null) {
            source.watcher.leave(source.positions.keySet());
        }
        RealTimeBatch.forget(id);
        if (progress != null) {
            ProgressCopy last = progress;
            progress = null;
            last.close();
        }
    }

    /** Return the query whose thread this is; null where it is nobody's. */
    static StreamExecution queryOfThisThread() {
        SparkSession session = SparkSession.active();
        String id = session.sparkContext().getLocalProperty(StreamExecution.QUERY_ID_KEY());
        return id == null
                ? null
                : session.sharedState().activeStreamingQueries().get(UUID.fromString(id));
    }

    // A source of another kind would have to wait with ours. The clock does, by its alarms.
    private static boolean areAllOfQuery() {
        StreamExecution query = queryOfThisThread();
        return query != null
                && CollectionConverters.asJava(query.sources()).stream()
                        .allMatch(each -> TopicStream.isHandlerOf(each)
                                || each instanceof ClockStream);
    }

    private boolean allWatched() {
        return sources.values().stream().allMatch(each -> each.watcher.isWatching());
    }

    private static final class Source {

        private final EndWatcher watcher;
        private Map<TopicPartition, Long> positions = Map.of();

        /** Where everything has been read; null while that is not so. */
        private Offset end;

        private long askedAt;

        Source(EndWatcher watcher) {
            this.watcher = watcher;
        }
    }
}
