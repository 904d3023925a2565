package io.headwater.functions;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalQueries;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.unsafe.types.UTF8String;

/** Times in milliseconds since 1970, read and written by the patterns of Java's DateTimeFormatter. */
public final class Times {
    private static final int MOST_PATTERNS = 1000;
    private static final Map<String, DateTimeFormatter> FORMATTERS = new ConcurrentHashMap<>();

    private Times() {}

    /** A time as text; null where the pattern or the zone is none. */
    public static UTF8String format(long millis, UTF8String pattern, UTF8String zone) {
        try {
            ZoneId at = ZoneId.of(zone.toString());
            return UTF8String.fromString(
                    formatter(pattern.toString()).format(Instant.ofEpochMilli(millis).atZone(at)));
        } catch (DateTimeException | IllegalArgumentException refused) {
            return null;
        }
    }

    /** The time that a text says, in a zone unless the text says its own; null if it says none. */
    public static Long parse(UTF8String text, UTF8String pattern, UTF8String zone) {
        try {
            TemporalAccessor parsed = formatter(pattern.toString()).parse(text.toString());
            ZoneId said = parsed.query(TemporalQueries.zone());
            LocalDateTime time = LocalDateTime.of(dateOf(parsed), timeOf(parsed));
            return time.atZone(said == null ? ZoneId.of(zone.toString()) : said)
                    .toInstant()
                    .toEpochMilli();
        } catch (DateTimeException | IllegalArgumentException refused) {
            return null;
        }
    }

    /** The time at which another zone's clocks show what those of this one do. */
    public static Long convertZone(long millis, UTF8String from, UTF8String to) {
        try {
            Instant instant = Instant.ofEpochMilli(millis);
            int before = ZoneId.of(from.toString()).getRules().getOffset(instant).getTotalSeconds();
            int after = ZoneId.of(to.toString()).getRules().getOffset(instant).getTotalSeconds();
            return millis + (after - before) * 1000L;
        } catch (DateTimeException refused) {
            return null;
        }
    }

    /** What a pattern leaves open is the beginning of 1970. */
    private static LocalDate dateOf(TemporalAccessor parsed) {
        LocalDate date = parsed.query(TemporalQueries.localDate());
        if (date != null) {
            return date;
        }
        int year = fieldOf(parsed, ChronoField.YEAR, fieldOf(parsed, ChronoField.YEAR_OF_ERA, 1970));
        if (parsed.isSupported(ChronoField.DAY_OF_YEAR)) {
            return LocalDate.ofYearDay(year, parsed.get(ChronoField.DAY_OF_YEAR));
        }
        return LocalDate.of(
                year,
                fieldOf(parsed, ChronoField.MONTH_OF_YEAR, 1),
                fieldOf(parsed, ChronoField.DAY_OF_MONTH, 1));
    }

    private static LocalTime timeOf(TemporalAccessor parsed) {
        LocalTime time = parsed.query(TemporalQueries.localTime());
        return time != null
                ? time
                : LocalTime.of(
                        fieldOf(parsed, ChronoField.HOUR_OF_DAY, 0),
                        fieldOf(parsed, ChronoField.MINUTE_OF_HOUR, 0),
                        fieldOf(parsed, ChronoField.SECOND_OF_MINUTE, 0));
    }

    private static int fieldOf(TemporalAccessor parsed, ChronoField field, int otherwise) {
        return parsed.isSupported(field) ? parsed.get(field) : otherwise;
    }

    private static DateTimeFormatter formatter(String pattern) {
        DateTimeFormatter known = FORMATTERS.get(pattern);
        if (known != null) {
            return known;
        }
        DateTimeFormatter made =
                new DateTimeFormatterBuilder()
                        .parseCaseInsensitive()
                        .appendPattern(pattern)
                        .toFormatter(java.util.Locale.ENGLISH);
        // Patterns may be a column's values: what is remembered of them has an end.
        if (FORMATTERS.size() < MOST_PATTERNS) {
            FORMATTERS.put(pattern, made);
        }
        return made;
    }
}
