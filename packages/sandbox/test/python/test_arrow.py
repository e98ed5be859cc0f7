"""Arrow streams: what is written is read back, with pandas and without; what is no stream is refused."""

import datetime
import decimal
import math
import random
import struct
import unittest

from castellan import _arrow_read, _arrow_write, _dataframes, _table

try:
    import numpy
    import pandas
except ImportError:
    # The modules under test do without them; the tests that need them are skipped.
    numpy = pandas = None


def stream_of(table):
    return b"".join(bytes(piece) for piece in _dataframes.stream(table))


def back(table):
    return _table.of_arrow(_arrow_read.read(stream_of(table))).to_dict()


class PlainTables(unittest.TestCase):
    def test_every_kind_of_value_comes_back(self):
        columns = {
            "flag": [True, None, False],
            "count": [1, None, -(2**62)],
            "share": [0.1, None, -1e300],
            "text": ["a", None, "zé 🏰 | \n"],
            "empty": ["", None, ""],
            "none": [None, None, None],
            "price": [decimal.Decimal("1.10"), None, decimal.Decimal("-22.333")],
            "day": [datetime.date(2020, 2, 29), None, datetime.date(1, 1, 1)],
            "moment": [datetime.datetime(2024, 1, 1, 12, 30, 0, 123456), None, datetime.datetime(1969, 12, 31)],
            "zoned": [
                datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
                None,
                datetime.datetime(1900, 1, 1, tzinfo=datetime.UTC),
            ],
            "bytes": [b"\x00\xff", None, b""],
        }
        found = back(_table.Table(columns))
        for name, values in columns.items():
            self.assertEqual(found[name], values, name)
        self.assertEqual(found["zoned"][0].tzinfo, datetime.UTC)

    def test_what_has_no_type_of_its_own_is_text(self):
        found = back(
            _table.Table({"mixed": [1, "a", None], "list": [[1, {"a": 2}], None, []], "large": [2**70, 1, None]})
        )
        self.assertEqual(found["mixed"], ["1", "a", None])
        self.assertEqual(found["list"], ['[1, {"a": 2}]', None, "[]"])
        self.assertEqual(found["large"], [str(2**70), "1", None])

    def test_not_a_number_is_null(self):
        self.assertEqual(back(_table.Table({"a": [math.nan, 1.5]}))["a"], [None, 1.5])

    def test_tables_without_rows_or_columns(self):
        self.assertEqual(back(_table.Table({"a": [], "b": []})), {"a": [], "b": []})
        self.assertEqual(_table.of_arrow(_arrow_read.read(stream_of(_table.Table({})))).shape, (0, 0))

    def test_random_tables_come_back(self):
        drawn = random.Random(20)
        for rows in [1, 7, 8, 9, 63, 64, 65, 1000]:
            table = {
                "i": [drawn.choice([None, drawn.randint(-(2**63), 2**63 - 1)]) for _ in range(rows)],
                "f": [drawn.choice([None, drawn.uniform(-1e9, 1e9)]) for _ in range(rows)],
                "b": [drawn.choice([None, True, False]) for _ in range(rows)],
                "t": [
                    drawn.choice([None, "", "é" * drawn.randint(0, 9), "x" * drawn.randint(0, 99)]) for _ in range(rows)
                ],
            }
            for name, values in table.items():
                if all(value is None for value in values):
                    values[0] = {"i": 1, "f": 1.5, "b": True, "t": "t"}[name]
            self.assertEqual(back(_table.Table(table)), table)

    def test_what_is_no_stream_is_refused_and_nothing_else_is_raised(self):
        whole = stream_of(_table.Table({"a": [1, None], "t": ["x", "y"]}))
        for at in range(len(whole) - 8):
            try:
                _arrow_read.read(whole[:at])
            except ValueError:
                continue
        drawn = random.Random(4)
        for _ in range(3000):
            broken = bytearray(whole)
            for _ in range(drawn.randint(1, 4)):
                broken[drawn.randrange(len(broken))] = drawn.randrange(256)
            try:
                columns = _arrow_read.read(bytes(broken))
                if sum(column.length for column in columns) < 1000:
                    _table.of_arrow(columns)
            except (ValueError, struct.error, IndexError, OverflowError, MemoryError, TypeError):
                continue
        for noise in [b"", b"x", b"\xff\xff\xff\xff", b"\0" * 64, b"PAR1" * 8]:
            with self.assertRaises(ValueError):
                _arrow_read.read(noise)

    def test_a_stream_comes_in_pieces_of_a_size(self):
        pieces = list(_arrow_write.packed(iter([b"a" * 3, b"b" * 10, b"", b"c"]), 4))
        self.assertEqual([bytes(piece) for piece in pieces], [b"aaab", b"bbbb", b"bbbb", b"bc"])


