"""A file system (FUSE) that shows a directory and writes down each change in order, and what was flushed when.

recording-file-system.py DIRECTORY MOUNTPOINT JOURNAL: a line of JSON for each change goes to JOURNAL, written bytes go to JOURNAL.data.
What is written to the file .marks changes nothing: it stands in the journal as a mark, after all that was done before it.
"""
import json
import os
import random
import stat
import sys
import threading
import time

import fusepy

MARKS = '/.marks'
# A disk needs a while for a flush. What is written meanwhile is not covered by it.
FLUSH_SECONDS = (0.001, 0.006)


class Recording(fusepy.Operations):
    use_ns = True

    def __init__(self, directory, journal):
        self.directory = directory
        self.lines = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.data = os.open(journal + '.data', os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.bytes = 0
        self.count = 0
        self.nodes = {os.lstat(directory).st_ino: 0}
        self.made = 0
        # A change and its line are one step: the order of the journal is the order of the changes.
        self.lock = threading.RLock()

    def at(self, path):
        return self.directory + path

    def note(self, **change):
        os.write(self.lines, (json.dumps(change) + '\n').encode())
        self.count += 1

    def node(self, path=None, handle=None):
        found = os.lstat(self.at(path)) if handle is None else os.fstat(handle)
        return self.nodes[found.st_ino]

    def place(self, path):
        parent, name = os.path.split(path)
        return self.node(parent), name

    def note_made(self, path, kind, **more):
        # The number of an inode is used again once its file is gone, so each file has a number of its own here.
        self.made += 1
        found = os.lstat(self.at(path))
        self.nodes[found.st_ino] = self.made
        parent, name = self.place(path)
        mode = stat.S_IMODE(found.st_mode)
        self.note(op='make', kind=kind, node=self.made, parent=parent, name=name, mode=mode, **more)

    # What changes something.

    def create(self, path, mode, fi=None):
        with self.lock:
            is_new = not os.path.lexists(self.at(path))
            handle = os.open(self.at(path), os.O_RDWR | os.O_CREAT, mode)
            if is_new:
                self.note_made(path, 'file')
            return handle

    def mknod(self, path, mode, dev):
        with self.lock:
            os.mknod(self.at(path), mode, dev)
            self.note_made(path, 'file' if stat.S_ISREG(mode) else 'other')

    def mkdir(self, path, mode):
        with self.lock:
            os.mkdir(self.at(path), mode)
            self.note_made(path, 'directory')

    def symlink(self, path, target):
        with self.lock:
            os.symlink(target, self.at(path))
            self.note_made(path, 'link', target=target)

    def link(self, path, source):
        with self.lock:
            os.link(self.at(source), self.at(path))
            parent, name = self.place(path)
            self.note(op='link', node=self.node(path), parent=parent, name=name)

    def unlink(self, path):
        self.remove(path, os.unlink)

    def rmdir(self, path):
        self.remove(path, os.rmdir)

    def remove(self, path, removing):
        with self.lock:
            node = self.node(path)
            removing(self.at(path))
            parent, name = self.place(path)
            self.note(op='remove', node=node, parent=parent, name=name)

    def rename(self, old, new):
        with self.lock:
            node = self.node(old)
            os.rename(self.at(old), self.at(new))
            (before, old_name), (parent, name) = self.place(old), self.place(new)
            self.note(op='move', node=node, before=before, oldName=old_name, parent=parent, name=name)

    def write(self, path, data, offset, handle):
        with self.lock:
            if path == MARKS:
                self.note(op='mark', text=data.decode())
                return len(data)
            os.pwrite(handle, data, offset)
            os.write(self.data, data)
            node = self.node(handle=handle)
            self.note(op='write', node=node, offset=offset, start=self.bytes, length=len(data))
            self.bytes += len(data)
            return len(data)

    def truncate(self, path, length, fh=None):
        if path == MARKS:
            return
        with self.lock:
            os.truncate(self.at(path) if fh is None else fh, length)
            self.note(op='size', node=self.node(path, fh), size=length)

    def chmod(self, path, mode):
        with self.lock:
            os.chmod(self.at(path), mode)
            self.note(op='mode', node=self.node(path), mode=stat.S_IMODE(mode))

    def chown(self, path, uid, gid):
        os.chown(self.at(path), uid, gid, follow_symlinks=False)

    def utimens(self, path, times=None):
        os.utime(self.at(path), ns=times, follow_symlinks=False)

    # What flushes.

    def flushed(self, node):
        with self.lock:
            covers = self.count
        time.sleep(random.uniform(*FLUSH_SECONDS))
        with self.lock:
            self.note(op='flush', node=node, covers=covers)

    def fsync(self, path, datasync, fh):
        self.flushed(self.node(handle=fh))

    def fsyncdir(self, path, datasync, fh):
        self.flushed(self.node(path))

    # What only looks.

    def getattr(self, path, fh=None):
        found = os.lstat(self.at(path)) if fh is None else os.fstat(fh)
        names = ('st_ino', 'st_mode', 'st_nlink', 'st_uid', 'st_gid', 'st_size', 'st_blocks', 'st_blksize')
        times = {name: getattr(found, f'{name}_ns') for name in ('st_atime', 'st_mtime', 'st_ctime')}
        return {name: getattr(found, name) for name in names} | times

    def open(self, path, flags):
        return os.open(self.at(path), flags & ~(os.O_CREAT | os.O_EXCL | os.O_APPEND))

    def read(self, path, size, offset, fh):
        return os.pread(fh, size, offset)

    def release(self, path, fh):
        os.close(fh)

    def readdir(self, path, fh):
        yield from ('.', '..')
        with os.scandir(self.at(path)) as entries:
            for entry in entries:
                try:
                    found = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                yield entry.name, {'st_mode': found.st_mode, 'st_ino': found.st_ino}, 0

    def readlink(self, path):
        return os.readlink(self.at(path))

    def statfs(self, path):
        found = os.statvfs(self.at(path))
        names = ('f_bavail', 'f_bfree', 'f_blocks', 'f_bsize', 'f_favail', 'f_ffree', 'f_files', 'f_frsize', 'f_namemax')
        return {name: getattr(found, name) for name in names}


def main():
    directory, mountpoint, journal = map(os.path.abspath, sys.argv[1:])
    os.umask(0)
    # Nobody else changes the directory, so the kernel may keep what it has seen.
    kept = {'entry_timeout': 3600, 'attr_timeout': 3600, 'kernel_cache': True}
    # Locks are for the kernel: this program knows none.
    fusepy.FUSE(Recording(directory, journal), mountpoint, fsname='recording', use_ino=True, hard_remove=True,
                big_writes=True, no_remote_lock=True, **kept)


main()
