package io.headwater.sink;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidPartitionsException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * The query's own consumer group, whose offsets record batches.
 *
 * <p>Partition 0 of the marker topic says how many slots (tasks at once) the query ever used;
 * partition n + 1 has the last batch that slot n committed. A group's offsets can be part of a
 * transaction, are read in one request, and need no consumer.
 */
final class MarkerGroup implements AutoCloseable {

    private static final int FEWEST_PARTITIONS = 8;
    private static final int SLOTS = 0;

    private final SinkSettings settings;
    private final Admin admin;

    MarkerGroup(SinkSettings settings) {
        this.settings = settings;
        Map<String, Object> config = new HashMap<>(settings.kafka());
        // A producer's own settings are unknown to the admin client, which would warn of them.
        config.keySet().retainAll(AdminClientConfig.configNames());
        admin = Admin.create(config);
    }

    static TopicPartition partition(SinkSettings settings, int slot) {
        return new TopicPartition(settings.markers(), slot + 1);
    }

    /** The last batch of one slot, whose earlier transactions must be over: fence it first. */
    Optional<BatchMarker> marker(int slot) {
        // Only its own: other slots can be in the middle of a transaction, and would be waited for.
        ListConsumerGroupOffsetsSpec own = new ListConsumerGroupOffsetsSpec()
                .topicPartitions(List.of(partition(settings, slot)));
        return Optional.ofNullable(offsets(own, true).get(slot + 1))
                .map(BatchMarker::of)
                .filter(this::isOurs);
    }

    /** The last batch of every slot; fence them first. */
    Map<Integer, BatchMarker> markers() {
        Map<Integer, BatchMarker> markers = new TreeMap<>();
        offsets(new ListConsumerGroupOffsetsSpec(), true).forEach((partition, offset) -> {
            if (partition != SLOTS) {
                markers.put(partition - 1, BatchMarker.of(offset));
            }
        });
        markers.values().removeIf(marker -> !isOurs(marker));
        return markers;
    }

    /** How many slots any run ever used: a writer that was left behind can hold one of these. */
    int slots() {
        // Not waiting for open transactions: this is asked to find out which ones there can be.
        OffsetAndMetadata recorded =
                offsets(new ListConsumerGroupOffsetsSpec(), false).get(SLOTS);
        return recorded == null ? 0 : Math.toIntExact(recorded.offset());
    }

    /** Record, before they write, that so many slots are used. */
    void announce(int slots) {
        await(admin.alterConsumerGroupOffsets(
                        settings.name(),
                        Map.of(
                                new TopicPartition(settings.markers(), SLOTS),
                                new OffsetAndMetadata(slots)))
                .all());
    }

    /** End what earlier runs left open: their transactions are over and they can start no more. */
    void fence(int slots) {
        List<String> ids = IntStream.range(0, slots).mapToObj(settings::transactionalId).toList();
        await(admin.fenceProducers(ids).all());
    }

    /** Make sure that the marker topic has a partition for each slot. */
    void makeRoom(int slots) {
        int wanted = Math.max(FEWEST_PARTITIONS, slots + 1);
        int there = partitions(settings.markers());
        if (there == 0) {
            NewTopic topic =
                    new NewTopic(settings.markers(), Optional.of(wanted), Optional.empty());
            awaitUnless(TopicExistsException.class, admin.createTopics(List.of(topic)).all());
            there = partitions(settings.markers());
        }
        if (there != 0 && there < wanted) {
            // Another query may have grown it meanwhile, which is as good.
            awaitUnless(
                    InvalidPartitionsException.class,
                    admin.createPartitions(
                                    Map.of(settings.markers(), NewPartitions.increaseTo(wanted)))
                            .all());
        }
    }

    /** Refuse a topic that is not there, now and not after a minute's search for its metadata. */
    void requireTopic(String topic) {
        if (partitions(topic) == 0) {
            throw SinkException.unknownTopic(topic);
        }
    }

    /** Forget a group that nobody will ask again. */
    void delete() {
        await(admin.deleteConsumerGroups(List.of(settings.name())).all());
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(5));
    }

    private boolean isOurs(BatchMarker marker) {
        return marker.checkpoint().equals(settings.checkpoint());
    }

    private Map<Integer, OffsetAndMetadata> offsets(
            ListConsumerGroupOffsetsSpec which, boolean settled) {
        Map<TopicPartition, OffsetAndMetadata> all = await(admin.listConsumerGroupOffsets(
                        Map.of(settings.name(), which),
                        new ListConsumerGroupOffsetsOptions().requireStable(settled))
                .partitionsToOffsetAndMetadata(settings.name()));
        Map<Integer, OffsetAndMetadata> offsets = new TreeMap<>();
        all.forEach((partition, offset) -> {
            if (offset != null && partition.topic().equals(settings.markers())) {
                offsets.put(partition.partition(), offset);
            }
        });
        return offsets;
    }

    private int partitions(String topic) {
        try {
            return admin.describeTopics(List.of(topic))
                    .allTopicNames()
                    .get()
                    .get(topic)
                    .partitions()
                    .size();
        } catch (ExecutionException error) {
            if (error.getCause() instanceof UnknownTopicOrPartitionException) {
                return 0;
            }
            throw SinkException.of(error.getCause(), topic, settings);
        } catch (InterruptedException error) {
            throw interrupted();
        }
    }

    private <T> T await(KafkaFuture<T> answer) {
        try {
            return answer.get();
        } catch (ExecutionException error) {
            throw SinkException.of(error.getCause(), null, settings);
        } catch (InterruptedException error) {
            throw interrupted();
        }
    }

    private void awaitUnless(Class<? extends Exception> fine, KafkaFuture<Void> answer) {
        try {
            answer.get();
        } catch (ExecutionException error) {
            if (!fine.isInstance(error.getCause())) {
                throw SinkException.of(error.getCause(), settings.markers(), settings);
            }
        } catch (InterruptedException error) {
            throw interrupted();
        }
    }

    private SinkException interrupted() {
        Thread.currentThread().interrupt();
        return new SinkException("query '" + settings.name() + "': stopped while it started.");
    }
}
