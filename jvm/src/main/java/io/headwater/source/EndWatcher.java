package io.headwater.source;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the ends of all topics that queries of this JVM wait for, with one consumer per cluster.
 *
 * <p>The consumer stands at the ends and fetches: the broker answers when there is something to
 * read, be it only the end of a transaction. A partition that has moved on is not read further; a
 * query that has come to its new end has it watched from there. What is known here is a hint alone:
 * whoever is told asks the cluster what there is.
 */
final class EndWatcher implements Runnable {

    private static final Logger LOG = LoggerFactory.getLogger(EndWatcher.class);
    private static final String PREFIX = "kafka.";
    private static final Duration POLL = Duration.ofSeconds(1);

    /** A consumer that did not return from a poll for so long does not watch. */
    private static final long STUCK_NS = TimeUnit.SECONDS.toNanos(5);

    private static final Map<Map<String, Object>, EndWatcher> WATCHERS = new HashMap<>();

    private final Map<String, Object> settings;
    private final Map<TopicPartition, Integer> readers = new HashMap<>();
    private final Map<TopicPartition, Long> ends = new HashMap<>();

    /** Where the consumer has read something, and stands still. */
    private final Set<TopicPartition> passed = new HashSet<>();

    /** Where the consumer has to go. */
    private final Set<TopicPartition> moved = new HashSet<>();

    private final Map<CountDownLatch, Map<TopicPartition, Long>> waiting = new LinkedHashMap<>();
    private KafkaConsumer<byte[], byte[]> consumer;
    private boolean isOpen = true;
    private int users;
    private volatile long polledAt = System.nanoTime();

    private EndWatcher(Map<String, Object> settings) {
        this.settings = settings;
    }

