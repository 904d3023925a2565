package io.headwater.functions;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/** JSON in texts. What is no JSON, or not of the kind that is asked for, gives null. */
public final class JsonTexts {
    private static final ObjectMapper MAPPER =
            JsonMapper.builder()
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                    .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
                    .build();

    private JsonTexts() {}

    /** Whether a text is JSON. */
    public static boolean isJson(UTF8String text) {
        return read(text) != null;
    }

    /** The elements of an array, each as JSON. */
    public static ArrayData items(UTF8String text) {
        if (!(read(text) instanceof ArrayNode array)) {
            return null;
        }
        Object[] items = new Object[array.size()];
        for (int index = 0; index < items.length; index++) {
            items[index] = UTF8String.fromString(array.get(index).toString());
        }
        return new GenericArrayData(items);
    }

    /** How many elements an array has. */
    public static Integer length(UTF8String text) {
        return read(text) instanceof ArrayNode array ? array.size() : null;
    }

    /** The names of an object. */
    public static ArrayData keys(UTF8String text) {
        MapData entries = records(text);
        return entries == null ? null : entries.keyArray();
    }

    /** The values of an object, each as JSON, by their names. */
    public static MapData records(UTF8String text) {
        if (!(read(text) instanceof ObjectNode object)) {
            return null;
        }
        List<Object> names = new ArrayList<>();
        List<Object> values = new ArrayList<>();
        for (Map.Entry<String, JsonNode> entry : object.properties()) {
            names.add(UTF8String.fromString(entry.getKey()));
            values.add(UTF8String.fromString(entry.getValue().toString()));
        }
        return new ArrayBasedMapData(
                new GenericArrayData(names.toArray()), new GenericArrayData(values.toArray()));
    }

    /** What is at a path: a text as it is, anything else as JSON. */
    public static UTF8String field(UTF8String text, UTF8String path) {
        List<String> steps = JsonPaths.steps(path.toString());
        JsonNode node = steps == null ? null : read(text);
        Iterator<String> left = steps == null ? null : steps.iterator();
        while (node != null && left.hasNext()) {
            node = within(node, left.next());
        }
        if (node == null) {
            return null;
        }
        return UTF8String.fromString(node.isTextual() ? node.asText() : node.toString());
    }

    private static JsonNode within(JsonNode node, String step) {
        if (!(node instanceof ArrayNode)) {
            return node.get(step);
        }
        try {
            return node.get(Integer.parseInt(step));
        } catch (NumberFormatException noPlace) {
            return null;
        }
    }

    /** Whether an array has this value, which is JSON too. */
    public static boolean contains(UTF8String text, UTF8String value) {
        JsonNode wanted = read(value);
        if (read(text) instanceof ArrayNode array) {
            for (JsonNode element : array) {
                if (element.equals(wanted)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Objects merged into one, of which the later one wins; of anything else an array of all. */
    public static UTF8String concat(ArrayData texts) {
        JsonNode result = null;
        for (int index = 0; index < texts.numElements(); index++) {
            JsonNode next =
                    texts.isNullAt(index)
                            ? null
                            : read((UTF8String) texts.get(index, DataTypes.StringType));
            if (next == null) {
                return null;
            }
            result = result == null ? next : together(result, next);
        }
        return result == null ? null : UTF8String.fromString(result.toString());
    }

    private static JsonNode together(JsonNode left, JsonNode right) {
        if (left instanceof ObjectNode object && right instanceof ObjectNode other) {
            return object.setAll(other);
        }
        return elements(left).addAll(elements(right));
    }

    private static ArrayNode elements(JsonNode node) {
        return node instanceof ArrayNode array ? array : MAPPER.createArrayNode().add(node);
    }

    private static JsonNode read(UTF8String text) {
        try {
            JsonNode node = MAPPER.readTree(text.toString());
            return node == null || node.isMissingNode() ? null : node;
        } catch (JsonProcessingException malformed) {
            return null;
        }
    }
}
