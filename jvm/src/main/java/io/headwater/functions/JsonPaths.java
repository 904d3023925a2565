package io.headwater.functions;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Paths into JSON: {@code $.name}, {@code $["any name"]} and {@code $[0]}, one after the other. */
final class JsonPaths {
    private static final Pattern STEP =
            Pattern.compile(
                    "\\.([:_\\p{L}\\p{Nd}]+)|\\[([_\\p{L}\\p{Nd}]+)]"
                            + "|\\[\"((?:[^\"\\\\]|\\\\[\"\\\\])*)\"]");

    private JsonPaths() {}

    /** The names and numbers of a path's steps; null for what is no path. */
    static List<String> steps(String path) {
        if (!path.startsWith("$")) {
            return null;
        }
        List<String> steps = new ArrayList<>();
        Matcher matcher = STEP.matcher(path);
        int at = 1;
        while (at < path.length()) {
            if (!matcher.find(at) || matcher.start() != at) {
                return null;
            }
            if (matcher.group(3) != null) {
                steps.add(matcher.group(3).replaceAll("\\\\(.)", "$1"));
            } else {
                steps.add(matcher.group(1) != null ? matcher.group(1) : matcher.group(2));
            }
            at = matcher.end();
        }
        return steps;
    }
}