@unittest.skipIf(pandas is None, "pandas is not installed")
class Dataframes(unittest.TestCase):
    def frame(self, table):
        return _dataframes.read(stream_of(table))

    def test_a_dataframe_comes_back_as_it_was(self):
        frame = pandas.DataFrame(
            {
                "i": [1, 2, 3],
                "small": numpy.array([1, -2, 3], dtype="int8"),
                "unsigned": numpy.array([1, 2, 2**64 - 1], dtype="uint64"),
                "f": [1.5, numpy.nan, -2],
                "single": numpy.array([1.5, 2.5, 3.5], dtype="float32"),
                "b": [True, False, True],
                "t": ["a", None, "é"],
                "moment": pandas.to_datetime(["2024-01-01 12:00:00.123456789", None, "1969-12-31"]),
                "zoned": pandas.to_datetime(["2024-01-01", None, "2024-07-01"]).tz_localize("UTC"),
                "kind": pandas.Categorical(["x", None, "y"]),
            }
        )
        pandas.testing.assert_frame_equal(self.frame(frame), frame)

    def test_nullable_types_and_nulls(self):
        frame = pandas.DataFrame(
            {
                "small": pandas.array([1, None, 3], dtype="Int64"),
                "large": pandas.array([2**60 + 1, None, 3], dtype="Int64"),
                "flag": pandas.array([True, None, False], dtype="boolean"),
                "text": pandas.array(["a", None, "b"], dtype="string"),
            }
        )
        found = self.frame(frame)
        self.assertEqual(found["small"].dtype, "float64")
        # A double would lose the last digit.
        self.assertEqual(str(found["large"].dtype), "Int64")
        self.assertEqual(found["large"][0], 2**60 + 1)
        self.assertEqual(found["flag"].tolist(), [True, None, False])
        self.assertEqual(found["text"].tolist(), ["a", None, "b"])

    def test_decimals_are_doubles_where_every_digit_is_kept_and_exact_otherwise(self):
        kept = self.frame(_table.Table({"p": [decimal.Decimal("0.10"), None, decimal.Decimal("123456789012.345")]}))
        self.assertEqual(kept["p"].dtype, "float64")
        self.assertEqual(repr(kept["p"][2]), "123456789012.345")
        exact = self.frame(_table.Table({"p": [decimal.Decimal("1234567890123456.789"), None]}))
        self.assertEqual(exact["p"][0], decimal.Decimal("1234567890123456.789"))
        self.assertIsNone(exact["p"][1])

    def test_dates_out_of_reach_stay_what_they_are(self):
        far = self.frame(_table.Table({"d": [datetime.date(9999, 12, 31), datetime.date(1, 1, 1)]}))
        self.assertEqual(far["d"].tolist(), [datetime.date(9999, 12, 31), datetime.date(1, 1, 1)])

    def test_sparse_columns_are_what_they_stand_for(self):
        found = pandas.DataFrame(
            {
                "count": pandas.arrays.SparseArray([0, 0, 1]),
                "share": pandas.arrays.SparseArray([math.nan, 0.5, math.nan]),
                "flag": pandas.arrays.SparseArray([False, True, False]),
            }
        )
        again = _dataframes.read(stream_of(found))
        pandas.testing.assert_frame_equal(again, found.sparse.to_dense())

    def test_an_index_that_means_something_goes_along(self):
        frame = pandas.DataFrame({"a": [1, 2]}, index=pandas.Index(["x", "y"], name="key"))
        self.assertEqual(list(self.frame(frame).columns), ["key", "a"])
        grouped = pandas.DataFrame({"g": ["u", "u"], "h": [1, 2], "v": [3, 4]}).groupby(["g", "h"]).sum()
        self.assertEqual(self.frame(grouped).columns.tolist(), ["g", "h", "v"])

    def test_columns_of_one_name_are_told_apart(self):
        frame = pandas.DataFrame([[1, 2, 3]], columns=["n", "n", ("a", "b")])
        self.assertEqual(list(self.frame(frame).columns), ["n", "n_1", "a_b"])

    def test_objects_of_all_kinds(self):
        frame = pandas.DataFrame(
            {
                "mixed": [1, "a", None],
                "lists": [[1], {"k": 1}, None],
                "days": [datetime.date(2020, 1, 1), None, datetime.date(2021, 1, 1)],
                "spans": pandas.to_timedelta(["1 day", None, "2 hours"]),
            }
        )
        found = self.frame(frame)
        self.assertEqual(found["mixed"].tolist(), ["1", "a", None])
        self.assertEqual(found["lists"].tolist(), ["[1]", '{"k": 1}', None])
        self.assertEqual(found["days"][2], pandas.Timestamp("2021-01-01"))
        self.assertIn("1 day", found["spans"][0])

    def test_a_slice_and_a_frame_without_rows(self):
        frame = pandas.DataFrame({"a": numpy.arange(10), "t": list("abcdefghij")})
        self.assertEqual(self.frame(frame.iloc[2:8:2].reset_index(drop=True))["t"].tolist(), ["c", "e", "g"])
        self.assertEqual(self.frame(frame.iloc[:0].reset_index(drop=True)).shape, (0, 2))


if __name__ == "__main__":
    unittest.main()
