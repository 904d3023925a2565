/** What Spark lacks for Kafka's semantics: stateful operators and an exactly-once sink. */
package io.headwater;
