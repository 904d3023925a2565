package io.headwater.sink;

import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * What a query's sink was told.
 *
 * @param name prefix of the transactional ids and the group that records batches; the same for
 *     every run of the query
 * @param checkpoint identity of the checkpoint, in whose numbers batches are counted
 * @param run identity of this run of the query; producers are never shared between runs
 * @param topic where all rows go, or null when each row names its topic
 * @param markers the topic under whose name batches are recorded; it holds no records
 * @param acceptsMissing whether to go on when the records of earlier batches are gone
 * @param idleMs after how long an unused producer is closed
 * @param kafka settings of Kafka's clients, without their prefix
 */
record SinkSettings(
        String name,
        String checkpoint,
        String run,
        String topic,
        String markers,
        boolean acceptsMissing,
        long idleMs,
        Map<String, String> kafka)
        implements Serializable {

    private static final String PREFIX = "kafka.";
    private static final String MARKERS = "_headwater_sink_commits";
    private static final String TIMEOUT = "transaction.timeout.ms";
    private static final Set<String> OURS = Set.of(
            "transactional.id", "enable.idempotence", "acks", "key.serializer", "value.serializer");

    // A batch ends with a flush, so that records lose no time by waiting for others.
    private static final Map<String, String> DEFAULTS =
            Map.of("linger.ms", "20", "batch.size", "262144", TIMEOUT, "300000");

    static SinkSettings of(CaseInsensitiveStringMap options, String checkpoint, String run) {
        Map<String, String> kafka = new HashMap<>(DEFAULTS);
        options.forEach((key, value) -> {
            if (key.startsWith(PREFIX)) {
                kafka.put(key.substring(PREFIX.length()), value);
            }
        });
        for (String ours : OURS) {
            if (kafka.containsKey(ours)) {
                throw new SinkException("kafka." + ours + " cannot be set: exactly-once writes"
                        + " depend on it. Leave it out.");
            }
        }
        if (!kafka.containsKey("bootstrap.servers")) {
            throw new SinkException("which brokers? Set the option kafka.bootstrap.servers.");
        }
        return new SinkSettings(
                options.getOrDefault("queryId", checkpoint),
                checkpoint,
                run,
                options.get("topic"),
                options.getOrDefault("markerTopic", MARKERS),
                acceptsMissing(options.getOrDefault("missingMarkers", "fail")),
                options.getLong("producerIdleMs", 600_000L),
                Map.copyOf(kafka));
    }

    String servers() {
        return kafka.get("bootstrap.servers");
    }

    String transactionTimeoutMs() {
        return kafka.get(TIMEOUT);
    }

    String transactionalId(int slot) {
        return name + "-" + slot;
    }

    private static boolean acceptsMissing(String text) {
        return switch (text) {
            case "fail" -> false;
            case "continue" -> true;
            default -> throw new SinkException(
                    "missingMarkers is 'fail' or 'continue', not '" + text + "'.");
        };
    }
}
