"""The supervisor's parts: frames, files that programs tamper with, names as they are told, changed files."""

import mmap
import os
import shutil
import signal
import socket
import struct
import tempfile
import unittest

from castellan_session import frames, names
from castellan_session.changes import ChangedFiles
from castellan_session.failure import Failure
from castellan_session.files import Files
from castellan_session.interrupts import Interrupts
from castellan_session.loop import PIECE, Connection, Loop
from castellan_session.put_sink import PutSink


class Frames(unittest.TestCase):
    def read(self, data, sizes, maximum=None):
        found = []
        reader = frames.FrameReader(lambda head: frames.Collect(lambda body: found.append((head, body))), maximum)
        at = 0
        while at < len(data):
            size = sizes.pop(0) if sizes else len(data)
            reader.feed(data[at : at + size])
            at += size
        return found

    def test_are_the_same_wherever_they_are_cut(self):
        data = (
            frames.encode({"a": 1, "bytes": 4}, b"\n{}\n")
            + frames.encode({"ü": "\ud800"})
            + frames.encode({"bytes": 0})
        )
        whole = self.read(data, [])
        self.assertEqual(whole, [({"a": 1, "bytes": 4}, b"\n{}\n"), ({"ü": "\ud800"}, b""), ({"bytes": 0}, b"")])
        for at in range(1, len(data)):
            self.assertEqual(self.read(data, [at]), whole)
        self.assertEqual(self.read(data, [1] * len(data)), whole)

    def test_that_are_none_are_refused(self):
        for data in [
            b"x\n",
            b"[]\n",
            b"null\n",
            b'{"bytes": -1}\n',
            b'{"bytes": 1.5}\n',
            b'{"bytes": true}\n',
            b"\xff\n",
            b" " * frames.MAXIMUM_LINE + b"{}\n",
            b"[" * 100_000 + b"\n",
            b'{"bytes": 11}\n',
        ]:
            with self.assertRaises(frames.Breach):
                self.read(data, [], maximum=10)


class Connections(unittest.TestCase):
    def setUp(self):
        self.loop = Loop()
        ours, self.other = socket.socketpair()
        self.other.setblocking(False)
        fd = ours.detach()
        self.connection = Connection(self.loop, fd, fd, lambda _head: frames.Discard(), lambda _reason: None)

    def tearDown(self):
        self.connection.close()
        self.loop.close()
        self.other.close()

    def test_a_frame_that_is_held_goes_out_with_the_next_one_or_when_it_is_let_go(self):
        self.connection.hold({"n": 1})
        self.assertTrue(self.connection.holds)
        with self.assertRaises(BlockingIOError):
            self.other.recv(100)
        self.connection.send({"n": 2, "bytes": 1}, b"x")
        self.assertFalse(self.connection.holds)
        self.assertEqual(self.other.recv(100), b'{"n":1}\n{"n":2,"bytes":1}\nx')
        self.connection.release()
        self.connection.hold({"n": 3})
        self.connection.release()
        self.assertEqual(self.other.recv(100), b'{"n":3}\n')
        self.connection.hold({"n": 4})
        payload = b"y" * (PIECE + 1)
        self.connection.send({"bytes": len(payload)}, payload)
        self.assertEqual(self.other.recv(100), b'{"n":4}\n{"bytes":65537}\n' + b"y" * 76)


class InterruptsOfAnExecution(unittest.TestCase):
    def setUp(self):
        self.before = signal.getsignal(signal.SIGINT)
        self.word = mmap.mmap(-1, mmap.PAGESIZE)
        self.interrupts = Interrupts(self.word)
        self.interrupts.install()

    def tearDown(self):
        signal.signal(signal.SIGINT, self.before)
        self.word.close()

    def strike(self, number):
        """What the supervisor does to interrupt the execution of a number."""
        self.word[:8] = struct.pack("=Q", number)
        signal.raise_signal(signal.SIGINT)

    def test_one_that_comes_before_the_program_begins_is_kept_for_it(self):
        ran = []
        self.strike(5)
        with self.assertRaises(KeyboardInterrupt):
            self.interrupts.run(5, lambda: ran.append(1))
        self.assertEqual(ran, [])
        self.assertTrue(self.interrupts.struck)

    def test_one_that_was_meant_for_another_changes_nothing(self):
        self.strike(4)
        self.assertEqual(self.interrupts.run(5, lambda: self.strike(4) or self.strike(6) or "through"), "through")
        self.assertFalse(self.interrupts.struck)

    def test_one_that_comes_while_it_runs_ends_it_and_no_later_one(self):
        with self.assertRaises(KeyboardInterrupt):
            self.interrupts.run(5, lambda: self.strike(5))
        self.strike(5)
        self.assertEqual(self.interrupts.run(6, lambda: "next"), "next")

    def test_one_that_a_program_caught_is_not_told_again(self):
        def program():
            try:
                self.strike(5)
            except KeyboardInterrupt:
                return "caught"

        self.assertEqual(self.interrupts.run(5, program), "caught")

    def test_one_that_must_not_cut_comes_afterwards(self):
        done = []

        def program():
            with self.interrupts.deferred():
                self.strike(5)
                done.append("whole")
            done.append("never")

        with self.assertRaises(KeyboardInterrupt):
            self.interrupts.run(5, program)
        self.assertEqual(done, ["whole"])


