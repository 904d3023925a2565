package io.headwater.sink;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.kafka.common.errors.ProducerFencedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's side of one run of a query: it ends what earlier runs left, once, and says of the
 * first batch what is in the topic already.
 */
final class Run {

    private static final Logger LOG = LoggerFactory.getLogger(Run.class);
    private static final Map<String, Run> BY_NAME = new ConcurrentHashMap<>();
    private static final Set<String> REPLACED = ConcurrentHashMap.newKeySet();

    private final SinkSettings settings;
    private Map<Integer, BatchMarker> found;
    private int slots;

    private Run(SinkSettings settings) {
        this.settings = settings;
    }

    /** The run that these settings name; a new one ends its predecessor, for good. */
    static Run of(SinkSettings settings) {
        if (REPLACED.contains(settings.run())) {
            throw SinkException.of(
                    new ProducerFencedException("a later run replaced this one"),
                    settings.topic(),
                    settings);
        }
        return BY_NAME.compute(settings.name(), (name, known) -> {
            if (known != null && known.settings.run().equals(settings.run())) {
                return known;
            }
            if (known != null) {
                REPLACED.add(known.settings.run());
            }
            return new Run(settings);
        });
    }

    static void forget(SinkSettings settings) {
        BY_NAME.remove(settings.name());
    }

    /** Get ready for a batch of so many tasks. */
    synchronized Replay prepare(long batch, int tasks) {
        if (found == null || tasks > slots) {
            try (MarkerGroup group = new MarkerGroup(settings)) {
                if (found == null) {
                    found = recover(group, tasks);
                }
                group.makeRoom(tasks);
                if (tasks > slots) {
                    group.announce(tasks);
                    slots = tasks;
                }
            }
        }
        Replay replay = Replay.of(found, batch, tasks, settings);
        if (replay.complete()) {
            LOG.warn("Query {}: batch {} is in the topic already and is not written again",
                    settings.name(), batch);
        } else if (!replay.committed().isEmpty()) {
            LOG.warn("Query {}: of batch {} {} of {} tasks are in the topic; writing the others",
                    settings.name(), batch, replay.committed().size(), tasks);
        }
        return replay;
    }

    /** A batch is complete: from here on, what earlier runs left matters no more. */
    synchronized void completed(long batch) {
        found = Map.of(0, new BatchMarker(batch, 1, 0, settings.checkpoint()));
    }

    private Map<Integer, BatchMarker> recover(MarkerGroup group, int tasks) {
        if (settings.topic() != null) {
            group.requireTopic(settings.topic());
        }
        slots = group.slots();
        group.fence(Math.max(slots, tasks));
        return group.markers();
    }
}
