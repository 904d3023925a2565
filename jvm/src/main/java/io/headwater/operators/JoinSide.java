package io.headwater.operators;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.MapState;

/**
 * The records of one stream that those of the other may still meet, for the key at hand.
 *
 * <p>When each of them was is in one array, so that looking for partners reads nothing else; what
 * they were is in a map, of which only those who meet somebody are read.
 */
final class JoinSide {
    private static final int FIELDS = 3;

    private final MapState<Long, InternalRow> rows;
    private final List<Waiting> waiting = new ArrayList<>();
    private final Map<Long, InternalRow> added = new HashMap<>();
    private long next;

    /** The latest time of its own records. */
    long latest;

    JoinSide(MapState<Long, InternalRow> rows, long latest, long[] saved) {
        this.rows = rows;
        this.latest = latest;
        for (int index = 0; index < saved.length; index += FIELDS) {
            boolean alone = saved[index + 2] != 0;
            waiting.add(new Waiting(saved[index], saved[index + 1], alone));
            next = Math.max(next, saved[index + 1] + 1);
        }
    }

    /** One record: its time, its place among those of the same time, whether it met nobody yet. */
    static final class Waiting {
        final long time;
        final long id;
        boolean alone;

        Waiting(long time, long id, boolean alone) {
            this.time = time;
            this.id = id;
            this.alone = alone;
        }
    }

    /** The records of these times, the oldest first, and of equals the first that came. */
    List<Waiting> between(long from, long to) {
        return waiting.subList(firstFrom(from), firstFrom(to + 1));
    }

    List<Waiting> all() {
        return waiting;
    }

    void add(long time, boolean alone, InternalRow row) {
        Waiting record = new Waiting(time, next++, alone);
        added.put(record.id, row);
        waiting.add(firstFrom(time + 1), record);
    }

    InternalRow row(Waiting record) {
        InternalRow fresh = added.get(record.id);
        return fresh != null ? fresh : rows.getValue(record.id);
    }

    /** Forget the records that are older than this. */
    void forget(long oldest) {
        List<Waiting> old = waiting.subList(0, firstFrom(oldest));
        for (Waiting record : old) {
            if (added.remove(record.id) == null) {
                rows.removeKey(record.id);
            }
        }
        old.clear();
    }

    /** Write the rows that came; returns what else is to be kept. */
    long[] save() {
        long[] saved = new long[waiting.size() * FIELDS];
        int index = 0;
        for (Waiting record : waiting) {
            InternalRow row = added.get(record.id);
            if (row != null) {
                rows.updateValue(record.id, row);
            }
            saved[index++] = record.time;
            saved[index++] = record.id;
            saved[index++] = record.alone ? 1 : 0;
        }
        return saved;
    }

    private int firstFrom(long time) {
        int low = 0;
        int high = waiting.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (waiting.get(middle).time < time) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
