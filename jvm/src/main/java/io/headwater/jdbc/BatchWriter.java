package io.headwater.jdbc;

import java.io.Serializable;
import java.math.BigDecimal;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.Date;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.Calendar;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import org.apache.spark.api.java.function.ForeachPartitionFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Writes rows to tables, each task's in one transaction of the database.
 *
 * <p>Rows have the columns _topic, _partition and _offset, topic, whether they delete, and then the
 * values in the order in which the statements take them: the key's last, so that a delete takes the
 * last ones. With a table of offsets, that same transaction says up to where each partition was
 * written, and rows before that are left out.
 */
public final class BatchWriter implements ForeachPartitionFunction<Row> {
    private static final long serialVersionUID = 1L;
    private static final int VALUES = 5;

    /** The statements for the rows of one topic. */
    public static final class Target implements Serializable {
        private static final long serialVersionUID = 1L;
        final String write;
        final String delete;

        public Target(String write, String delete) {
            this.write = write;
            this.delete = delete;
        }
    }

    /** How the positions of a connector are read and written; both statements name it. */
    public static final class Offsets implements Serializable {
        private static final long serialVersionUID = 1L;
        final String read;
        final String write;

        public Offsets(String read, String write) {
            this.read = read;
            this.write = write;
        }
    }

    private final Database database;
    private final Map<String, Target> targets;
    private final Offsets offsets;
    private final int keyLength;
    private final int batchSize;
    private final String zone;

    public BatchWriter(
            Database database,
            Map<String, Target> targets,
            Offsets offsets,
            int keyLength,
            int batchSize,
            String zone) {
        this.database = database;
        this.targets = new HashMap<>(targets);
        this.offsets = offsets;
        this.keyLength = keyLength;
        this.batchSize = batchSize;
        this.zone = zone;
    }

    /** Writes all rows; returns when they are committed. */
    public void write(Dataset<Row> rows) {
        rows.foreachPartition(this);
    }

    @Override
    public void call(Iterator<Row> rows) throws Exception {
        if (!rows.hasNext()) {
            return;
        }
        try (Connection connection = database.open()) {
            connection.setAutoCommit(false);
            try {
                new Transaction(connection).write(rows);
                connection.commit();
            } catch (SQLException | RuntimeException failure) {
                rollBack(connection);
                throw failure;
            }
        } catch (SQLException failure) {
            throw Database.told(failure);
        }
    }

    private static void rollBack(Connection connection) {
        try {
            connection.rollback();
        } catch (SQLException lost) {
            return; // the database has done so itself, when it lost the connection
        }
    }

    private final class Transaction {
        private final Connection connection;
        private final Calendar calendar = Calendar.getInstance(TimeZone.getTimeZone(zone));
        private final Map<String, Map<Integer, Long>> positions = new HashMap<>();
        private final Map<String, PreparedStatement> statements = new HashMap<>();
        private PreparedStatement pending;
        private int waiting;

        Transaction(Connection connection) {
            this.connection = connection;
        }

        void write(Iterator<Row> rows) throws SQLException {
            while (rows.hasNext()) {
                Row row = rows.next();
                if (isNew(row.getString(0), row.getInt(1), row.getLong(2))) {
                    add(row);
                }
            }
            flush();
            if (offsets != null) {
                remember();
            }
        }

        private boolean isNew(String topic, int partition, long offset) throws SQLException {
            Map<Integer, Long> mine = positions.computeIfAbsent(topic, none -> new HashMap<>());
            Long position = mine.get(partition);
            if (position == null) {
                position = offsets == null ? 0L : lockedPosition(topic, partition);
                mine.put(partition, position);
            }
            if (offset < position) {
                return false;
            }
            mine.put(partition, offset + 1);
            return true;
        }

        /** Nobody else writes this partition's rows from here on until the transaction is over. */
        private long lockedPosition(String topic, int partition) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement(offsets.read)) {
                statement.setString(1, topic);
                statement.setInt(2, partition);
                try (ResultSet found = statement.executeQuery()) {
                    if (!found.next()) {
                        throw new SQLException(
                                "the position of " + topic + "-" + partition + " is gone");
                    }
                    return found.getLong(1);
                }
            }
        }

        private void add(Row row) throws SQLException {
            Target target = targets.get(row.getString(3));
            boolean deletes = row.getBoolean(4);
            String sql = deletes ? target.delete : target.write;
            PreparedStatement statement = statements.get(sql);
            if (statement == null) {
                statement = connection.prepareStatement(sql);
                statements.put(sql, statement);
            }
            if (statement != pending) { // what was there first is written first
                flush();
                pending = statement;
            }
            int first = deletes ? row.size() - keyLength : VALUES;
            for (int i = first; i < row.size(); i++) {
                bind(statement, i - first + 1, row.get(i));
            }
            statement.addBatch();
            if (++waiting >= batchSize) {
                flush();
            }
        }

        private void flush() throws SQLException {
            if (waiting == 0) {
                return;
            }
            waiting = 0;
            try {
                pending.executeBatch();
            } catch (BatchUpdateException failure) {
                SQLException cause = failure.getNextException(); // which says what was wrong
                throw cause == null ? failure : cause;
            }
        }

        private void remember() throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement(offsets.write)) {
                for (Map.Entry<String, Map<Integer, Long>> topic : positions.entrySet()) {
                    for (Map.Entry<Integer, Long> partition : topic.getValue().entrySet()) {
                        statement.setLong(1, partition.getValue());
                        statement.setString(2, topic.getKey());
                        statement.setInt(3, partition.getKey());
                        statement.executeUpdate();
                    }
                }
            }
        }

        private void bind(PreparedStatement statement, int index, Object value)
                throws SQLException {
            if (value == null) {
                statement.setObject(index, null);
            } else if (value instanceof Timestamp) {
                statement.setTimestamp(index, (Timestamp) value, calendar);
            } else if (value instanceof Date) {
                statement.setDate(index, (Date) value);
            } else if (value instanceof BigDecimal) {
                statement.setBigDecimal(index, (BigDecimal) value);
            } else if (value instanceof byte[]) {
                statement.setBytes(index, (byte[]) value);
            } else {
                statement.setObject(index, value);
            }
        }
    }
}
