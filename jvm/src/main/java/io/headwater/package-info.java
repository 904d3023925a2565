/**
 * What Spark lacks for Kafka's semantics: stateful operators, topics that are waited for, and an
 * exactly-once sink.
 */
package io.headwater;
