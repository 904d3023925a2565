import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.WindowedSerdes;

/**
 * The jobs in Kafka Streams: KIND GUARANTEE SERVERS STATE, and six arguments for each run: its
 * readings, limits, checks and output, how many milliseconds pairs may be apart, and how many
 * records it reads.
 *
 * <p>The last run is the one that counts; those before it let the JVM compile what it runs. The
 * clock runs from the first record until the last is processed and committed and all is closed.
 */
public final class KafkaStreamsJobs {
    private static final int THREADS = 2;
    private static final int THRESHOLD = 500_000;
    private static final Duration WINDOW = Duration.ofMinutes(1);
    private static final Duration GAP = Duration.ofSeconds(10);
    private static final int LOOK_EVERY_MS = 5;
    private static final int ARGUMENTS = 6;

    private record Reading(String id, Long value, String unit, String site, String note) {}

    private record Limit(Long highest, String alarm) {}

    private record Judged(
            String id,
            Long value,
            String unit,
            String site,
            String note,
            Long highest,
            String alarm) {
        Judged(Reading reading, Limit limit) {
            this(
                    reading.id(),
                    reading.value(),
                    reading.unit(),
                    reading.site(),
                    reading.note(),
                    limit.highest(),
                    limit.alarm());
        }
    }

    private record Check(Long checked, String inspector) {}

    private record Checked(
            String id,
            Long value,
            String unit,
            String site,
            String note,
            Long checked,
            String inspector) {
        Checked(Reading reading, Check check) {
            this(
                    reading.id(),
                    reading.value(),
                    reading.unit(),
                    reading.site(),
                    reading.note(),
                    check.checked(),
                    check.inspector());
        }
    }

    private record Counted(long count) {}

    private static final Serde<String> TEXT = Serdes.String();
    private static final Serde<Reading> READING = json(Reading.class);
    private static final Serde<Limit> LIMIT = json(Limit.class);
    private static final Serde<Judged> JUDGED = json(Judged.class);
    private static final Serde<Check> CHECK = json(Check.class);
    private static final Serde<Checked> CHECKED = json(Checked.class);
    private static final Serde<Counted> COUNTED = json(Counted.class);

