/** JSON objects of texts, numbers and truth values, read and written without a second pass. */
package io.headwater.json;
