package io.headwater.functions;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/** Regular expressions of Java's. What is no pattern, or asks for a group that is not there, gives null. */
public final class Regexps {
    private static final int MOST_PATTERNS = 1000;
    private static final Map<String, Pattern> PATTERNS = new ConcurrentHashMap<>();

    private Regexps() {}

    /** What matches first, or the group of it; null where nothing does. */
    public static UTF8String extract(UTF8String text, UTF8String pattern, int group) {
        Matcher matcher = matcher(text, pattern);
        if (matcher == null || group < 0 || group > matcher.groupCount() || !matcher.find()) {
            return null;
        }
        return UTF8String.fromString(matcher.group(group));
    }

    /** All that matches, or the group of each. */
    public static ArrayData extractAll(UTF8String text, UTF8String pattern, int group) {
        Matcher matcher = matcher(text, pattern);
        if (matcher == null || group < 0 || group > matcher.groupCount()) {
            return null;
        }
        List<UTF8String> found = new ArrayList<>();
        while (matcher.find()) {
            found.add(UTF8String.fromString(matcher.group(group)));
        }
        return new GenericArrayData(found.toArray());
    }

    /** The text with something else for all that matches; {@code $1} in it is the first group. */
    public static UTF8String replace(UTF8String text, UTF8String pattern, UTF8String replacement) {
        Matcher matcher = matcher(text, pattern);
        try {
            return matcher == null
                    ? null
                    : UTF8String.fromString(matcher.replaceAll(replacement.toString()));
        } catch (IllegalArgumentException | IndexOutOfBoundsException noReplacement) {
            return null;
        }
    }

    /** The parts between matches; with an empty pattern each letter by itself. */
    public static ArrayData split(UTF8String text, UTF8String pattern) {
        Matcher matcher = matcher(text, pattern);
        if (matcher == null) {
            return null;
        }
        String whole = text.toString();
        boolean isByLetter = pattern.numBytes() == 0 && !whole.isEmpty();
        String[] parts = matcher.pattern().split(whole, isByLetter ? 0 : -1);
        Object[] found = new Object[parts.length];
        for (int index = 0; index < found.length; index++) {
            found[index] = UTF8String.fromString(parts[index]);
        }
        return new GenericArrayData(found);
    }

    private static Matcher matcher(UTF8String text, UTF8String pattern) {
        String wanted = pattern.toString();
        Pattern known = PATTERNS.get(wanted);
        if (known == null) {
            try {
                known = Pattern.compile(wanted);
            } catch (IllegalArgumentException malformed) {
                return null;
            }
            // Patterns may be a column's values: what is remembered of them has an end.
            if (PATTERNS.size() < MOST_PATTERNS) {
                PATTERNS.put(wanted, known);
            }
        }
        return known.matcher(text.toString());
    }
}
