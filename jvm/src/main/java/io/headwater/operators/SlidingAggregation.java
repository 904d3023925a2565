package io.headwater.operators;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Folds the rows of a key into windows that slide over them: for each row one that ends with it, and
 * one that begins right after it if that has any rows.
 *
 * <p>Windows have the length of the time difference, both ends included, and begin at a millisecond.
 * None begins before the epoch: rows that are closer to it than the difference share the window that
 * begins there. A window is closed when its end and the grace lie behind the latest time seen. It is
 * kept for so much longer as later ones may be made of it. A row is late when even the window that
 * begins after it is closed; it comes out marked, without a state, and changes nothing.
 */
final class SlidingAggregation extends OpenWindowsOperator {
    private static final long serialVersionUID = 1L;

    private static final long MILLISECOND = 1000L;

    private final long size;
    private final long grace;

    SlidingAggregation(StructType input, Fold fold, long size, long grace, Emit emit) {
        super(input, fold, emit);
        if (size < 0 || grace < 0) {
            throw new IllegalArgumentException(
                    "sliding windows have a time difference and a grace of at least 0; not "
                            + size
                            + " and "
                            + grace
                            + " microseconds");
        }
        this.size = size;
        this.grace = grace;
    }

    @Override
    long take(List<InternalRow> rows, OpenWindows windows, long before, List<InternalRow> results) {
        Map<Long, InternalRow> lastResults = new HashMap<>();
        long seen = before;
        for (InternalRow row : rows) {
            long earlier = seen;
            InternalRow values = values(row);
            long at = millisecond(timeOf(values));
            seen = Math.max(seen, timeOf(values));
            close(windows, earlier, seen, carried(row), results);
            if (isClosed(at + MILLISECOND, seen)) {
                InternalRow order = Layout.order(row, results.size());
                results.add(row(carried(row), null, at - size, at, true, false, order));
                continue;
            }
            Taking taking = new Taking(row, values, at, seen, windows, results, lastResults);
            if (at >= 0 && at < size) {
                taking.nearTheEpoch();
            } else {
                taking.anywhere();
            }
        }
        lastResults.values().forEach(result -> result.setBoolean(LAST, true));
        return seen;
    }

    @Override
    void close(
            OpenWindows windows,
            long before,
            long seen,
            InternalRow carried,
            List<InternalRow> results) {
        if (emit == Emit.FINAL && before < seen) {
            long after = before == Long.MIN_VALUE ? before : before - grace - size;
            for (OpenWindow each : windows.startingIn(after, seen - grace - size)) {
                results.add(closing(carried, each, results.size()));
            }
        }
        OpenWindow oldest = windows.oldest();
        while (oldest != null && forgottenAt(oldest) <= seen) {
            windows.remove(oldest);
            oldest = windows.oldest();
        }
    }

    @Override
    long nextClose(OpenWindows windows, long seen) {
        OpenWindow oldest = windows.oldest();
        if (oldest == null) {
            return NEVER;
        }
        OpenWindow open = emit == Emit.FINAL ? windows.after(seen - grace - size) : null;
        long closes = open == null ? NEVER : open.end() + grace;
        return Math.min(closes, forgottenAt(oldest));
    }

    /** When no row can need it any more: the last one that may is right after its end. */
    private long forgottenAt(OpenWindow window) {
        return Math.addExact(window.end(), size + MILLISECOND + grace);
    }

    private boolean isClosed(long start, long seen) {
        return Math.addExact(start, size + grace) <= seen;
    }

    /** The time of the latest row in it, which is the last field of its state. */
    private long latest(InternalRow aggregate) {
        return millisecond(aggregate.getLong(fold.fields().length() - 1));
    }

    private static long millisecond(long time) {
        return Math.floorDiv(time, MILLISECOND) * MILLISECOND;
    }

    /** One row, and the windows that it changes or makes, in the order of Kafka Streams. */
    private final class Taking {
        private final InternalRow row;
        private final InternalRow values;
        private final long at;
        private final long seen;
        private final OpenWindows windows;
        private final List<InternalRow> results;
        private final Map<Long, InternalRow> lastResults;

        Taking(
                InternalRow row,
                InternalRow values,
                long at,
                long seen,
                OpenWindows windows,
                List<InternalRow> results,
                Map<Long, InternalRow> lastResults) {
            this.row = row;
            this.values = values;
            this.at = at;
            this.seen = seen;
            this.windows = windows;
            this.results = results;
            this.lastResults = lastResults;
        }

        void anywhere() {
            OpenWindow own = windows.at(at - size);
            InternalRow ownBefore = own == null ? null : own.aggregate();
            List<OpenWindow> holding = windows.startingIn(at - size, at);
            Collections.reverse(holding);
            InternalRow following = holding.isEmpty() ? null : holding.get(0).aggregate();
            holding.forEach(this::add);
            if (own != null) {
                add(own);
                if (latest(ownBefore) >= at) {
                    return; // a row of the same time has made all that there are to make
                }
            }
            OpenWindow ended = windows.before(at - size);
            boolean isNear = ended != null && ended.end() >= at - size;
            InternalRow preceding = isNear ? ended.aggregate() : ownBefore;
            if (preceding != null) {
                long next = latest(preceding) + MILLISECOND;
                if (windows.at(next) == null && next + size >= at) {
                    make(next, fold.after(null, values));
                }
            }
            if (windows.at(at - size) == null) {
                boolean isHeld = preceding != null && latest(preceding) >= at - size;
                make(at - size, fold.after(isHeld ? preceding : null, values));
            }
            makeFollowing(following);
        }

        /** The window that begins with the epoch is that of all rows of which it is the first. */
        void nearTheEpoch() {
            OpenWindow first = windows.at(0);
            InternalRow all = first == null ? null : first.aggregate();
            List<OpenWindow> holding = windows.startingIn(0, at);
            InternalRow following =
                    holding.isEmpty() ? all : holding.get(holding.size() - 1).aggregate();
            holding.forEach(this::add);
            makeFollowing(following);
            if (all != null && latest(all) < at) {
                long next = latest(all) + MILLISECOND;
                if (windows.at(next) == null) {
                    make(next, fold.after(null, values));
                }
            }
            make(0, fold.after(all, values));
        }

        /** Begin a window after the row, if it has rows; they are in what was there before. */
        private void makeFollowing(InternalRow following) {
            if (windows.at(at + MILLISECOND) == null
                    && following != null
                    && latest(following) > at) {
                make(at + MILLISECOND, following);
            }
        }

        private void add(OpenWindow window) {
            if (!isClosed(window.start(), seen)) {
                make(window.start(), fold.after(window.aggregate(), values));
            }
        }

        private void make(long start, InternalRow aggregate) {
            if (isClosed(start, seen)) {
                return;
            }
            long end = start + size;
            windows.put(OpenWindow.of(start, end, aggregate));
            if (emit != Emit.FINAL) {
                InternalRow order = Layout.order(row, results.size());
                InternalRow result =
                        Operator.row(carried(row), aggregate, start, end, false, false, order);
                results.add(result);
                lastResults.put(start, result);
            }
        }
    }
}