    public static void main(String[] arguments) throws InterruptedException {
        double seconds = 0;
        for (int at = 4; at < arguments.length; at += ARGUMENTS) {
            String output = arguments[at + 3];
            Topology topology =
                    arguments[0].equals("pair")
                            ? pairs(
                                    arguments[at],
                                    arguments[at + 2],
                                    output,
                                    Duration.ofMillis(Long.parseLong(arguments[at + 4])))
                            : topology(arguments[0], arguments[at], arguments[at + 1], output);
            Properties settings = new Properties();
            settings.put(StreamsConfig.APPLICATION_ID_CONFIG, output);
            settings.put(
                    StreamsConfig.PROCESSING_GUARANTEE_CONFIG,
                    arguments[1].equals("exactly_once")
                            ? StreamsConfig.EXACTLY_ONCE_V2
                            : StreamsConfig.AT_LEAST_ONCE);
            settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[2]);
            settings.put(StreamsConfig.STATE_DIR_CONFIG, arguments[3]);
            settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, THREADS);
            settings.put(StreamsConfig.TOPOLOGY_OPTIMIZATION_CONFIG, StreamsConfig.OPTIMIZE);
            settings.put(
                    StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG),
                    "earliest");
            seconds = run(topology, settings, Long.parseLong(arguments[at + 5]));
        }
        System.out.println("seconds=" + seconds);
    }

    private static double run(Topology topology, Properties settings, long records)
            throws InterruptedException {
        KafkaStreams streams = new KafkaStreams(topology, settings);
        streams.setUncaughtExceptionHandler(
                failure -> {
                    failure.printStackTrace();
                    Runtime.getRuntime().halt(1);
                    return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
                });
        streams.start();
        long started = 0;
        long processed = 0;
        while (processed < records) {
            Thread.sleep(LOOK_EVERY_MS);
            processed = processed(streams);
            if (started == 0 && processed > 0) {
                started = System.nanoTime();
            }
        }
        streams.close();
        return (System.nanoTime() - started) / 1e9;
    }

    private static long processed(KafkaStreams streams) {
        double sum = 0;
        for (Map.Entry<MetricName, ? extends Metric> each : streams.metrics().entrySet()) {
            MetricName name = each.getKey();
            if (name.name().equals("process-total")
                    && name.group().equals("stream-thread-metrics")) {
                sum += (Double) each.getValue().metricValue();
            }
        }
        return (long) sum;
    }

    private static Topology topology(String kind, String readings, String limits, String output) {
        StreamsBuilder builder = new StreamsBuilder();
        switch (kind) {
            case "filter" ->
                    readings(builder, readings)
                            .filter((key, reading) -> reading.value() > THRESHOLD)
                            .to(output, Produced.with(TEXT, READING));
            case "count" ->
                    windowed(
                            readings(builder, readings)
                                    .groupByKey(Grouped.with(TEXT, READING))
                                    .windowedBy(TimeWindows.ofSizeWithNoGrace(WINDOW))
                                    .count(),
                            WindowedSerdes.timeWindowedSerdeFrom(String.class, WINDOW.toMillis()),
                            output);
            case "sessions" ->
                    windowed(
                            readings(builder, readings)
                                    .groupByKey(Grouped.with(TEXT, READING))
                                    .windowedBy(SessionWindows.ofInactivityGapWithNoGrace(GAP))
                                    .count(),
                            WindowedSerdes.sessionWindowedSerdeFrom(String.class),
                            output);
            case "join" ->
                    readings(builder, readings)
                            .join(
                                    builder.table(limits, Consumed.with(TEXT, LIMIT)),
                                    Judged::new,
                                    Joined.with(TEXT, READING, LIMIT))
                            .to(output, Produced.with(TEXT, JUDGED));
            case "tables" ->
                    builder.table(readings, Consumed.with(TEXT, READING))
                            .join(builder.table(limits, Consumed.with(TEXT, LIMIT)), Judged::new)
                            .toStream()
                            .to(output, Produced.with(TEXT, JUDGED));
            default -> throw new IllegalArgumentException(kind);
        }
        Properties optimized = new Properties();
        optimized.put(StreamsConfig.TOPOLOGY_OPTIMIZATION_CONFIG, StreamsConfig.OPTIMIZE);
        return builder.build(optimized);
    }

    private static Topology pairs(String readings, String checks, String output, Duration span) {
        StreamsBuilder builder = new StreamsBuilder();
        readings(builder, readings)
                .join(
                        builder.stream(checks, Consumed.with(TEXT, CHECK)),
                        Checked::new,
                        JoinWindows.ofTimeDifferenceWithNoGrace(span),
                        StreamJoined.with(TEXT, READING, CHECK))
                .to(output, Produced.with(TEXT, CHECKED));
        return builder.build();
    }

    private static KStream<String, Reading> readings(StreamsBuilder builder, String topic) {
        return builder.stream(topic, Consumed.with(TEXT, READING));
    }

    private static void windowed(
            KTable<Windowed<String>, Long> counts, Serde<Windowed<String>> keys, String output) {
        counts.toStream()
                .mapValues(count -> count == null ? null : new Counted(count))
                .to(output, Produced.with(keys, COUNTED));
    }

    private static <T> Serde<T> json(Class<T> type) {
        ObjectMapper mapper = new ObjectMapper();
        ObjectReader reader = mapper.readerFor(type);
        ObjectWriter writer = mapper.writerFor(type);
        return Serdes.serdeFrom(
                (topic, value) -> {
                    try {
                        return value == null ? null : writer.writeValueAsBytes(value);
                    } catch (IOException failure) {
                        throw new UncheckedIOException(failure);
                    }
                },
                (topic, data) -> {
                    try {
                        return data == null ? null : reader.readValue(data);
                    } catch (IOException failure) {
                        throw new UncheckedIOException(failure);
                    }
                });
    }
}