class Names(unittest.TestCase):
    def test_are_told_on_one_line_and_in_unicode(self):
        self.assertEqual(names.told("zé 🏰.md"), "zé 🏰.md")
        self.assertEqual(names.told("a\nb"), "a\\x0ab")
        self.assertEqual(names.told("a\x1b[0m"), "a\\x1b[0m")
        self.assertEqual(names.told(os.fsdecode(b"a\xff")), "a\\xff")
        self.assertFalse(names.is_plain(os.fsdecode(b"a\xff")))


class FilesOfASession(unittest.TestCase):
    def setUp(self):
        self.outside = tempfile.mkdtemp()
        self.root = tempfile.mkdtemp()
        for folder in ("library", "uploads", "outputs"):
            os.mkdir(os.path.join(self.root, folder))
        self.files = Files(self.root)
        with open(os.path.join(self.outside, "secret"), "w") as file:
            file.write("secret")

    def tearDown(self):
        self.files.close()
        shutil.rmtree(self.root)
        shutil.rmtree(self.outside)

    def as_another_user(self, work):
        """Root looks into every folder: what a session's user sees, somebody else has to see."""
        if os.geteuid() != 0:
            return work()
        os.seteuid(65534)
        try:
            return work()
        finally:
            os.seteuid(0)

    def at(self, path):
        return os.path.join(self.root, path)

    def put(self, wanted, *pieces):
        ended = []
        sink = PutSink(self.files, wanted, ended.append)
        for piece in pieces:
            sink.write(piece)
        sink.end()
        return ended[0]

    def reason(self, work, *arguments):
        with self.assertRaises(Failure) as raised:
            found = work(*arguments)
            if hasattr(found, "__next__"):
                list(found)
        return raised.exception.reason

    def test_are_written_whole_or_not_at_all(self):
        self.assertIsNone(self.put([("uploads/deep/er/a.txt", 5), ("b.txt", 0), ("c.txt", 1)], b"he", b"lloX"))
        with open(self.at("uploads/deep/er/a.txt")) as file:
            self.assertEqual(file.read(), "hello")
        self.assertEqual(os.path.getsize(self.at("b.txt")), 0)
        self.assertEqual(self.put([("c.txt", 5)], b"hi").reason, "invalid")
        self.assertEqual(self.put([("c.txt", 1)], b"hi").reason, "invalid")
        with open(self.at("c.txt")) as file:
            self.assertEqual(len(file.read()), 1)
        self.assertEqual([name for name in os.listdir(self.root) if name.startswith(".")], [])

    def test_paths_cannot_leave(self):
        for path in [
            "../a",
            "/etc/passwd",
            "a//b",
            "a/../b",
            ".",
            "",
            "a\0b",
            "x" * 256,
            "/".join(["d"] * 65),
            "\ud800",
        ]:
            self.assertEqual(self.put([(path, 1)], b"x").reason, "invalid", path)
            self.assertEqual(self.reason(self.files.get, path), "invalid", path)

    def test_links_are_not_followed(self):
        os.symlink(self.outside, self.at("outputs/out"))
        os.symlink(os.path.join(self.outside, "secret"), self.at("outputs/leak"))
        self.assertEqual(self.reason(self.files.get, "outputs/leak"), "invalid")
        self.assertEqual(self.reason(self.files.get, "outputs/out/secret"), "not_found")
        self.assertEqual(self.reason(self.files.entries, "outputs/out"), "not_found")
        self.assertEqual(self.reason(self.files.remove, "outputs/out/secret"), "not_found")
        self.assertEqual(self.put([("outputs/out/new", 1)], b"x").reason, "invalid")
        # A file takes the place of a link, and what it pointed at stays.
        self.assertIsNone(self.put([("outputs/leak", 2)], b"hi"))
        with open(os.path.join(self.outside, "secret")) as file:
            self.assertEqual(file.read(), "secret")
        self.files.remove("outputs/out")
        self.assertEqual(os.listdir(self.outside), ["secret"])

    def test_what_is_no_file_is_not_read(self):
        os.mkfifo(self.at("outputs/fifo"))
        server = socket.socket(socket.AF_UNIX)
        server.bind(self.at("outputs/socket"))
        for path in ["outputs/fifo", "outputs/socket", "outputs"]:
            self.assertEqual(self.reason(self.files.get, path), "invalid", path)
        kinds = {entry["path"]: entry["kind"] for entry in self.files.entries("outputs")}
        self.assertEqual(kinds, {"outputs/fifo": "other", "outputs/socket": "other"})
        server.close()

    def test_a_folder_is_emptied_whatever_is_in_it(self):
        deep = os.open(self.at("library"), os.O_RDONLY)
        for _ in range(600):
            os.mkdir("d", dir_fd=deep)
            below = os.open("d", os.O_RDONLY, dir_fd=deep)
            os.close(deep)
            deep = below
        os.close(deep)
        os.symlink(self.outside, self.at("library/link"))
        os.mkdir(self.at("library/closed"), 0)
        os.mkfifo(self.at("library/fifo"))
        open(os.path.join(os.fsencode(self.root), b"library/\xff\n"), "w").close()
        self.files.clear("library")
        self.assertEqual(os.listdir(self.at("library")), [])
        self.assertEqual(os.listdir(self.outside), ["secret"])
        os.rmdir(self.at("library"))
        os.symlink(self.outside, self.at("library"))
        self.files.clear("library")
        self.assertFalse(os.path.islink(self.at("library")))
        self.assertEqual(os.listdir(self.outside), ["secret"])

    def test_a_folder_that_shows_its_names_alone_is_told_as_far_as_that(self):
        closed = os.path.join(self.root, "outputs", "closed")
        os.mkdir(closed)
        with open(os.path.join(closed, "inside"), "w") as file:
            file.write("inside")
        os.chmod(self.root, 0o755)
        os.chmod(closed, 0o444)
        try:
            told = self.as_another_user(lambda: [entry for batch in self.files.tree("outputs", 10) for entry in batch])
        finally:
            os.chmod(closed, 0o755)
        self.assertEqual(
            [(entry["path"], entry["kind"]) for entry in told], [("closed", "directory"), ("closed/inside", "other")]
        )

    def test_a_tree_is_bounded_and_says_what_is_no_file(self):
        os.symlink("/etc/passwd", self.at("library/leak"))
        os.mkdir(self.at("library/team"))
        with open(self.at("library/team/a.md"), "w") as file:
            file.write("a")
        open(os.path.join(os.fsencode(self.root), b"library/\xff\n"), "w").close()
        found = {entry["path"]: entry for batch in self.files.tree("library", 100) for entry in batch}
        self.assertEqual(found["leak"]["kind"], "link")
        self.assertEqual(found["team"]["kind"], "directory")
        self.assertEqual(
            found["team/a.md"]["digest"], "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
        )
        self.assertIn("\\xff\\x0a", found)
        self.assertEqual(self.reason(self.files.tree, "library", 3), "too_many_files")
        os.makedirs(self.at("/".join(["library", *["d"] * 70])))
        self.assertEqual(self.reason(self.files.tree, "library", 1000), "too_many_files")

    def test_changes_are_told_and_bounded(self):
        changes = ChangedFiles(self.files)
        changes.forget()
        for path in ["outputs/a.txt", "library/x.md", "uploads/y.csv", "b.txt", ".hidden"]:
            open(self.at(path), "w").close()
        open(os.path.join(os.fsencode(self.root), b"outputs/\xff"), "w").close()
        self.assertEqual(changes.look(), (["b.txt", "outputs/a.txt"], False))
        self.assertEqual(changes.look(), ([], False))
        with open(self.at("outputs/a.txt"), "w") as file:
            file.write("more")
        self.assertEqual(changes.look(), (["outputs/a.txt"], False))
        for number in range(1100):
            open(self.at(f"outputs/{number:04}"), "w").close()
        told, more = changes.look()
        self.assertEqual((len(told), more), (1000, True))


if __name__ == "__main__":
    unittest.main()
