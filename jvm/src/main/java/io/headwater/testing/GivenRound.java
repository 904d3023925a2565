package io.headwater.testing;

import java.util.HashSet;
import java.util.Set;

/**
 * Up to where a query reads: all of its sources the same, so that what is given together is one batch.
 *
 * <p>Spark asks the sources of a query one after the other. The one that it asks a second time begins
 * a new round.
 */
final class GivenRound {

    /** A query with nothing to do looks so often whether it was stopped, or has a timeout. */
    private static final int LONGEST_WAIT_MS = 50;

    private final Set<GivenStream> asked = new HashSet<>();
    private int released;
    private int end;
    private int emptyRounds;

    /** Begin anew with the next question: the query has been started, and has other sources. */
    synchronized void start() {
        asked.clear();
    }

    synchronized void release(int count) {
        released = count;
        notifyAll();
    }

    /** Return where a source's records end in the round at hand. */
    synchronized int endFor(GivenStream source) {
        if (asked.isEmpty() || asked.contains(source)) {
            begin();
        }
        asked.add(source);
        return end;
    }

    private void begin() {
        asked.clear();
        // Of an empty round Spark may make a batch, since time has moved on; and after it, it has
        // to hear that there is nothing, to know that it is done.
        if (released == end && ++emptyRounds > 2) {
            try {
                wait(LONGEST_WAIT_MS);
            } catch (InterruptedException stopped) {
                // Spark expects no such exception here, and looks for itself before it goes on.
                Thread.currentThread().interrupt();
            }
        }
        if (released != end) {
            end = released;
            emptyRounds = 0;
        }
    }
}
