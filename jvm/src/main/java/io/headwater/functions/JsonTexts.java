package io.headwater.functions;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/** JSON in texts. What is no JSON, or not of the kind that is asked for, gives null. */
public final class JsonTexts {
    private static final ObjectMapper MAPPER =
            new ObjectMapper()
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

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
