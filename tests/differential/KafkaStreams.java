import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Branched;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.GlobalKTable;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KGroupedTable;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.ValueJoiner;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyProcessorContext;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.test.TestRecord;

/**
 * Runs topologies of Kafka Streams over records from standard input, one line of JSON for each.
 *
 * <p>In: the topology's name and its examples, each a list of records (topic, key, value, time).
 * Out: for each example what came out, in order (key, value, time). Every example has a driver of
 * its own, so that no time and no state is shared.
 */
public final class KafkaStreams {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final ValueJoiner<Integer, Integer, String> PAIR = (l, r) -> l + "|" + r;
    private static final Materialized<String, String, KeyValueStore<Bytes, byte[]>> TEXTS =
            Materialized.with(Serdes.String(), Serdes.String());
    private static final BiFunction<String, Integer, String> REFERENCE =
            (k, v) -> v == 0 ? null : k.substring(0, 4) + "-" + v % 3;

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Map<String, BiConsumer<StreamsBuilder, String>> topologies = topologies();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode asked = JSON.readTree(line);
            ArrayNode answers = JSON.createArrayNode();
            BiConsumer<StreamsBuilder, String> topology =
                    topologies.get(asked.get("topology").asText());
            for (JsonNode example : asked.get("examples")) {
                StreamsBuilder builder = new StreamsBuilder();
                topology.accept(builder, "out");
                answers.add(run(builder.build(), example));
            }
            out.println(JSON.writeValueAsString(answers));
        }
    }

    private static Map<String, BiConsumer<StreamsBuilder, String>> topologies() {
        Map<String, BiConsumer<StreamsBuilder, String>> all = new LinkedHashMap<>();
        all.put(
                "stateless",
                (b, out) ->
                        text(
                                stream(b, "a")
                                        .filter((k, v) -> v != null && v > 3)
                                        .mapValues(v -> v * 2),
                                out));
        all.put("count", (b, out) -> text(stream(b, "a").groupByKey().count().toStream(), out));
        all.put(
                "reduce",
                (b, out) ->
                        text(
                                stream(b, "a")
                                        .groupByKey()
                                        .reduce((old, v) -> old - v)
                                        .toStream(),
                                out));
        all.put(
                "cogroup",
                (b, out) ->
                        text(
                                stream(b, "a")
                                        .groupByKey()
                                        .<String>cogroup((k, v, old) -> counted(old))
                                        .cogroup(
                                                stream(b, "b").groupByKey(),
                                                (k, v, old) -> added(old, v))
                                        .aggregate(
                                                () -> "0|null",
                                                Materialized.with(
                                                        Serdes.String(), Serdes.String()))
                                        .toStream(),
                                out));
        all.put(
                "aggregate",
                (b, out) ->
                        text(
                                stream(b, "a")
                                        .groupByKey()
                                        .aggregate(
                                                () -> "0|0|9|0",
                                                (k, v, old) -> folded(old, v),
                                                TEXTS)
                                        .toStream(),
                                out));
        all.put(
                "windowed-cogroup",
                (b, out) ->
                        windowed(
                                stream(b, "a")
                                        .groupByKey()
                                        .<String>cogroup((k, v, old) -> counted(old))
                                        .cogroup(
                                                stream(b, "b").groupByKey(),
                                                (k, v, old) -> added(old, v))
                                        .windowedBy(
                                                TimeWindows.ofSizeAndGrace(
                                                        seconds(10), seconds(1000)))
                                        .aggregate(() -> "0|null", Materialized.with(
                                                        Serdes.String(), Serdes.String())),
                                out));
        all.put("hopping-suppressed", (b, out) -> windows(b, out, 12, 5, 4, true));
        all.put("flat", KafkaStreams::flat);
        all.put("processors", KafkaStreams::processors);
        all.put(
                "table-aggregate",
                (b, out) ->
                        text(
                                grouped(table(b, "a"))
                                        .aggregate(
                                                () -> "0|null",
                                                (k, v, old) -> added(counted(old), v),
                                                (k, v, old) -> taken(old, v),
                                                TEXTS)
                                        .toStream(),
                                out));
        all.put(
                "held-back-all",
                (b, out) ->
                        text(
                                table(b, "a")
                                        .suppress(
                                                Suppressed.untilTimeLimit(
                                                        seconds(5),
                                                        Suppressed.BufferConfig.unbounded()))
                                        .toStream(),
                                out));
        all.put("tumbling", (b, out) -> windows(b, out, 10, 10, 4, false));
        all.put("hopping", (b, out) -> windows(b, out, 12, 5, 4, false));
        all.put("tumbling-patient", (b, out) -> windows(b, out, 10, 10, 1000, false));
        all.put("hopping-patient", (b, out) -> windows(b, out, 12, 5, 1000, false));
        all.put("suppressed", (b, out) -> windows(b, out, 10, 10, 4, true));
        all.put(
                "hopping-folded",
                (b, out) ->
                        windowed(
                                stream(b, "a")
                                        .groupByKey()
                                        .windowedBy(
                                                TimeWindows.ofSizeAndGrace(seconds(12), seconds(4))
                                                        .advanceBy(seconds(5)))
                                        .aggregate(
                                                () -> "",
                                                (k, v, before) -> before + v + ";",
                                                Materialized.with(
                                                        Serdes.String(), Serdes.String())),
                                out));
        all.put(
                "session-folded",
                (b, out) ->
                        inSessions(
                                stream(b, "a")
                                        .groupByKey()
                                        .windowedBy(
                                                SessionWindows.ofInactivityGapAndGrace(
                                                        seconds(3), Duration.ofMillis(4500)))
                                        .aggregate(
                                                () -> "",
                                                (k, v, before) -> before + v + ";",
                                                (k, one, other) -> one + other,
                                                Materialized.with(
                                                        Serdes.String(), Serdes.String())),
                                out));
        all.put("session", (b, out) -> sessions(b, out, false));
        all.put("session-suppressed", (b, out) -> sessions(b, out, true));
        all.put("sliding", (b, out) -> sliding(b, out, false));
        all.put("sliding-suppressed", (b, out) -> sliding(b, out, true));
        all.put(
                "stream-table-inner",
                (b, out) -> text(stream(b, "a").join(table(b, "b"), PAIR), out));
        all.put(
                "stream-table-left",
                (b, out) -> text(stream(b, "a").leftJoin(table(b, "b"), PAIR), out));
        all.put(
                "global-inner",
                (b, out) -> text(stream(b, "a").join(global(b, "b"), (k, v) -> k, PAIR), out));
        all.put(
                "global-left",
                (b, out) -> text(stream(b, "a").leftJoin(global(b, "b"), (k, v) -> k, PAIR), out));
        for (String kind : new String[] {"inner", "left", "outer"}) {
            all.put("stream-stream-" + kind, (b, out) -> text(streams(b, kind, 1000), out));
            all.put("impatient-" + kind, (b, out) -> text(streams(b, kind, 2), out));
            all.put("at-once-" + kind, (b, out) -> text(streams(b, kind, null), out));
            all.put(
                    "table-table-" + kind,
                    (b, out) -> text(tables(table(b, "a"), table(b, "b"), kind).toStream(), out));
            all.put(
                    "filtered-" + kind,
                    (b, out) -> {
                        KTable<String, Integer> left = table(b, "a").filter((k, v) -> v > 3);
                        KTable<String, Integer> right = table(b, "b").mapValues(v -> v + 1);
                        text(tables(left, right, kind).toStream(), out);
                    });
        }
        all.put(
                "foreign-key-inner",
                (b, out) ->
                        text(
                                table(b, "a")
                                        .join(
                                                table(b, "b"), REFERENCE, PAIR)
                                        .toStream(),
                                out));
        all.put(
                "foreign-key-left",
                (b, out) ->
                        text(
                                table(b, "a")
                                        .leftJoin(
                                                table(b, "b"), REFERENCE, PAIR)
                                        .toStream(),
                                out));
        all.put(
                "held-back",
                (b, out) ->
                        text(
                                table(b, "a")
                                        .suppress(
                                                Suppressed.untilTimeLimit(
                                                        seconds(5),
                                                        Suppressed.BufferConfig.maxRecords(2)))
                                        .toStream(),
                                out));
        all.put(
                "table-count",
                (b, out) -> text(grouped(table(b, "a")).count().toStream(), out));
        all.put(
                "table-reduce",
                (b, out) ->
                        text(
                                grouped(table(b, "a"))
                                        .reduce((old, v) -> old + v, (old, v) -> old - v)
                                        .toStream(),
                                out));
        all.put("table-filter", (b, out) ->
                text(table(b, "a").filter((k, v) -> v > 3).toStream(), out));
        return all;
    }

    /** Without a grace, as JoinWindows.of has it, which ksqlDB still calls. */
    @SuppressWarnings("deprecation")
    private static KStream<String, String> streams(
            StreamsBuilder builder, String kind, Integer grace) {
        KStream<String, Integer> left = stream(builder, "a");
        KStream<String, Integer> right = stream(builder, "b");
        JoinWindows both =
                grace == null
                        ? JoinWindows.of(seconds(6))
                        : JoinWindows.ofTimeDifferenceAndGrace(seconds(6), seconds(grace));
        JoinWindows within = both.before(seconds(3)).after(seconds(6));
        StreamJoined<String, Integer, Integer> by =
                StreamJoined.with(Serdes.String(), Serdes.Integer(), Serdes.Integer());
        return switch (kind) {
            case "inner" -> left.join(right, PAIR, within, by);
            case "left" -> left.leftJoin(right, PAIR, within, by);
            default -> left.outerJoin(right, PAIR, within, by);
        };
    }

    /** Filters, branches, makes several of one, changes keys and puts together again. */
    private static void flat(StreamsBuilder builder, String out) {
        Map<String, KStream<String, Integer>> parts =
                stream(builder, "a")
                        .filterNot((k, v) -> v == null || k == null)
                        .split(Named.as("part-"))
                        .branch((k, v) -> v < 3, Branched.as("low"))
                        .defaultBranch(Branched.as("high"));
        text(
                parts.get("part-low")
                        .flatMapValues(v -> List.of(v, v + 10))
                        .merge(parts.get("part-high").selectKey((k, v) -> k + v % 2)),
                out);
    }

    /** One processor keeps a limit, another compares with it, and counts what is above. */
    private static void processors(StreamsBuilder builder, String out) {
        builder.addStateStore(
                Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore("limit"), Serdes.String(), Serdes.Integer()));
        builder.addStateStore(
                Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore("above"), Serdes.String(), Serdes.Integer()));
        stream(builder, "b")
                .process(
                        () ->
                                new ContextualProcessor<String, Integer, String, String>() {
                                    @Override
                                    public void process(Record<String, Integer> record) {
                                        KeyValueStore<String, Integer> limit =
                                                context().getStateStore("limit");
                                        limit.put(record.key(), record.value());
                                    }
                                },
                        "limit");
        text(
                stream(builder, "a")
                        .processValues(
                                () ->
                                        new ContextualFixedKeyProcessor<
                                                String, Integer, String>() {
                                            @Override
                                            public void process(
                                                    FixedKeyRecord<String, Integer> record) {
                                                compare(context(), record);
                                            }
                                        },
                                "limit",
                                "above"),
                out);
    }

    private static void compare(
            FixedKeyProcessorContext<String, String> context,
            FixedKeyRecord<String, Integer> record) {
        KeyValueStore<String, Integer> limits = context.getStateStore("limit");
        KeyValueStore<String, Integer> above = context.getStateStore("above");
        Integer limit = limits.get(record.key());
        if (limit != null && record.value() != null && record.value() > limit) {
            Integer before = above.get(record.key());
            above.put(record.key(), before == null ? 1 : before + 1);
            context.forward(record.withValue(limit + "|" + above.get(record.key())));
        }
    }

    /** Count, sum, smallest and largest. */
    private static String folded(String old, int value) {
        String[] parts = old.split("[|]");
        int count = Integer.parseInt(parts[0]) + 1;
        int sum = Integer.parseInt(parts[1]) + value;
        int low = Math.min(Integer.parseInt(parts[2]), value);
        int high = Math.max(Integer.parseInt(parts[3]), value);
        return count + "|" + sum + "|" + low + "|" + high;
    }

    /** With a count of nothing left, there is no sum, as in SQL. */
    private static String taken(String countAndSum, int value) {
        String[] parts = countAndSum.split("[|]");
        int left = Integer.parseInt(parts[0]) - 1;
        return left + "|" + (left == 0 ? "null" : Integer.parseInt(parts[1]) - value);
    }

    private static void windowed(KTable<Windowed<String>, String> table, String out) {
        text(
                table.toStream()
                        .map(
                                (windowed, value) ->
                                        KeyValue.pair(
                                                windowed.key(),
                                                windowed.window().start() / 1000 + "=" + value)),
                out);
    }

    private static String counted(String countAndSum) {
        String[] parts = countAndSum.split("[|]");
        return (Integer.parseInt(parts[0]) + 1) + "|" + parts[1];
    }

    private static String added(String countAndSum, int value) {
        String[] parts = countAndSum.split("[|]");
        return parts[0] + "|" + (parts[1].equals("null") ? value : Integer.parseInt(parts[1]) + value);
    }

    private static KGroupedTable<String, Integer> grouped(KTable<String, Integer> table) {
        return table.groupBy(
                (k, v) -> KeyValue.pair(k.substring(0, 4) + "-" + v % 3, v),
                Grouped.with(Serdes.String(), Serdes.Integer()));
    }

    private static KTable<String, String> tables(
            KTable<String, Integer> left, KTable<String, Integer> right, String kind) {
        return switch (kind) {
            case "inner" -> left.join(right, PAIR);
            case "left" -> left.leftJoin(right, PAIR);
            default -> left.outerJoin(right, PAIR);
        };
    }

    private static void windows(
            StreamsBuilder builder, String out, int size, int advance, int grace, boolean last) {
        KTable<Windowed<String>, Long> counts =
                stream(builder, "a")
                        .groupByKey()
                        .windowedBy(
                                TimeWindows.ofSizeAndGrace(seconds(size), seconds(grace))
                                        .advanceBy(seconds(advance)))
                        .count();
        text(
                (last ? suppressed(counts) : counts).toStream()
                        .map(
                                (windowed, n) ->
                                        KeyValue.pair(
                                                windowed.key(),
                                                windowed.window().start() / 1000 + "=" + n)),
                out);
    }

    private static void sessions(StreamsBuilder builder, String out, boolean last) {
        KTable<Windowed<String>, Long> counts =
                stream(builder, "a")
                        .groupByKey()
                        .windowedBy(
                                SessionWindows.ofInactivityGapAndGrace(
                                        seconds(3), Duration.ofMillis(4500)))
                        .count();
        inSessions(last ? suppressed(counts) : counts, out);
    }

    private static <V> void inSessions(KTable<Windowed<String>, V> table, String out) {
        text(
                table.toStream()
                        .map(
                                (windowed, result) ->
                                        KeyValue.pair(
                                                windowed.key(),
                                                windowed.window().start() / 1000
                                                        + "-"
                                                        + windowed.window().end() / 1000
                                                        + "="
                                                        + result)),
                out);
    }

    private static void sliding(StreamsBuilder builder, String out, boolean last) {
        KTable<Windowed<String>, Long> counts =
                stream(builder, "a")
                        .groupByKey()
                        .windowedBy(
                                SlidingWindows.ofTimeDifferenceAndGrace(
                                        seconds(8), Duration.ofMillis(4500)))
                        .count();
        text(
                (last ? suppressed(counts) : counts).toStream()
                        .map(
                                (windowed, n) ->
                                        KeyValue.pair(
                                                windowed.key(),
                                                windowed.window().start()
                                                        + "-"
                                                        + windowed.window().end()
                                                        + "="
                                                        + n)),
                out);
    }

    private static KTable<Windowed<String>, Long> suppressed(KTable<Windowed<String>, Long> table) {
        return table.suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()));
    }

    private static KStream<String, Integer> stream(StreamsBuilder builder, String topic) {
        return builder.stream(topic, Consumed.with(Serdes.String(), Serdes.Integer()));
    }

    private static KTable<String, Integer> table(StreamsBuilder builder, String topic) {
        return builder.table(topic, Consumed.with(Serdes.String(), Serdes.Integer()));
    }

    private static GlobalKTable<String, Integer> global(StreamsBuilder builder, String topic) {
        return builder.globalTable(topic, Consumed.with(Serdes.String(), Serdes.Integer()));
    }

    private static Duration seconds(int count) {
        return Duration.ofSeconds(count);
    }

    private static <V> void text(KStream<String, V> stream, String out) {
        stream.mapValues(value -> value == null ? null : value.toString())
                .to(out, Produced.with(Serdes.String(), Serdes.String()));
    }

    private static ArrayNode run(Topology topology, JsonNode example) {
        Properties settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "differential");
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "nowhere:1");
        settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.IntegerSerde.class);
        settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        settings.put(
                StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG,
                BuiltInDslStoreSuppliers.InMemoryDslStoreSuppliers.class);
        ArrayNode found = JSON.createArrayNode();
        try (TopologyTestDriver driver =
                new TopologyTestDriver(topology, settings, Instant.EPOCH)) {
            Map<String, TestInputTopic<String, Integer>> inputs = new LinkedHashMap<>();
            for (JsonNode record : example) {
                inputs.computeIfAbsent(
                                record.get("topic").asText(),
                                topic ->
                                        driver.createInputTopic(
                                                topic,
                                                Serdes.String().serializer(),
                                                Serdes.Integer().serializer()))
                        .pipeInput(
                                record.get("key").isNull() ? null : record.get("key").asText(),
                                record.get("value").isNull() ? null : record.get("value").asInt(),
                                record.get("time").asLong() * 1000);
                // Outer joins look for what met nobody once in a second of this clock.
                driver.advanceWallClockTime(seconds(2));
            }
            for (TestRecord<String, String> record :
                    driver.createOutputTopic(
                                    "out",
                                    Serdes.String().deserializer(),
                                    Serdes.String().deserializer())
                            .readRecordsToList()) {
                ObjectNode each = found.addObject();
                each.put("key", record.key());
                each.put("value", record.value());
                each.put("time", record.timestamp() / 1000);
            }
        }
        return found;
    }
}
