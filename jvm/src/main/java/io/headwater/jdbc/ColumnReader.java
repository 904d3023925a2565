package io.headwater.jdbc;

import java.io.Serializable;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.sql.Date;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Calendar;
import java.util.TimeZone;

/** Fetches one column's value as the type that Connect's schema gives it in Spark. */
interface ColumnReader extends Serializable {
    Object read(ResultSet rows, int column) throws SQLException;

    /** Returns the reader of a kind: a type of Connect's, maybe with a scale or a time zone. */
    static ColumnReader of(String kind) {
        String[] parts = kind.split("@", 2);
        String argument = parts.length > 1 ? parts[1] : "";
        switch (parts[0]) {
            case "int8":
                return unlessNull(ResultSet::getByte);
            case "int16":
                return unlessNull(ResultSet::getShort);
            case "int32":
                return unlessNull(ResultSet::getInt);
            case "int64":
                return unlessNull(ResultSet::getLong);
            case "float":
                return unlessNull(ResultSet::getFloat);
            case "double":
                return unlessNull(ResultSet::getDouble);
            case "boolean":
                return unlessNull(ResultSet::getBoolean);
            case "string":
                return ResultSet::getString;
            case "bytes":
                return ResultSet::getBytes;
            case "decimal":
                return decimal(Integer.parseInt(argument));
            case "date":
                return (rows, column) -> day(rows.getString(column));
            case "time":
                return (rows, column) -> millisOfDay(rows.getString(column));
            case "timestamp":
                return timestamp(argument);
            case "timestamp-text":
                return timestampText(argument);
            default:
                throw new IllegalArgumentException("no column is of the kind " + kind);
        }
    }

    private static ColumnReader unlessNull(ColumnReader reader) {
        return (rows, column) -> {
            Object value = reader.read(rows, column);
            return rows.wasNull() ? null : value;
        };
    }

    private static ColumnReader decimal(int scale) {
        return (rows, column) -> {
            BigDecimal value = rows.getBigDecimal(column);
            return value == null ? null : value.setScale(scale, RoundingMode.UNNECESSARY);
        };
    }

    private static Date day(String text) {
        return text == null ? null : Date.valueOf(text.substring(0, Math.min(10, text.length())));
    }

    private static Integer millisOfDay(String text) {
        return text == null ? null : (int) (LocalTime.parse(text).toNanoOfDay() / 1_000_000);
    }

    private static ColumnReader timestamp(String zone) {
        return (rows, column) ->
                rows.getTimestamp(column, Calendar.getInstance(TimeZone.getTimeZone(zone)));
    }

    private static ColumnReader timestampText(String zone) {
        return (rows, column) -> {
            Object value = rows.getObject(column);
            if (value instanceof Number) {
                return new Timestamp(((Number) value).longValue());
            }
            return value == null ? null : moment(value.toString(), ZoneId.of(zone));
        };
    }

    private static Timestamp moment(String text, ZoneId zone) {
        String written = text.length() == 10 ? text + "T00:00:00" : text.replace(' ', 'T');
        LocalDateTime wall = LocalDateTime.parse(written, DateTimeFormatter.ISO_LOCAL_DATE_TIME);
        return Timestamp.from(wall.atZone(zone).toInstant());
    }
}
