package io.headwater.operators;

import java.util.List;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Keeps windows whose bounds follow from the rows: starts and ends in one value of state, aggregates
 * in a map, and one timer for each key, which is set again when it fires too early.
 */
abstract class OpenWindowsOperator extends EventTimeOperator {
    private static final long serialVersionUID = 1L;

    private static final StructType CLOCK =
            new StructType()
                    .add("seen", DataTypes.LongType, false)
                    .add("timer", DataTypes.LongType, false)
                    .add("bounds", DataTypes.createArrayType(DataTypes.LongType, false), false);

    private transient ValueState<InternalRow> clock;
    private transient MapState<Long, InternalRow> aggregates;

    OpenWindowsOperator(StructType input, Fold fold, Emit emit) {
        super(input, fold, emit);
    }

    /** Take the rows, given the latest time seen before them; returns the latest time with them. */
    abstract long take(
            List<InternalRow> rows, OpenWindows windows, long seen, List<InternalRow> results);

    /** Give out and forget what has closed since a time was seen, now that another one is. */
    abstract void close(
            OpenWindows windows,
            long before,
            long seen,
            InternalRow carried,
            List<InternalRow> results);

    /** The first microsecond at which there will be something to close, or never. */
    abstract long nextClose(OpenWindows windows, long seen);

    @Override
    public final void init(OutputMode outputMode, TimeMode timeMode) {
        super.init(outputMode, timeMode);
        clock = state("clock", CLOCK);
        aggregates =
                getHandle()
                        .getMapState(
                                "windows",
                                Encoders.LONG(),
                                StructEncoder.of("aggregate", fold.fields()),
                                TTLConfig.NONE());
    }

    @Override
    final void process(List<InternalRow> rows, TimerValues time, List<InternalRow> results) {
        InternalRow saved = clock.get();
        OpenWindows windows = windowsOf(saved);
        long before = saved == null ? Long.MIN_VALUE : saved.getLong(0);
        long seen = Math.max(before, watermark(time));
        close(windows, before, seen, carried(rows.get(0)), results);
        long latest = take(rows, windows, seen, results);
        save(latest, saved == null ? NEVER : saved.getLong(1), windows);
    }

    @Override
    final void expire(long fired, TimerValues time, InternalRow carried, List<InternalRow> results) {
        InternalRow saved = clock.get();
        if (saved != null) {
            OpenWindows windows = windowsOf(saved);
            long before = saved.getLong(0);
            long seen = Math.max(before, watermark(time));
            close(windows, before, seen, carried, results);
            long timer = saved.getLong(1);
            save(seen, timer <= fired ? NEVER : timer, windows);
        }
    }

    private OpenWindows windowsOf(InternalRow saved) {
        long[] bounds = saved == null ? new long[0] : saved.getArray(2).toLongArray();
        return new OpenWindows(bounds, aggregates);
    }

    private void save(long seen, long timer, OpenWindows windows) {
        windows.save();
        if (hasTimers() && windows.oldest() == null) {
            // The watermark remembers what this key has seen, at the latest in the next batch.
            clock.clear();
            return;
        }
        long next = timer;
        if (hasTimers()) {
            // Rounded up: at this millisecond there is something to close for certain, unless the
            // window has gone on. So one that goes on needs no other timer.
            long due = -Math.floorDiv(-nextClose(windows, seen), 1000L);
            if (due < timer) {
                getHandle().registerTimer(due);
                next = due;
            }
        }
        clock.update(row(seen, next, windows.savedBounds()));
    }
}
