/** Functions of ksqlDB that Spark's SQL does not have, each a static method over Spark's values. */
package io.headwater.functions;
