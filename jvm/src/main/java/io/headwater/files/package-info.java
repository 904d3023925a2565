/** This machine's files, for Hadoop's file systems. */
package io.headwater.files;
