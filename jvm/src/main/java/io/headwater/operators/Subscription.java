package io.headwater.operators;

/** What a left row of a foreign-key join tells a foreign key; rows carry its ordinal. */
enum Subscription {
    /** It refers to it, and did so before. */
    ENTER,
    /** It refers to it, and to another one before, which is told to {@link #LEAVE}. */
    MOVE,
    /** It refers to another one now, which tells what comes out. */
    LEAVE,
    /** It refers to none any more. */
    DELETE,
    /** It refers to it, and was not in the table before. */
    BEGIN;

    static Subscription of(int ordinal) {
        return values()[ordinal];
    }
}
