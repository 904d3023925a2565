package io.headwater.operators;

/** Which results of a window come out. */
enum Emit {
    /** One for each row. */
    EACH,
    /** The last one of each batch. */
    LAST,
    /** The last one of all, when the window has closed. */
    FINAL;

    static Emit of(String word) {
        for (Emit emit : values()) {
            if (emit.name().equalsIgnoreCase(word)) {
                return emit;
            }
        }
        throw new IllegalArgumentException(
                "results are given out each, last or final, not " + word);
    }
}
