package io.headwater.source;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * When a batch of a query in real-time mode ends: soon, if it has records, else when Spark says so.
 *
 * <p>To end a batch and to begin the next costs as much as thousands of records, and brings nothing
 * if there were none. So Spark is told to end batches rarely, and one that has read a record ends
 * as soon after it as should be read again after a crash. What a batch has changed shows in the one
 * after it, which therefore ends soon, too.
 *
 * <p>All readers of a query end at the same time, since a partition is not read before the next
 * batch. They know of each other if they are in one JVM: on a cluster, Spark has to end all batches
 * soon.
 */
final class RealTimeBatch {

    /** What may be read again after a crash, and how often there is a report of progress. */
    private static final long SOON_MS = 10_000;

    private static final Map<String, RealTimeBatch> OF_QUERY = new ConcurrentHashMap<>();

    private final String id;
    private volatile long endMs;
    private volatile boolean hasRecords;

    private RealTimeBatch(String id, boolean endsSoon) {
        this.id = id;
        this.endMs = endsSoon ? System.currentTimeMillis() + SOON_MS : Long.MAX_VALUE;
    }

    /** Return a query's batch, the same to all of its readers in this JVM. */
    static RealTimeBatch of(String query, String batch) {
        return OF_QUERY.compute(query, (name, last) -> {
            if (last != null && last.id.equals(batch)) {
                return last;
            }
            return new RealTimeBatch(batch, last == null || last.hasRecords);
        });
    }

    /** End a query's batch as soon as all of its readers can know of it. */
    static void end(String query) {
        RealTimeBatch batch = OF_QUERY.get(query);
        if (batch != null) {
            batch.endWithin(2 * RealTimeReader.LOOK_EVERY_MS);
        }
    }

    static void forget(String query) {
        OF_QUERY.remove(query);
    }

    /** Return when to stop reading, in milliseconds since the epoch. */
    long endMs() {
        return endMs;
    }

    /** Note that there was a record. */
    void read() {
        if (!hasRecords) {
            begin();
        }
    }

    private synchronized void begin() {
        if (!hasRecords) {
            hasRecords = true;
            endWithin(SOON_MS);
        }
    }

    private synchronized void endWithin(long durationMs) {
        endMs = Math.min(endMs, System.currentTimeMillis() + durationMs);
    }
}
