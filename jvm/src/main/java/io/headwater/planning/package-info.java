/** What Spark's planner does not know: shuffles with nothing to do, and JSON that is plain. */
package io.headwater.planning;