    /** Return a consumer's settings for a source with these options. */
    static Map<String, Object> settings(Map<String, String> options) {
        Map<String, Object> kafka = new HashMap<>();
        options.forEach((name, value) -> {
            if (name.regionMatches(true, 0, PREFIX, 0, PREFIX.length())) {
                kafka.put(name.substring(PREFIX.length()), value);
            }
        });
        kafka.remove(ConsumerConfig.GROUP_ID_CONFIG);
        kafka.put(ConsumerConfig.CLIENT_ID_CONFIG, "headwater-watcher");
        kafka.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        kafka.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        kafka.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        kafka.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest");
        kafka.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        // It is enough to know that there is something.
        kafka.put(ConsumerConfig.FETCH_MIN_BYTES_CONFIG, 1);
        kafka.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, 1);
        // A fetch under way does not learn of partitions that are added: so long they are not seen.
        kafka.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 500);
        return kafka;
    }

    /** Return the watcher of a cluster, for one more source. */
    static EndWatcher join(Map<String, Object> settings) {
        synchronized (WATCHERS) {
            EndWatcher watcher = WATCHERS.get(settings);
            if (watcher == null) {
                watcher = new EndWatcher(settings);
                Thread thread = new Thread(watcher, "headwater-end-watcher");
                thread.setDaemon(true);
                thread.start();
                WATCHERS.put(settings, watcher);
            }
            watcher.users++;
            return watcher;
        }
    }

    /** Drop a source and its partitions; the last one ends the watcher. */
    void leave(Collection<TopicPartition> partitions) {
        watch(partitions, Map.of());
        synchronized (WATCHERS) {
            if (--users == 0) {
                WATCHERS.remove(settings, this);
                close();
            }
        }
    }

    /** Watch partitions from where they ended just now, in place of what a source had watched. */
    synchronized void watch(
            Collection<TopicPartition> before, Map<TopicPartition, Long> positions) {
        boolean isNew = false;
        for (Map.Entry<TopicPartition, Long> each : positions.entrySet()) {
            TopicPartition partition = each.getKey();
            readers.merge(partition, 1, Integer::sum);
            boolean isElsewhere = !each.getValue().equals(ends.put(partition, each.getValue()));
            if (passed.remove(partition) || isElsewhere) {
                moved.add(partition);
                isNew = true;
            }
        }
        for (TopicPartition partition : before) {
            if (readers.merge(partition, -1, Integer::sum) == 0) {
                readers.remove(partition);
                ends.remove(partition);
                passed.remove(partition);
            }
        }
        notifyAll();
        if (isNew && consumer != null) {
            consumer.wakeup();
        }
    }

    /**
     * Count down when one of the partitions does not end there, which may be at once. Who waits for
     * several sources says so for each.
     */
    synchronized void tell(CountDownLatch news, Map<TopicPartition, Long> positions) {
        waiting.computeIfAbsent(news, each -> new HashMap<>()).putAll(positions);
        if (haveMoved(positions)) {
            news.countDown();
        }
    }

    /** Tell whether one of the partitions does not end there. */
    synchronized boolean haveMoved(Map<TopicPartition, Long> positions) {
        return !positions.entrySet().stream()
                .allMatch(each -> each.getValue().equals(ends.get(each.getKey())));
    }

    synchronized void forget(CountDownLatch news) {
        waiting.remove(news);
    }

    /** Tell whether it can be relied on. */
    boolean isWatching() {
        return System.nanoTime() - polledAt < STUCK_NS;
    }

    @Override
    public void run() {
        try (KafkaConsumer<byte[], byte[]> opened = new KafkaConsumer<>(settings)) {
            synchronized (this) {
                consumer = opened;
            }
            while (prepared()) {
                poll();
            }
        } catch (KafkaException failure) {
            LOG.warn("New records at {} are looked for by each query", servers(), failure);
            synchronized (WATCHERS) {
                WATCHERS.remove(settings, this);
            }
        } finally {
            synchronized (this) {
                consumer = null;
                polledAt = System.nanoTime() - STUCK_NS;
                waiting.keySet().forEach(CountDownLatch::countDown);
            }
        }
    }

    private void poll() {
        try {
            consumer.poll(POLL);
            polledAt = System.nanoTime();
            compare();
        } catch (WakeupException changed) {
            polledAt = System.nanoTime();
        } catch (KafkaException failure) {
            LOG.warn("New records at {} are looked for by each query", servers(), failure);
            rest();
        }
    }

    /** Let everybody look for himself, and try again a little later. */
    private synchronized void rest() {
        polledAt = System.nanoTime() - STUCK_NS;
        waiting.keySet().forEach(CountDownLatch::countDown);
        try {
            wait(POLL.toMillis());
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
            isOpen = false;
        }
    }

    /** Put the consumer where it was told to be; false if nobody needs it any more. */
    private synchronized boolean prepared() {
        try {
            while (isOpen && ends.isEmpty()) {
                wait();
                polledAt = System.nanoTime();
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
            return false;
        }
        if (!consumer.assignment().equals(ends.keySet())) {
            consumer.assign(new HashSet<>(ends.keySet()));
        }
        moved.retainAll(ends.keySet());
        moved.forEach(each -> consumer.seek(each, ends.get(each)));
        consumer.resume(moved);
        moved.clear();
        return isOpen;
    }

    private synchronized void compare() {
        Set<TopicPartition> news = new HashSet<>();
        for (TopicPartition partition : consumer.assignment()) {
            Long end = ends.get(partition);
            if (end == null || moved.contains(partition)) {
                continue; // changed since the poll began
            }
            long position = position(partition, end);
            if (position != end) {
                ends.put(partition, position);
                news.add(partition);
            }
        }
        if (news.isEmpty()) {
            return;
        }
        consumer.pause(news);
        passed.addAll(news);
        waiting.forEach((waiter, positions) -> {
            if (news.stream().anyMatch(positions::containsKey)) {
                waiter.countDown();
            }
        });
    }

    private long position(TopicPartition partition, long otherwise) {
        try {
            return consumer.position(partition, Duration.ZERO);
        } catch (TimeoutException unknown) {
            return otherwise; // it is being found out
        }
    }

    private Object servers() {
        return settings.get(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG);
    }

    private synchronized void close() {
        isOpen = false;
        notifyAll();
        if (consumer != null) {
            consumer.wakeup();
        }
    }
}
