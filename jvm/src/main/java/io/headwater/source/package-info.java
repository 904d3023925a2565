/**
 * Kafka topics for Spark as its own connector reads them, but in an order that a replay repeats, and
 * at next to no cost while there is nothing to read.
 */
package io.headwater.source;
