package io.headwater.sink;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A transactional producer for one slot of a query, and the last batch that the slot committed. */
final class SlotProducer {

    private final SinkSettings settings;
    private final int slot;
    private final Producer<byte[], byte[]> producer;
    private BatchMarker last;
    private long usedAt = System.nanoTime();

    private SlotProducer(
            SinkSettings settings, int slot, Producer<byte[], byte[]> producer, BatchMarker last) {
        this.settings = settings;
        this.slot = slot;
        this.producer = producer;
        this.last = last;
    }

    /** Take the slot over from whoever had it, and read how far that one came. */
    static SlotProducer open(SinkSettings settings, int slot) {
        Map<String, Object> config = new HashMap<>(settings.kafka());
        config.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, settings.transactionalId(slot));
        Producer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        try (MarkerGroup group = new MarkerGroup(settings)) {
            producer.initTransactions();
            return new SlotProducer(settings, slot, producer, group.marker(slot).orElse(null));
        } catch (KafkaException error) {
            producer.close(Duration.ZERO);
            throw SinkException.of(error, settings.topic(), settings);
        } catch (RuntimeException error) {
            producer.close(Duration.ZERO);
            throw error;
        }
    }

    String id() {
        return settings.transactionalId(slot);
    }

    int slot() {
        return slot;
    }

    Producer<byte[], byte[]> producer() {
        return producer;
    }

    BatchMarker last() {
        return last;
    }

    long lastBatch() {
        return last == null ? -1 : last.batch();
    }

    boolean serves(SinkSettings others) {
        return settings.equals(others);
    }

    void committed(BatchMarker marker) {
        last = marker;
        usedAt = System.nanoTime();
    }

    boolean isIdle(long now) {
        return now - usedAt > settings.idleMs() * 1_000_000L;
    }

    /** Close it; a transaction that is still open is aborted. */
    void close(Duration within) {
        producer.close(within);
    }
}
