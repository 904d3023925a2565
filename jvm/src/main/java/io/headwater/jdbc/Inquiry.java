package io.headwater.jdbc;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The driver's own connection to a database: looks for news and for tables, and makes them.
 *
 * <p>It is called from Python, where each call and each object costs; so all answers are one text,
 * in JSON, with values as the database writes them, and so are lists of queries.
 */
public final class Inquiry implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Connection connection;

    public Inquiry(Database database) throws SQLException, ReflectiveOperationException {
        connection = database.open();
    }

    /** Returns the first row of each query; null where there is none. */
    public String firstRows(String queries) throws SQLException, JsonProcessingException {
        List<List<String>> found = new ArrayList<>();
        try (Statement statement = connection.createStatement()) {
            statement.setMaxRows(1);
            for (String query : JSON.readValue(queries, String[].class)) {
                try (ResultSet rows = statement.executeQuery(query)) {
                    found.add(rows.next() ? texts(rows) : null);
                }
            }
        }
        return JSON.writeValueAsString(found);
    }

    /** Returns all rows of a query, which are few. */
    public String rows(String query) throws SQLException, JsonProcessingException {
        List<List<String>> found = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            while (rows.next()) {
                found.add(texts(rows));
            }
        }
        return JSON.writeValueAsString(found);
    }

    /** Runs statements that return nothing, each by itself. */
    public void execute(List<String> statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }

    /** Returns catalog, schema and name of the tables like this name; of any type, if of none. */
    public String tables(String catalog, String schema, String name, List<String> types)
            throws SQLException, JsonProcessingException {
        List<List<String>> found = new ArrayList<>();
        String where = catalog == null ? connection.getCatalog() : catalog;
        String[] wanted = types.isEmpty() ? null : types.toArray(new String[0]);
        try (ResultSet rows = connection.getMetaData().getTables(where, schema, name, wanted)) {
            while (rows.next()) {
                List<String> table = new ArrayList<>();
                table.add(rows.getString("TABLE_CAT"));
                table.add(rows.getString("TABLE_SCHEM"));
                table.add(rows.getString("TABLE_NAME"));
                found.add(table);
            }
        }
        return JSON.writeValueAsString(found);
    }

    /** Returns the columns of the result of each query. */
    public String columns(String queries) throws SQLException, JsonProcessingException {
        List<List<Map<String, Object>>> found = new ArrayList<>();
        try (Statement statement = connection.createStatement()) {
            for (String query : JSON.readValue(queries, String[].class)) {
                try (ResultSet rows = statement.executeQuery(query)) {
                    found.add(columns(rows.getMetaData()));
                }
            }
        }
        return JSON.writeValueAsString(found);
    }

    /** Gives up a connection that has failed. */
    public void abandon() throws SQLException {
        connection.abort(Runnable::run);
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }

    private static List<String> texts(ResultSet rows) throws SQLException {
        List<String> texts = new ArrayList<>();
        for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
            texts.add(rows.getString(i));
        }
        return texts;
    }

    private static List<Map<String, Object>> columns(ResultSetMetaData columns)
            throws SQLException {
        List<Map<String, Object>> found = new ArrayList<>();
        for (int i = 1; i <= columns.getColumnCount(); i++) {
            Map<String, Object> column = new LinkedHashMap<>();
            column.put("name", columns.getColumnLabel(i));
            column.put("jdbc_type", columns.getColumnType(i));
            column.put("type_name", columns.getColumnTypeName(i));
            column.put("precision", columns.getPrecision(i));
            column.put("scale", columns.getScale(i));
            column.put("is_signed", columns.isSigned(i));
            column.put("is_nullable", columns.isNullable(i) != ResultSetMetaData.columnNoNulls);
            column.put("is_counted", columns.isAutoIncrement(i));
            found.add(column);
        }
        return found;
    }
}
