package io.headwater.sink;

import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnTimeoutException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * Says what went wrong while writing to a topic, and what to do about it.
 *
 * <p>Of this kind, since PySpark shows no stack of Java frames for it.
 */
public final class SinkException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    SinkException(String message) {
        super(message);
    }

    private SinkException(String message, Throwable cause) {
        super(message, cause);
    }

    /** What Kafka's client reported, in words that name the topic and a remedy. */
    static SinkException of(Throwable error, String topic, SinkSettings settings) {
        if (error instanceof SinkException known) {
            return known;
        }
        String where = topic == null ? "query '" + settings.name() + "'" : "topic '" + topic + "'";
        return new SinkException(where + ": " + reason(error, topic, settings), error);
    }

    static SinkException unknownTopic(String topic) {
        return new SinkException("topic '" + topic + "' does not exist. Create it first: headwater"
                + " topics create " + topic);
    }

    private static String reason(Throwable error, String topic, SinkSettings settings) {
        if (error instanceof ProducerFencedException
                || error instanceof InvalidProducerEpochException) {
            return "this writer was fenced. Either another query runs under the same queryId '"
                    + settings.name() + "' (give each its own), or a task wrote for longer than"
                    + " kafka.transaction.timeout.ms=" + settings.transactionTimeoutMs()
                    + " (raise it, or make batches smaller with maxOffsetsPerTrigger).";
        }
        if (error instanceof RecordTooLargeException) {
            return "a record is too large: " + error.getMessage() + " Raise kafka.max.request.size"
                    + " of this sink and max.message.bytes of the topic, or compress with"
                    + " kafka.compression.type.";
        }
        if (error instanceof TimeoutException && saysMissing(error)
                && error.getMessage().startsWith("Partition")) {
            return error.getMessage() + " The rows' column 'partition' says where they go: drop it,"
                    + " or give the topic more partitions.";
        }
        if (error instanceof UnknownTopicOrPartitionException
                || error instanceof TimeoutException && saysMissing(error)) {
            return "no such topic or partition (" + error.getMessage() + "). Create it first:"
                    + " headwater topics create " + topic;
        }
        if (error instanceof TimeoutException) {
            return "the brokers at " + settings.servers() + " did not answer in time: "
                    + error.getMessage();
        }
        if (error instanceof InvalidTxnTimeoutException) {
            return "the brokers allow no transaction of " + settings.transactionTimeoutMs()
                    + " ms. Lower kafka.transaction.timeout.ms, or raise the brokers'"
                    + " transaction.max.timeout.ms.";
        }
        if (error instanceof AuthorizationException) {
            return "not allowed: " + error.getMessage() + " The sink writes to the topic, under"
                    + " transactional ids that start with '" + settings.name() + "-', and commits"
                    + " offsets of group '" + settings.name() + "'.";
        }
        return error.toString();
    }

    private static boolean saysMissing(Throwable error) {
        String message = String.valueOf(error.getMessage());
        return message.contains("not present in metadata");
    }

}
