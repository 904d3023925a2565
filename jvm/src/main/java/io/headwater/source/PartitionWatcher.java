package io.headwater.source;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the batches of queries in real-time mode whose topics got more partitions, or are gone.
 *
 * <p>Spark looks for them when a batch begins, and a batch without records is a long one. One
 * request asks for the topics of all queries that read from a cluster.
 */
final class PartitionWatcher {

    private static final Logger LOG = LoggerFactory.getLogger(PartitionWatcher.class);
    private static final int ASK_EVERY_S = 10;
    private static final int ANSWER_WITHIN_MS = 5_000;
    private static final ScheduledExecutorService THREAD =
            Executors.newSingleThreadScheduledExecutor(task -> {
                Thread thread = new Thread(task, "headwater-partition-watcher");
                thread.setDaemon(true);
                return thread;
            });

    /** By the clusters' settings. */
    private static final Map<Map<String, Object>, PartitionWatcher> WATCHERS = new HashMap<>();

    static {
        THREAD.scheduleWithFixedDelay(
                PartitionWatcher::askAll, ASK_EVERY_S, ASK_EVERY_S, TimeUnit.SECONDS);
    }

    private final Map<String, Object> settings;
    private final Map<TopicStream, Reading> readings = new HashMap<>();
    private Admin admin;

    /** How many partitions of which topics a query reads from one source. */
    private record Reading(String query, Map<String, Integer> partitions) {}

    private PartitionWatcher(Map<String, Object> settings) {
        this.settings = settings;
    }

    /** Watch for changes to what a query's stream reads. */
    static void watch(
            Map<String, Object> settings,
            TopicStream stream,
            String query,
            Map<String, Integer> partitions) {
        synchronized (WATCHERS) {
            WATCHERS.computeIfAbsent(settings, PartitionWatcher::new)
                    .readings
                    .put(stream, new Reading(query, partitions));
        }
    }

    static void forget(Map<String, Object> settings, TopicStream stream) {
        synchronized (WATCHERS) {
            PartitionWatcher watcher = WATCHERS.get(settings);
            if (watcher != null) {
                watcher.readings.remove(stream);
                if (watcher.readings.isEmpty()) {
                    WATCHERS.remove(settings);
                    THREAD.execute(watcher::close);
                }
            }
        }
    }

    private static void askAll() {
        Map<PartitionWatcher, Set<Reading>> asked = new HashMap<>();
        synchronized (WATCHERS) {
            WATCHERS.values().forEach(
                    each -> asked.put(each, new HashSet<>(each.readings.values())));
        }
        asked.forEach((watcher, readings) -> {
            try {
                watcher.ask(readings);
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            } catch (ExecutionException | RuntimeException failure) {
                LOG.warn("New partitions are not noticed for now", failure);
            }
        });
    }

    private void ask(Set<Reading> readings) throws InterruptedException, ExecutionException {
        if (admin == null) {
            Map<String, Object> known = new HashMap<>(settings);
            known.keySet().retainAll(AdminClientConfig.configNames());
            admin = Admin.create(known);
        }
        Set<String> topics = new HashSet<>();
        readings.forEach(each -> topics.addAll(each.partitions().keySet()));
        DescribeTopicsOptions options = new DescribeTopicsOptions().timeoutMs(ANSWER_WITHIN_MS);
        Map<String, Integer> now = new HashMap<>();
        for (Map.Entry<String, KafkaFuture<TopicDescription>> each :
                admin.describeTopics(topics, options).topicNameValues().entrySet()) {
            now.put(each.getKey(), count(each.getValue()));
        }
        for (Reading each : readings) {
            if (!each.partitions().entrySet().stream()
                    .allMatch(topic -> topic.getValue().equals(now.get(topic.getKey())))) {
                RealTimeBatch.end(each.query());
            }
        }
    }

    private static int count(KafkaFuture<TopicDescription> topic)
            throws InterruptedException, ExecutionException {
        try {
            return topic.get().partitions().size();
        } catch (ExecutionException error) {
            if (error.getCause() instanceof UnknownTopicOrPartitionException) {
                return 0;
            }
            throw error;
        }
    }

    private void close() {
        if (admin != null) {
            admin.close();
        }
    }
}
