package io.headwater.operators;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
 * Folds the rows of a key into sessions, which end after a gap without rows.
 *
 * <p>A row joins the sessions that it is near to, which become one. Those whose start or end has
 * changed come out once more, without a state, before the new one does: they are gone. A session is
 * closed when the gap and the grace after its end lie behind the latest time seen. A row that would
 * only make a closed session is late; it comes out marked, without a state, and changes nothing.
 */
final class SessionAggregation extends EventTimeOperator {
    private static final long serialVersionUID = 1L;

    private static final long NO_TIMER = Long.MAX_VALUE;
    private static final StructType CLOCK =
            new StructType()
                    .add("seen", DataTypes.LongType, false)
                    .add("timer", DataTypes.LongType, false)
                    .add("bounds", DataTypes.createArrayType(DataTypes.LongType, false), false);

    private final Fold merge;
    private final long gap;
    private final long patience;
    private transient ValueState<InternalRow> clock;
    private transient MapState<Long, InternalRow> aggregates;

    SessionAggregation(
            StructType input, Fold fold, Fold merge, long gap, long grace, Emit emit) {
        super(input, fold, emit);
        if (gap <= 0 || grace < 0) {
            throw new IllegalArgumentException(
                    "sessions have a gap above 0 and a grace of at least 0; not gap "
                            + gap
                            + ", grace "
                            + grace
                            + " microseconds");
        }
        this.merge = merge;
        this.gap = gap;
        this.patience = Math.addExact(gap, grace);
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        super.init(outputMode, timeMode);
        clock = state("clock", CLOCK);
        aggregates =
                getHandle()
                        .getMapState(
                                "sessions",
                                Encoders.LONG(),
                                StructEncoder.of("aggregate", fold.fields()),
                                TTLConfig.NONE());
    }

    @Override
    void process(List<InternalRow> rows, TimerValues time, List<InternalRow> results) {
        InternalRow saved = clock.get();
        Sessions sessions = sessionsOf(saved);
        Set<Session.Bounds> shown = new HashSet<>(sessions.bounds());
        Map<Session.Bounds, Change> last = new LinkedHashMap<>();
        long seen = Math.max(saved == null ? Long.MIN_VALUE : saved.getLong(0), watermark(time));
        for (InternalRow row : rows) {
            InternalRow values = values(row);
            InternalRow carried = carried(row);
            long at = timeOf(values);
            seen = Math.max(seen, at);
            close(sessions, seen, carried, results);
            List<Session> near = sessions.near(at, gap);
            if (near.isEmpty() && isClosed(at, seen)) {
                InternalRow order = Layout.order(row, results.size());
                results.add(row(carried, null, at, at, true, false, order));
                continue;
            }
            Session session = new Session(at, at, null);
            for (Session each : near) {
                session = session.with(each, merge);
            }
            session = session.changed(fold.after(session.aggregate(), values));
            sessions.replace(near, session);
            for (Session each : near) {
                if (!each.bounds().equals(session.bounds())) {
                    last.remove(each.bounds());
                    if (emit == Emit.EACH || shown.contains(each.bounds())) {
                        change(new Change(row, each.bounds(), null), last, results);
                    }
                }
            }
            change(new Change(row, session.bounds(), session.aggregate()), last, results);
        }
        if (emit == Emit.LAST) {
            last.values().forEach(each -> results.add(result(each, results.size())));
        }
        save(seen, saved == null ? NO_TIMER : saved.getLong(1), sessions);
    }

    @Override
    void expire(long fired, TimerValues time, InternalRow carried, List<InternalRow> results) {
        InternalRow saved = clock.get();
        if (saved != null) {
            Sessions sessions = sessionsOf(saved);
            long seen = Math.max(saved.getLong(0), watermark(time));
            close(sessions, seen, carried, results);
            long timer = saved.getLong(1);
            save(seen, timer <= fired ? NO_TIMER : timer, sessions);
        }
    }

    private void change(
            Change change, Map<Session.Bounds, Change> last, List<InternalRow> results) {
        switch (emit) {
            case EACH -> results.add(result(change, results.size()));
            case LAST -> {
                last.remove(change.bounds);
                last.put(change.bounds, change);
            }
            case FINAL -> {}
        }
    }

    private InternalRow result(Change change, int others) {
        return row(
                carried(change.row),
                change.aggregate,
                change.bounds.start(),
                change.bounds.end(),
                false,
                true,
                Layout.order(change.row, others));
    }

    private Sessions sessionsOf(InternalRow saved) {
        long[] bounds = saved == null ? new long[0] : saved.getArray(2).toLongArray();
        return new Sessions(bounds, aggregates);
    }

    private void close(
            Sessions sessions, long seen, InternalRow carried, List<InternalRow> results) {
        Session oldest = sessions.oldest();
        while (oldest != null && isClosed(oldest.end(), seen)) {
            if (emit == Emit.FINAL) {
                InternalRow state = oldest.aggregate();
                results.add(
                        closing(carried, state, oldest.start(), oldest.end(), results.size()));
            }
            sessions.replace(List.of(oldest), null);
            oldest = sessions.oldest();
        }
    }

    private boolean isClosed(long end, long seen) {
        return Math.addExact(end, patience) < seen;
    }

    private void save(long seen, long timer, Sessions sessions) {
        sessions.save();
        Session oldest = sessions.oldest();
        if (oldest == null && hasTimers()) {
            // The watermark remembers what this key has seen, at the latest in the next batch.
            clock.clear();
            return;
        }
        long next = timer;
        if (oldest != null && hasTimers()) {
            // At this millisecond the session is closed for certain. A timer that fires before,
            // since the session went on, is set again: so one that goes on needs no others.
            long due = Math.floorDiv(Math.addExact(oldest.end(), patience), 1000L) + 1;
            if (due < timer) {
                getHandle().registerTimer(due);
                next = due;
            }
        }
        clock.update(row(seen, next, sessions.savedBounds()));
    }

    /** What a row has made of a session; without an aggregate, the session is gone. */
    private record Change(InternalRow row, Session.Bounds bounds, InternalRow aggregate) {}
}
