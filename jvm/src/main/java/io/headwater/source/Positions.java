package io.headwater.source;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.connector.read.streaming.Offset;

/** Reads the connector's offsets, whose class cannot be named here, in their text form. */
final class Positions {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final TypeReference<Map<String, Map<Integer, Long>>> BY_TOPIC =
            new TypeReference<>() {};

    private Positions() {}

    static Map<TopicPartition, Long> of(Offset offset) {
        Map<TopicPartition, Long> positions = new HashMap<>();
        byTopic(offset).forEach((topic, partitions) ->
                partitions.forEach((partition, position) ->
                        positions.put(new TopicPartition(topic, partition), position)));
        return positions;
    }

    /** How many partitions of each topic there are. */
    static Map<String, Integer> counts(Offset offset) {
        Map<String, Integer> counts = new HashMap<>();
        byTopic(offset).forEach((topic, partitions) -> counts.put(topic, partitions.size()));
        return counts;
    }

    private static Map<String, Map<Integer, Long>> byTopic(Offset offset) {
        try {
            return JSON.readValue(offset.json(), BY_TOPIC);
        } catch (IOException error) {
            throw new UncheckedIOException("no offsets of Spark's connector: " + offset, error);
        }
    }
}
