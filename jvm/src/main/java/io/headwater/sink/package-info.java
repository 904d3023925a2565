/**
 * Kafka topics for Spark, exactly once: a sink that writes each task of a micro-batch in a Kafka
 * transaction which also records the batch.
 */
package io.headwater.sink;
