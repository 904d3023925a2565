/** What Spark's planner does not know: where a shuffle of a stream has nothing to do. */
package io.headwater.planning;
