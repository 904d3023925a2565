package io.headwater.operators;

import java.io.Serializable;

/**
 * Which records of two streams belong together, in microseconds: a right one is at most so much
 * older ({@code before}) and so much newer ({@code after}) than the left one.
 */
record JoinSpan(long before, long after, long grace) implements Serializable {
    JoinSpan {
        if (before < 0 || after < 0 || grace < 0) {
            throw new IllegalArgumentException(
                    "a join has a span and a grace of at least 0; not before "
                            + before
                            + ", after "
                            + after
                            + ", grace "
                            + grace
                            + " microseconds");
        }
    }

    /** How much older than a record of this side its partners may be. */
    long back(boolean left) {
        return left ? before : after;
    }

    /** How much newer than a record of this side its partners may be. */
    long reach(boolean left) {
        return left ? after : before;
    }

    /** The last moment at which a record of this side that met nobody may still meet somebody. */
    long patience(long time, boolean left) {
        return Math.addExact(Math.addExact(time, reach(left)), grace);
    }

    /** How long a record is kept, for those that come late and reach back to it. */
    long retention() {
        return Math.addExact(Math.addExact(before, after), grace);
    }
}
