package io.headwater.files;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;

import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Hadoop's file system of this machine, which asks the kernel itself for what Hadoop forks a shell's
 * command for.
 *
 * <p>Without Hadoop's native library, which Spark comes without, every file that is created costs a
 * process that runs {@code chmod}, and a second one for its checksums. A micro-batch with state
 * creates about a dozen files.
 */
public final class LocalFiles extends LocalFileSystem {

    /** Spark's and Hadoop's way in. */
    public LocalFiles() {
        super(new Raw());
    }

    private static final class Raw extends RawLocalFileSystem {

        private static final boolean IS_POSIX =
                FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

        @Override
        public void setPermission(Path path, FsPermission permission) throws IOException {
            java.nio.file.Path file = pathToFile(path).toPath();
            if (permission.getStickyBit() || !IS_POSIX) {
                super.setPermission(path, permission); // what Java's permissions do not have
                return;
            }
            String letters = permission.getUserAction().SYMBOL
                    + permission.getGroupAction().SYMBOL
                    + permission.getOtherAction().SYMBOL;
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(letters));
        }
    }
}
