import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;

/**
 * Runs Kafka Connect's own transforms over records from standard input, one line of JSON for each
 * connector.
 *
 * <p>In: whether there are schemas, the transforms' settings, and records with keys and values as
 * JsonConverter reads them. Out: the records as it writes them; null for one that was dropped, and
 * the message of one that failed.
 */
public final class KafkaConnectRecords {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final SimpleHeaderConverter HEADERS = new SimpleHeaderConverter();

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
        }
    }

    private static ArrayNode answer(JsonNode asked) throws Exception {
        boolean schemas = asked.get("schemas").asBoolean();
        JsonConverter keys = converter(schemas, true);
        JsonConverter values = converter(schemas, false);
        List<Transformation<SinkRecord>> chain = chain(asked.get("transforms"));
        ArrayNode answers = JSON.createArrayNode();
        for (JsonNode record : asked.get("records")) {
            try {
                SinkRecord made = read(record, keys, values);
                for (Transformation<SinkRecord> each : chain) {
                    if (made != null) {
                        made = each.apply(made);
                    }
                }
                answers.add(made == null ? JSON.nullNode() : written(made, keys, values));
            } catch (RuntimeException failure) {
                answers.add(JSON.createObjectNode().put("failed", String.valueOf(failure)));
            }
        }
        return answers;
    }

    private static JsonConverter converter(boolean schemas, boolean isKey) {
        JsonConverter converter = new JsonConverter();
        converter.configure(Map.of("schemas.enable", String.valueOf(schemas)), isKey);
        return converter;
    }

    @SuppressWarnings("unchecked")
    private static List<Transformation<SinkRecord>> chain(JsonNode transforms) throws Exception {
        List<Transformation<SinkRecord>> chain = new ArrayList<>();
        for (JsonNode settings : transforms) {
            Map<String, String> config = new HashMap<>();
            settings.fields().forEachRemaining(e -> config.put(e.getKey(), e.getValue().asText()));
            Transformation<SinkRecord> made =
                    (Transformation<SinkRecord>)
                            Class.forName(config.remove("type"))
                                    .getDeclaredConstructor()
                                    .newInstance();
            made.configure(config);
            chain.add(made);
        }
        return chain;
    }

    private static SinkRecord read(JsonNode record, JsonConverter keys, JsonConverter values) {
        String topic = record.get("topic").asText();
        SchemaAndValue key = keys.toConnectData(topic, bytes(record.get("key")));
        SchemaAndValue value = values.toConnectData(topic, bytes(record.get("value")));
        Long time = record.get("timestamp").isNull() ? null : record.get("timestamp").asLong();
        SinkRecord made =
                new SinkRecord(
                        topic,
                        record.get("partition").asInt(),
                        key.schema(),
                        key.value(),
                        value.schema(),
                        value.value(),
                        record.get("offset").asLong(),
                        time,
                        TimestampType.CREATE_TIME);
        for (JsonNode header : record.get("headers")) {
            made.headers().addString(header.get(0).asText(), header.get(1).asText());
        }
        return made;
    }

    private static ObjectNode written(SinkRecord made, JsonConverter keys, JsonConverter values) {
        ObjectNode record = JSON.createObjectNode();
        record.put("topic", made.topic());
        record.put("key", text(keys.fromConnectData(made.topic(), made.keySchema(), made.key())));
        record.put(
                "value", text(values.fromConnectData(made.topic(), made.valueSchema(), made.value())));
        ArrayNode headers = record.putArray("headers");
        for (Header each : made.headers()) {
            byte[] data =
                    HEADERS.fromConnectHeader(made.topic(), each.key(), each.schema(), each.value());
            headers.addArray().add(each.key()).add(text(data));
        }
        return record;
    }

    private static byte[] bytes(JsonNode text) {
        return text.isNull() ? null : text.asText().getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] data) {
        return data == null ? null : new String(data, StandardCharsets.UTF_8);
    }
}
