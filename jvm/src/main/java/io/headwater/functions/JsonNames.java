package io.headwater.functions;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.unsafe.types.UTF8String;

/** Names of fields in JSON that are declared in capitals, and may be written in any. */
public final class JsonNames {
    private static final JsonFactory FACTORY =
            JsonFactory.builder().disable(StreamReadFeature.AUTO_CLOSE_SOURCE).build();
    private static final Map<UTF8String, Shape> SHAPES = new ConcurrentHashMap<>();

    private JsonNames() {}

    /**
     * A text in which names are in capitals that are declared so and written otherwise, unless the
     * object has the declared name too. What is no JSON stays as it is.
     *
     * @param shape the type that is declared, as JSON: {@code {"fields": {"NAME": ...}}} for an
     *     object, {@code {"items": ...}} for an array's elements or a map's values, else null
     */
    public static UTF8String inCapitals(UTF8String text, UTF8String shape) {
        Shape declared = SHAPES.get(shape);
        if (declared == null) {
            UTF8String kept = shape.copy();
            declared = SHAPES.computeIfAbsent(kept, JsonNames::parsed);
        }
        byte[] bytes = text.getBytes();
        List<Change> changes;
        try (JsonParser parser = FACTORY.createParser(bytes)) {
            changes = changes(parser, declared);
        } catch (IOException malformed) {
            return text;
        }
        if (changes.isEmpty()) {
            return text;
        }
        byte[] changed = bytes.clone();
        for (Change change : changes) {
            System.arraycopy(change.name, 0, changed, change.at, change.name.length);
        }
        return UTF8String.fromBytes(changed);
    }

    private static List<Change> changes(JsonParser parser, Shape root) throws IOException {
        List<Change> all = new ArrayList<>();
        Deque<Level> levels = new ArrayDeque<>();
        Shape next = root;
        for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
            Level level = levels.peek();
            switch (token) {
                case START_OBJECT, START_ARRAY -> {
                    Shape shape = level == null || level.isObject ? next : level.shape.items();
                    levels.push(new Level(shape, token == JsonToken.START_OBJECT));
                }
                case END_OBJECT, END_ARRAY -> {
                    levels.pop();
                    level.addTo(all);
                }
                case FIELD_NAME -> next = level.named(parser);
                default -> {}
            }
        }
        return all;
    }

    private static Shape parsed(UTF8String text) {
        try {
            return Shape.of(new ObjectMapper().readTree(text.toString()));
        } catch (IOException impossible) {
            throw new IllegalArgumentException("no shape: " + text, impossible);
        }
    }

    /** What is declared: names of an object, or what is in an array or a map. */
    private record Shape(Map<String, Shape> fields, Shape itemsOrNull) {
        private static final Shape NOTHING = new Shape(Map.of(), null);

        static Shape of(JsonNode node) {
            if (node.has("fields")) {
                Map<String, Shape> fields = new HashMap<>();
                node.get("fields").properties().forEach(
                        each -> fields.put(each.getKey(), of(each.getValue())));
                return new Shape(fields, null);
            }
            return node.has("items") ? new Shape(Map.of(), of(node.get("items"))) : NOTHING;
        }

        Shape items() {
            return itemsOrNull == null ? NOTHING : itemsOrNull;
        }
    }

    private record Change(String wanted, int at, byte[] name) {}

    /** An object or an array that is being read. */
    private static final class Level {
        private final Shape shape;
        private final boolean isObject;
        private Set<String> exact;
        private List<Change> changes;

        Level(Shape shape, boolean isObject) {
            this.shape = shape;
            this.isObject = isObject;
        }

        /** Takes a name; returns what is declared for its value. */
        Shape named(JsonParser parser) throws IOException {
            if (shape.itemsOrNull != null) {
                return shape.itemsOrNull; // of a map, whose keys are values
            }
            String name = parser.currentName();
            Shape declared = shape.fields.get(name);
            if (declared != null) {
                exact = exact == null ? new HashSet<>() : exact;
                exact.add(name);
                return declared;
            }
            String capitals = name.toUpperCase(Locale.ROOT);
            Shape meant = shape.fields.get(capitals);
            if (meant == null) {
                return Shape.NOTHING;
            }
            byte[] bytes = capitals.getBytes(StandardCharsets.UTF_8);
            long start = parser.currentTokenLocation().getByteOffset();
            // Escapes, and letters whose capitals are longer, have no room to be changed in.
            if (bytes.length == name.getBytes(StandardCharsets.UTF_8).length && start >= 0) {
                changes = changes == null ? new ArrayList<>() : changes;
                changes.add(new Change(capitals, (int) start + 1, bytes));
            }
            return meant;
        }

        void addTo(List<Change> all) {
            if (changes == null) {
                return;
            }
            for (Change change : changes) {
                if (exact == null || !exact.contains(change.wanted)) {
                    all.add(change);
                }
            }
        }
    }
}
