package io.headwater.operators;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.streaming.MapState;

/**
 * The windows that are kept of one key, during one call; those that start earlier end earlier.
 *
 * <p>Starts and ends are read and written together; an aggregate is read when it is asked for, and
 * written if it has changed.
 */
final class OpenWindows {
    private final TreeMap<Long, OpenWindow> byStart = new TreeMap<>();
    private final Set<Long> stored = new HashSet<>();
    private final MapState<Long, InternalRow> aggregates;

    OpenWindows(long[] bounds, MapState<Long, InternalRow> aggregates) {
        this.aggregates = aggregates;
        for (int index = 0; index < bounds.length; index += 2) {
            long start = bounds[index];
            stored.add(start);
            put(OpenWindow.of(start, bounds[index + 1], () -> aggregates.getValue(start)));
        }
    }

    List<OpenWindow.Bounds> bounds() {
        return byStart.values().stream().map(OpenWindow::bounds).toList();
    }

    /** Starts and ends in one array, for the state. */
    ArrayData savedBounds() {
        long[] bounds = new long[byStart.size() * 2];
        int index = 0;
        for (OpenWindow window : byStart.values()) {
            bounds[index++] = window.start();
            bounds[index++] = window.end();
        }
        return UnsafeArrayData.fromPrimitiveArray(bounds);
    }

    OpenWindow oldest() {
        return valueOf(byStart.firstEntry());
    }

    /** The window that starts at this time, or null. */
    OpenWindow at(long start) {
        return byStart.get(start);
    }

    /** The last window that starts before this time, or null. */
    OpenWindow before(long start) {
        return valueOf(byStart.lowerEntry(start));
    }

    /** The first window that starts after this time, or null. */
    OpenWindow after(long start) {
        return valueOf(byStart.higherEntry(start));
    }

    /** The windows that start after the one time and not after the other, oldest first. */
    List<OpenWindow> startingIn(long after, long until) {
        NavigableMap<Long, OpenWindow> found = byStart.subMap(after, false, until, true);
        return new ArrayList<>(found.values());
    }

    /** The windows that begin or end within so much of this time, or hold it, oldest first. */
    List<OpenWindow> near(long time, long gap) {
        List<OpenWindow> near = new ArrayList<>();
        for (OpenWindow window : byStart.headMap(time + gap, true).descendingMap().values()) {
            if (window.end() < time - gap) {
                break;
            }
            near.add(0, window);
        }
        return near;
    }

    void put(OpenWindow window) {
        byStart.put(window.start(), window);
    }

    void remove(OpenWindow window) {
        byStart.remove(window.start());
    }

    void save() {
        for (long start : stored) {
            if (!byStart.containsKey(start)) {
                aggregates.removeKey(start);
            }
        }
        for (OpenWindow window : byStart.values()) {
            if (window.isChanged()) {
                aggregates.updateValue(window.start(), window.aggregate());
            }
        }
    }

    private static OpenWindow valueOf(Map.Entry<Long, OpenWindow> entry) {
        return entry == null ? null : entry.getValue();
    }
}
