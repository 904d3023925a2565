package io.headwater.testing;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Records for the queries of a stage, which see them when the test says so, and its clock.
 *
 * <p>Each query is told by itself, so that they run one after the other, and their results are
 * always in the same order.
 */
public final class GivenRecords {

    private static final Map<String, GivenRecords> ALL = new ConcurrentHashMap<>();
    private static final int LOOK_EVERY_MS = 5;

    private final List<InternalRow> rows = new ArrayList<>();
    private final Map<String, GivenRound> rounds = new HashMap<>();
    private volatile long nowMicros;

    private GivenRecords() {}

    /** Make records that queries find by this name. */
    public static GivenRecords make(String id) {
        GivenRecords made = new GivenRecords();
        ALL.put(id, made);
        return made;
    }

    /** Forget them; no query may run any more. */
    public static void forget(String id) {
        ALL.remove(id);
    }

    /** Return what time it is, in microseconds; called from Spark's SQL, which knows text alone. */
    public static String now(String id) {
        return Long.toString(of(id).nowMicros);
    }

    /** Set the clock. */
    public void setNow(long micros) {
        nowMicros = micros;
    }

    /** Add a record, which no query sees yet. */
    public synchronized void add(
            String topic,
            long offset,
            byte[] key,
            byte[] value,
            long micros,
            List<String> headers,
            List<byte[]> headerValues) {
        Object[] pairs = new Object[headers.size()];
        for (int index = 0; index < pairs.length; index++) {
            UTF8String name = UTF8String.fromString(headers.get(index));
            pairs[index] = new GenericInternalRow(new Object[] {name, headerValues.get(index)});
        }
        rows.add(new GenericInternalRow(new Object[] {
            key, value, UTF8String.fromString(topic), 0, offset, micros, new GenericArrayData(pairs)
        }));
    }

    /** Let a query see what was added. */
    public synchronized void release(String query) {
        round(query).release(rows.size());
    }

    /**
     * Wait until a query has done with all that it sees; tell whether it has, within this time.
     *
     * <p>Spark's own way to wait learns of a query's end with seconds of delay.
     */
    public static boolean awaitDone(StreamingQuery query, long longestMs) throws InterruptedException {
        Thread waiting = new Thread(() -> {
            try {
                query.processAllAvailable();
            } catch (Exception failure) {
                // The query itself says what has become of it.
            }
        });
        waiting.setDaemon(true);
        waiting.start();
        long deadline = System.nanoTime() + longestMs * 1_000_000;
        while (waiting.isAlive() && query.isActive()) {
            if (System.nanoTime() > deadline) {
                return false;
            }
            waiting.join(LOOK_EVERY_MS);
        }
        return true;
    }

    static GivenRecords of(String id) {
        GivenRecords found = ALL.get(id);
        if (found == null) {
            throw new IllegalStateException("the test that gave these records has ended");
        }
        return found;
    }

    synchronized GivenRound round(String query) {
        return rounds.computeIfAbsent(query, name -> new GivenRound());
    }

    synchronized InternalRow[] between(int start, int end) {
        return rows.subList(start, end).toArray(new InternalRow[0]);
    }
}
