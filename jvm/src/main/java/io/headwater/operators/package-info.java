/**
 * Stateful operators with the semantics of Kafka Streams, as processors of Spark's
 * transformWithState. Each works on rows of any schema; {@code headwater.spark.operators} lays the
 * rows out and calls {@link io.headwater.operators.Operators}.
 */
package io.headwater.operators;
