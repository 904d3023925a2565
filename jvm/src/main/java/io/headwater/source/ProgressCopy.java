package io.headwater.source;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.spark.sql.classic.SparkSession;

/**
 * Copies what a checkpoint says of a query's progress to a compacted topic, under the query's name.
 *
 * <p>State is not among it. The copy has the files as Spark wrote them: where the sources began, the
 * last two batches that were planned, and the last that is done. It is there before a task of the
 * batch writes anything, so that nothing is ever in a topic of results that the copy does not know.
 */
final class ProgressCopy implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final String topic;
    private final String name;
    private final Path checkpoint;
    private final FileSystem files;
    private final KafkaProducer<String, String> producer;
    private String written;

    /** Whether a batch was planned, and it is not known to be done. */
    private boolean isBehind;

    ProgressCopy(Map<String, Object> kafka, String topic, String name, Path checkpoint) {
        this.topic = topic;
        this.name = name;
        this.checkpoint = checkpoint;
        try {
            files = checkpoint.getFileSystem(
                    SparkSession.active().sessionState().newHadoopConf());
        } catch (IOException error) {
            throw new UncheckedIOException("the checkpoint " + checkpoint, error);
        }
        Map<String, Object> settings = new HashMap<>(kafka);
        settings.keySet().retainAll(ProducerConfig.configNames());
        settings.put(ProducerConfig.CLIENT_ID_CONFIG, "headwater-progress");
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    /** A batch was planned, as each source says: no task begins before it is known. */
    void planned() {
        try {
            Future<RecordMetadata> sent = send();
            isBehind = true;
            if (sent != null) {
                sent.get();
            }
        } catch (ExecutionException error) {
            throw new IllegalStateException(
                    "the progress of " + name + " cannot be written to " + topic,
                    error.getCause());
        } catch (InterruptedException | InterruptException stopped) {
            // The query is being stopped. What it had planned, it has not begun.
            Thread.currentThread().interrupt();
        }
    }

    /** Spark goes on: if a batch was planned, it is done. */
    void goesOn() {
        if (isBehind) {
            isBehind = false;
            send();
        }
    }

    @Override
    public void close() {
        try {
            goesOn();
        } finally {
            producer.close(Duration.ofSeconds(10));
        }
    }

    private Future<RecordMetadata> send() {
        String text;
        try {
            text = JSON.writeValueAsString(read());
        } catch (IOException error) {
            throw new UncheckedIOException("the progress of " + name, error);
        }
        if (text.equals(written)) {
            return null;
        }
        Future<RecordMetadata> sent = producer.send(new ProducerRecord<>(topic, name, text));
        written = text;
        return sent;
    }

    private Map<String, Object> read() throws IOException {
        Map<String, Object> found = new TreeMap<>();
        found.put("version", 1);
        found.put("metadata", text(new Path(checkpoint, "metadata")));
        found.put("sources", begun());
        found.put("offsets", newest("offsets", 2));
        found.put("commits", newest("commits", 1));
        return found;
    }

    private Map<String, String> begun() throws IOException {
        Map<String, String> found = new TreeMap<>();
        Path sources = new Path(checkpoint, "sources");
        if (files.exists(sources)) {
            for (FileStatus each : files.listStatus(sources)) {
                Path first = new Path(each.getPath(), "0");
                if (files.exists(first)) {
                    found.put(each.getPath().getName(), text(first));
                }
            }
        }
        return found;
    }

    private Map<String, String> newest(String folder, int count) throws IOException {
        Map<String, String> found = new TreeMap<>();
        Path path = new Path(checkpoint, folder);
        if (!files.exists(path)) {
            return found;
        }
        NavigableSet<Long> numbers = new TreeSet<>();
        for (FileStatus each : files.listStatus(path)) {
            String file = each.getPath().getName();
            if (file.chars().allMatch(Character::isDigit)) {
                numbers.add(Long.valueOf(file));
            }
        }
        for (Long number : numbers.descendingSet().stream().limit(count).toList()) {
            found.put(number.toString(), text(new Path(path, number.toString())));
        }
        return found;
    }

    private String text(Path path) throws IOException {
        try (InputStream in = files.open(path)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
