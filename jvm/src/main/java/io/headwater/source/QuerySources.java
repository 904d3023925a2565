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
 * thread. Nobody waits long before all of them have been asked in vain for a while, so that the
 * watcher has begun to watch: until then a query looks for itself, ever less often. What its first
 * record waits for that is a small part of the time that there was none.
 */
final class QuerySources {

    /** So long there was nothing; longer than a fetch of the watcher lasts. */
    private static final long QUIET_NS = TimeUnit.SECONDS.toNanos(1);

    /** Between two looks there is so much of the time that there was nothing. */
    private static final int PART_OF_QUIET = 8;

    private static final long SHORTEST_NS = TimeUnit.MILLISECONDS.toNanos(2);

    /**
     * So long Spark's batch without records, which follows one with records where time has moved on,
     * waits for records: a batch with them does its work as well. A system property, for tests.
     */
    private static final String PATIENCE_MS = "headwater.source.patienceMs";

    private static final long USUAL_PATIENCE_MS = 500;

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
    private TopicStream lastOfAll;
    private long lastNews = System.nanoTime();

    /** Since when there has been nothing in any source; 0 while that is not so. */
    private long emptySince;

    /** Whether a batch had records, and none without was let pass since then. */
    private boolean hadRecords;

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
                || sources.keySet().iterator().next() != stream
                || !isEmpty()
                || !areAllOfQuery()) {
            return;
        }
        if (now - lastNews < QUIET_NS || !allWatched()) {
            await(Math.min(pauseNs(now), untilAlarmNs()));
            return;
        }
        long longestMs = Long.getLong(LONGEST_MS, USUAL_LONGEST_MS);
        await(Math.min(TimeUnit.MILLISECONDS.toNanos(longestMs), untilAlarmNs()));
    }

    /**
     * Wait for records after a batch that had some; tell whether the stream is to look again. The
     * last of the sources waits: what Spark knows then, it goes by. Where there are timers nobody
     * does, since those of the last batch are not known yet.
     */
    boolean awaitMore(TopicStream stream) throws InterruptedException {
        if (!hadRecords
                || alarms != null
                || !isEmpty()
                || lastOfAll != stream
                || !areAllOfQuery()) {
            return false;
        }
        long now = System.nanoTime();
        long patienceMs = Long.getLong(PATIENCE_MS, USUAL_PATIENCE_MS);
        long left = TimeUnit.MILLISECONDS.toNanos(patienceMs) - (now - emptySince);
        Source own = sources.get(stream);
        // Of the others, this stream cannot tell Spark anything.
        hadRecords = left > 0
                && sources.values().stream().allMatch(each -> each == own || !each.hasMoved());
        if (hadRecords) {
            await(Math.min(left, pauseNs(now)));
        }
        return hadRecords;
    }

    private long pauseNs(long now) {
        long pause = (now - emptySince) / PART_OF_QUIET;
        return Math.max(SHORTEST_NS, Math.min(pause, QUIET_NS / PART_OF_QUIET));
    }

    private long untilAlarmNs() {
        return alarms == null
                ? Long.MAX_VALUE
                : TimeUnit.MILLISECONDS.toNanos(alarms.untilNextMs());
    }

    /** Tell whether all sources were asked, and none had anything. */
    private boolean isEmpty() {
        return sources.values().stream().noneMatch(each -> each.end == null);
    }

    /** Wait until there is news in any source, and so long at most. */
    private void await(long longestNs) throws InterruptedException {
        CountDownLatch news = new CountDownLatch(1);
        try {
            sources.values().forEach(each -> each.watcher.tell(news, each.positions));
            long deadline = System.nanoTime() + longestNs;
            long left = longestNs;
            do {
                if (news.await(Math.min(left, CHECK_NS), TimeUnit.NANOSECONDS)) {
                    return;
                }
                left = deadline - System.nanoTime();
            } while (left > 0 && allWatched());
        } finally {
            sources.values().forEach(each -> each.watcher.forget(news));
        }
    }

    /** Note what the cluster said of a stream that had been read up to a start. */
    void found(TopicStream stream, Map<String, Object> kafka, Offset start, Offset end) {
        Source source = sources.get(stream);
        if (source == null) {
            source = new Source(EndWatcher.join(kafka));
            sources.put(stream, source);
            lastOfAll = stream;
        }
        source.askedAt = System.nanoTime();
        if (!start.equals(end)) {
            source.end = null;
            hadRecords = true;
            stir();
        } else {
            Map<TopicPartition, Long> positions =
                    end.equals(source.end) ? source.positions : Positions.of(end);
            // Also if nothing is new: another query may have had the watcher elsewhere.
            source.watcher.watch(source.positions.keySet(), positions);
            source.positions = positions;
            source.end = end;
            if (emptySince == 0 && isEmpty()) {
                emptySince = source.askedAt;
            }
        }
    }

    /** Do not wait for a while: something has happened. */
    void stir() {
        lastNews = System.nanoTime();
        emptySince = 0;
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

        /** Tell whether the watcher has seen something since. */
        boolean hasMoved() {
            return watcher.haveMoved(positions);
        }
    }
}
