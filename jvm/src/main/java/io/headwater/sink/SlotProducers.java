package io.headwater.sink;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This executor's producers, kept between batches so that a batch costs its transaction only.
 *
 * <p>A producer that is taken is in nobody else's hands: a second attempt of the same task opens
 * its own, and so fences the first.
 */
final class SlotProducers {

    private static final Logger LOG = LoggerFactory.getLogger(SlotProducers.class);
    private static final long LOOK_EVERY_S = 10;
    private static final Duration CLOSED_WITHIN = Duration.ofSeconds(10);
    private static final Duration SHUT_DOWN_WITHIN = Duration.ofSeconds(1);

    private static final Map<String, SlotProducer> FREE = new HashMap<>();
    private static final Set<SlotProducer> TAKEN = new HashSet<>();
    private static final ScheduledExecutorService CLOSER =
            Executors.newSingleThreadScheduledExecutor(SlotProducers::daemon);

    static {
        CLOSER.scheduleWithFixedDelay(
                SlotProducers::closeIdle, LOOK_EVERY_S, LOOK_EVERY_S, TimeUnit.SECONDS);
        Runtime.getRuntime().addShutdownHook(
                new Thread(SlotProducers::closeAll, "headwater-sink-shutdown"));
    }

    private SlotProducers() {}

    /** The slot's producer, ready to begin a transaction. */
    static SlotProducer take(SinkSettings settings, int slot) {
        SlotProducer free;
        synchronized (FREE) {
            free = FREE.remove(settings.transactionalId(slot));
        }
        if (free != null && !free.serves(settings)) {
            discard(free);
            free = null;
        }
        SlotProducer taken = free == null ? SlotProducer.open(settings, slot) : free;
        synchronized (FREE) {
            TAKEN.add(taken);
        }
        return taken;
    }

    /** Keep it for the next batch. */
    static void giveBack(SlotProducer producer) {
        SlotProducer fenced;
        synchronized (FREE) {
            TAKEN.remove(producer);
            fenced = FREE.put(producer.id(), producer);
        }
        if (fenced != null) {
            discard(fenced);
        }
    }

    /** Close it without waiting, since the next attempt can fence it at once. */
    static void discard(SlotProducer producer) {
        synchronized (FREE) {
            TAKEN.remove(producer);
        }
        CLOSER.execute(() -> close(producer, CLOSED_WITHIN));
    }

    private static void closeIdle() {
        long now = System.nanoTime();
        Set<SlotProducer> idle = new HashSet<>();
        synchronized (FREE) {
            Iterator<SlotProducer> free = FREE.values().iterator();
            while (free.hasNext()) {
                SlotProducer producer = free.next();
                if (producer.isIdle(now)) {
                    free.remove();
                    idle.add(producer);
                }
            }
        }
        idle.forEach(producer -> close(producer, CLOSED_WITHIN));
    }

    private static void closeAll() {
        Set<SlotProducer> all;
        synchronized (FREE) {
            all = new HashSet<>(FREE.values());
            all.addAll(TAKEN);
        }
        all.forEach(producer -> close(producer, SHUT_DOWN_WITHIN));
    }

    private static void close(SlotProducer producer, Duration within) {
        try {
            producer.close(within);
        } catch (RuntimeException error) {
            // Its successor, or the broker's time limit, ends what it left open.
            LOG.warn("Producer {} did not close cleanly", producer.id(), error);
        }
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "headwater-sink-closer");
        thread.setDaemon(true);
        return thread;
    }
}
