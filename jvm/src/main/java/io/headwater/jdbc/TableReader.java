package io.headwater.jdbc;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.Serializable;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.TaskCompletionListener;

/**
 * Rows of queries as a topic and a value, read in tasks when somebody needs them.
 *
 * <p>Each task has a connection, and runs its queries one after the other; rows pass through it as
 * the database sends them.
 */
public final class TableReader implements MapPartitionsFunction<Long, Row> {
    private static final long serialVersionUID = 1L;

    /** A query, and the topic of its rows. */
    private record Query(String sql, String topic) implements Serializable {}

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Database database;
    private final List<List<Query>> tasks = new ArrayList<>();
    private final ColumnReader[] columns;
    private final int fetchSize;

    /**
     * Makes one for so many tasks, in JSON: a list for each, with the SQL and the topic of each of its
     * queries. There may be thousands, and from Python each object would be a call.
     */
    public TableReader(Database database, String tasks, List<String> columns, int fetchSize)
            throws JsonProcessingException {
        this.database = database;
        for (String[][] task : JSON.readValue(tasks, String[][][].class)) {
            List<Query> queries = new ArrayList<>();
            for (String[] query : task) {
                queries.add(new Query(query[0], query[1]));
            }
            this.tasks.add(queries);
        }
        this.columns = columns.stream().map(ColumnReader::of).toArray(ColumnReader[]::new);
        this.fetchSize = fetchSize;
    }

    /** Returns the rows of all tasks; the schema has the columns topic and value. */
    public Dataset<Row> read(SparkSession session, String schema) {
        StructType type = StructType.fromDDL(schema);
        return session
                .range(0, tasks.size(), 1, tasks.size())
                .mapPartitions(this, Encoders.row(type));
    }

    @Override
    public Iterator<Row> call(Iterator<Long> numbers) throws Exception {
        List<Query> mine = new ArrayList<>();
        numbers.forEachRemaining(number -> mine.addAll(tasks.get(number.intValue())));
        if (mine.isEmpty()) {
            return Collections.emptyIterator();
        }
        Connection connection = open();
        TaskContext.get()
                .addTaskCompletionListener((TaskCompletionListener) done -> close(connection));
        connection.setAutoCommit(false); // else PostgreSQL would send all rows at once
        return new Rows(connection, mine.iterator());
    }

    private Connection open() throws SQLException, ReflectiveOperationException {
        try {
            return database.open();
        } catch (SQLException failure) {
            throw Database.told(failure);
        }
    }

    private static void close(Connection connection) {
        try {
            connection.close();
        } catch (SQLException failure) {
            throw new IllegalStateException(
                    "the connection could not be closed", Database.told(failure));
        }
    }

    private final class Rows implements Iterator<Row> {
        private final Connection connection;
        private final Iterator<Query> queries;
        private Query query;
        private Statement statement;
        private ResultSet rows;
        private boolean isAhead;

        Rows(Connection connection, Iterator<Query> queries) {
            this.connection = connection;
            this.queries = queries;
        }

        @Override
        public boolean hasNext() {
            try {
                while (!isAhead) {
                    if (rows != null && rows.next()) {
                        isAhead = true;
                    } else if (!nextQuery()) {
                        return false;
                    }
                }
                return true;
            } catch (SQLException failure) {
                throw failed(failure);
            }
        }

        @Override
        public Row next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            isAhead = false;
            Object[] values = new Object[columns.length];
            try {
                for (int i = 0; i < values.length; i++) {
                    values[i] = columns[i].read(rows, i + 1);
                }
            } catch (SQLException failure) {
                throw failed(failure);
            }
            return RowFactory.create(query.topic, RowFactory.create(values));
        }

        private IllegalStateException failed(SQLException failure) {
            SQLException told = Database.told(failure);
            return new IllegalStateException(told.getMessage() + " in: " + query.sql, told);
        }

        private boolean nextQuery() throws SQLException {
            if (statement != null) {
                statement.close();
            }
            rows = null;
            if (!queries.hasNext()) {
                return false;
            }
            query = queries.next();
            statement = connection.createStatement();
            statement.setFetchSize(fetchSize);
            rows = statement.executeQuery(query.sql);
            return true;
        }
    }
}
