package io.headwater.operators;

import java.io.Serializable;

/** Tumbling or hopping windows in microseconds, aligned to the epoch, each named by its start. */
record Windows(long size, long advance, long grace) implements Serializable {
    Windows {
        if (size <= 0 || advance <= 0 || advance > size || grace < 0) {
            throw new IllegalArgumentException(
                    "a window has a size above 0, advances by more than 0 and at most its size,"
                            + " and has a grace of at least 0; not size "
                            + size
                            + ", advance "
                            + advance
                            + ", grace "
                            + grace
                            + " microseconds");
        }
    }

    /** The first window that holds a time; the others follow, an advance apart. */
    long firstStart(long time) {
        long earliest = Math.floorDiv(time - size, advance) * advance + advance;
        // As in Kafka Streams: no window begins before the epoch, unless the record is older.
        return time >= 0 ? Math.max(0, earliest) : earliest;
    }

    /** Whether a window takes no more rows once this time has been seen. */
    boolean closed(long start, long seen) {
        return closesAt(start) <= seen;
    }

    long closesAt(long start) {
        return Math.addExact(Math.addExact(start, size), grace);
    }
}
