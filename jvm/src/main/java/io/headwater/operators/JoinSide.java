package io.headwater.operators;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.expressions.UnsafeMapData;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The records of one stream that those of the other may still meet, for the key at hand.
 *
 * <p>When each of them was is in one array, so that looking for partners reads nothing else. What
 * they were stands beside it as long as that is little, which is all that most keys ever have: they
 * are read and written at once. When it becomes more, the records that stand there move to a map, of
 * which only those who meet somebody are read.
 */
final class JoinSide {
    /** How many bytes of records stand beside their times, about. */
    static final int BYTES_BESIDE = 4096;

    private static final int FIELDS = 3;
    private static final long ALONE = 1;
    private static final long BESIDE = 2;

    private final MapState<Long, InternalRow> moved;
    private final List<Waiting> waiting;
    private long next;

    /** The latest time of its own records. */
    long latest;

    /** Read what was saved; null for a key that is new. */
    JoinSide(MapState<Long, InternalRow> moved, InternalRow saved) {
        this.moved = moved;
        if (saved == null) {
            latest = Long.MIN_VALUE;
            waiting = new ArrayList<>();
            return;
        }
        latest = saved.getLong(0);
        long[] times = saved.getArray(1).toLongArray();
        ArrayData rows = saved.getArray(2);
        waiting = new ArrayList<>(times.length / FIELDS + 1);
        int row = 0;
        for (int index = 0; index < times.length; index += FIELDS) {
            long id = times[index + 1];
            long flags = times[index + 2];
            InternalRow beside = (flags & BESIDE) == 0 ? null : rows.getStruct(row++, 2);
            waiting.add(new Waiting(times[index], id, (flags & ALONE) != 0, beside));
            next = Math.max(next, id + 1);
        }
    }

    /** What is saved of a stream whose records have these fields. */
    static StructType fields(StructType record) {
        return new StructType()
                .add("latest", DataTypes.LongType, false)
                .add("times", DataTypes.createArrayType(DataTypes.LongType, false), false)
                .add("rows", DataTypes.createArrayType(record, false), false);
    }

    /** One record: its time, its place among those of the same time, whether it met nobody yet. */
    static final class Waiting {
        final long time;
        final long id;
        boolean alone;

        /** Null where it has moved to the map. */
        private InternalRow row;

        private Waiting(long time, long id, boolean alone, InternalRow row) {
            this.time = time;
            this.id = id;
            this.alone = alone;
            this.row = row;
        }
    }

    /**
     * The records of these times, the oldest first, and of equals the first that came. There are none
     * where the times begin after their end, as they do for a record that is later than all are kept.
     */
    List<Waiting> between(long from, long to) {
        int first = firstFrom(from);
        return waiting.subList(first, Math.max(first, firstFrom(to + 1)));
    }

    List<Waiting> all() {
        return waiting;
    }

    void add(long time, boolean alone, InternalRow row) {
        waiting.add(firstFrom(time + 1), new Waiting(time, next++, alone, row));
    }

    InternalRow row(Waiting record) {
        return record.row != null ? record.row : moved.getValue(record.id);
    }

    /** Forget the records that are older than this. */
    void forget(long oldest) {
        if (waiting.isEmpty() || waiting.get(0).time >= oldest) {
            return;
        }
        List<Waiting> old = waiting.subList(0, firstFrom(oldest));
        for (Waiting record : old) {
            if (record.row == null) {
                moved.removeKey(record.id);
            }
        }
        old.clear();
    }

    /** Return what is to be saved; rows that would make too much of it move to the map first. */
    InternalRow save() {
        moveIfMany();
        long[] times = new long[waiting.size() * FIELDS];
        List<InternalRow> rows = new ArrayList<>();
        int index = 0;
        for (Waiting record : waiting) {
            boolean beside = record.row != null;
            if (beside) {
                rows.add(record.row);
            }
            times[index++] = record.time;
            times[index++] = record.id;
            times[index++] = (record.alone ? ALONE : 0) | (beside ? BESIDE : 0);
        }
        return Operator.row(
                latest,
                UnsafeArrayData.fromPrimitiveArray(times),
                new GenericArrayData(rows.toArray()));
    }

    private void moveIfMany() {
        long bytes = 0;
        for (Waiting record : waiting) {
            bytes += record.row == null ? 0 : size(record.row);
        }
        if (bytes <= BYTES_BESIDE) {
            return;
        }
        for (Waiting record : waiting) {
            if (record.row != null) {
                moved.updateValue(record.id, record.row);
                record.row = null;
            }
        }
    }

    private static long size(InternalRow record) {
        if (record instanceof UnsafeRow saved) {
            return saved.getSizeInBytes();
        }
        Object[] values = ((GenericInternalRow) record).values();
        return sizeOf(values[0]) + sizeOf(values[1]);
    }

    private static long sizeOf(Object value) {
        if (value instanceof UnsafeRow row) {
            return row.getSizeInBytes();
        }
        if (value instanceof UTF8String text) {
            return text.numBytes();
        }
        if (value instanceof byte[] bytes) {
            return bytes.length;
        }
        if (value instanceof UnsafeArrayData array) {
            return array.getSizeInBytes();
        }
        return value instanceof UnsafeMapData map ? map.getSizeInBytes() : Long.BYTES;
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
