package io.headwater.jdbc;

import java.io.Serializable;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;

/** A database by its URL, and how to log in; opens connections wherever its tasks run. */
public final class Database implements Serializable {
    private static final long serialVersionUID = 1L;

    // Drivers come while the JVM runs, so that DriverManager, which looks at its callers' class
    // loaders, would not see them. They are loaded by their class, and asked directly.
    private static final Map<String, Driver> DRIVERS = new ConcurrentHashMap<>();

    private final String url;
    private final String driverClass;
    private final Properties login;
    private final List<String> preparations;

    public Database(
            String url, String driverClass, Map<String, String> login, List<String> preparations) {
        this.url = url;
        this.driverClass = driverClass;
        this.login = new Properties();
        this.login.putAll(login);
        this.preparations = new ArrayList<>(preparations);
    }

    /** Loads a driver from these jars for this JVM, unless it has it already. */
    public static void addDriver(String driverClass, List<String> jars)
            throws ReflectiveOperationException, MalformedURLException {
        if (DRIVERS.containsKey(driverClass)) {
            return;
        }
        List<URL> urls = new ArrayList<>();
        for (String jar : jars) {
            urls.add(Path.of(jar).toUri().toURL());
        }
        // Never closed: the driver loads classes as long as it is used.
        ClassLoader loader =
                new URLClassLoader(urls.toArray(new URL[0]), Database.class.getClassLoader());
        DRIVERS.putIfAbsent(driverClass, instance(driverClass, loader));
    }

    /** Returns a connection whose changes are committed one by one until it is told otherwise. */
    public Connection open() throws SQLException, ReflectiveOperationException {
        Driver driver = DRIVERS.get(driverClass);
        if (driver == null) { // in an executor, which got the jar from the driver
            driver = instance(driverClass, Thread.currentThread().getContextClassLoader());
            DRIVERS.putIfAbsent(driverClass, driver);
        }
        Connection connection = driver.connect(url, login);
        if (connection == null) {
            throw new SQLException(driverClass + " does not take this connection.url");
        }
        try (Statement statement = connection.createStatement()) {
            for (String preparation : preparations) {
                statement.execute(preparation);
            }
        } catch (SQLException failure) {
            connection.close();
            throw failure;
        }
        return connection;
    }

    /**
     * Returns a failure that has none of the driver's own classes: whoever is told of it, Spark's
     * driver for one, may not be able to load them, and would tell nothing.
     */
    static SQLException told(SQLException failure) {
        SQLException told =
                new SQLException(
                        failure.getMessage(), failure.getSQLState(), failure.getErrorCode());
        told.setStackTrace(failure.getStackTrace());
        return told;
    }

    private static Driver instance(String driverClass, ClassLoader loader)
            throws ReflectiveOperationException {
        return (Driver)
                Class.forName(driverClass, true, loader).getDeclaredConstructor().newInstance();
    }
}
