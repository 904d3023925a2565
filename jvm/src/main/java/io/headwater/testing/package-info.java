/** What a program's own tests give it: records without a broker, and a clock that they move. */
package io.headwater.testing;
