/**
 * Databases through JDBC, for headwater.connect.connectors.jdbc: a connection of the driver's, and
 * the functions that read and write rows in Spark's tasks.
 *
 * <p>Which SQL is run is decided in Python; here it is run, and values are bound and fetched.
 */
package io.headwater.jdbc;
