"""Programs in a session's Python: what they show, how they end, what is told of their errors and their dataframes."""

import ast
import unittest

from castellan import _cell, _cut, _dataframes, _display, _host, _sql, _table, _text, _traceback, chart

try:
    import pandas
except ImportError:
    pandas = None


class Shown:
    """A host that keeps what is shown, and answers SQL with what it is given."""

    def __init__(self):
        self.shown = []
        self.asked = []
        self.answer = b""

    def display(self, forms):
        self.shown.append(forms)

    def query(self, statement, tables):
        self.asked.append((statement, [(name, b"".join(bytes(piece) for piece in pieces)) for name, pieces in tables]))
        return self.answer


class Cells(unittest.TestCase):
    def setUp(self):
        self.host = _host.current = Shown()
        self.variables = {"__name__": "__main__"}
        self.cells = _cell.Cells(self.variables)

    def tearDown(self):
        _host.current = None

    def run_cell(self, code):
        return self.cells.run(code)

    def test_the_last_value_is_shown_unless_it_is_none_or_silenced(self):
        self.assertEqual(self.run_cell("1 + 1").outcome, "completed")
        self.assertEqual(self.host.shown, [[("text/plain", b"2")]])
        for code in ["None", "1;", "x = 1", "", "# nothing"]:
            self.run_cell(code)
        self.assertEqual(len(self.host.shown), 1)
        self.run_cell("_ + 1")
        self.assertEqual(self.host.shown[1], [("text/plain", b"2")])

    def test_top_level_await_and_futures_last(self):
        self.assertEqual(self.run_cell("import asyncio\nawait asyncio.sleep(0)\n'done'").outcome, "completed")
        self.run_cell("from __future__ import annotations\ndef f(a: nowhere): pass")
        self.assertEqual(self.run_cell("def g(a: nowhere): pass").outcome, "completed")

    def test_an_exit_is_told_by_its_code(self):
        for code, outcome, status in [
            ("import sys; sys.exit()", "completed", 0),
            ("import sys; sys.exit(3)", "failed", 3),
            ("import sys; sys.exit('so')", "failed", 1),
        ]:
            ending = self.run_cell(code)
            self.assertEqual((ending.outcome, ending.exit_code), (outcome, status))

    def test_a_traceback_points_into_the_program_and_nowhere_else(self):
        self.run_cell("def broken(a):\n    return 1 / a")
        error = self.run_cell("x = 1\nbroken(0)").error
        self.assertEqual((error["name"], error["message"]), ("ZeroDivisionError", "division by zero"))
        text = "\n".join(error["traceback"])
        self.assertIn('File "<cell 2>", line 2', text)
        self.assertIn("    broken(0)", text)
        self.assertIn('File "<cell 1>", line 2, in broken', text)
        self.assertIn("    return 1 / a", text)
        self.assertNotIn("castellan", text)
        self.assertNotIn("ZeroDivisionError", text)

    def test_a_syntax_error_has_its_line_and_caret(self):
        error = self.run_cell("x = 1\nx ==\n").error
        self.assertEqual(error["name"], "SyntaxError")
        self.assertEqual(error["traceback"][0], '  File "<cell 1>", line 2')
        self.assertEqual(error["traceback"][1], "    x ==")
        self.assertIn("^", error["traceback"][2])

    def test_causes_are_told_and_their_frames_pruned(self):
        error = self.run_cell("try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('a') from e").error
        text = "\n".join(error["traceback"])
        self.assertIn("ZeroDivisionError: division by zero", text)
        self.assertIn("direct cause", text)

    def test_exceptions_that_do_not_behave_are_told(self):
        for code in [
            "class E(Exception):\n    def __str__(self): raise E()\nraise E()",
            "class F(Exception):\n    __str__ = lambda self: 'x' * 10**7\nraise F()",
            "def r(): r()\nr()",
            "e = ValueError('a'); e.__cause__ = e\nraise e",
            "raise BaseException('all')",
            "raise ExceptionGroup('both', [ValueError('one'), KeyError('two')])",
            "e = ValueError('a'); e.add_note('a note'); raise e",
        ]:
            ending = self.run_cell(code)
            self.assertEqual(ending.outcome, "failed")
            told = ending.error
            self.assertLess(len(told["message"]) + sum(len(line) for line in told["traceback"]), 300_000)

    def test_an_interrupt_is_let_through(self):
        with self.assertRaises(KeyboardInterrupt):
            self.run_cell("raise KeyboardInterrupt")

    def test_forms_of_a_value(self):
        self.run_cell(
            "class A:\n    def _repr_html_(self): return '<b>a</b>'\n    def __repr__(self): return 'A!'\nA()"
        )
        self.assertEqual(self.host.shown[0], [("text/html", b"<b>a</b>"), ("text/plain", b"A!")])
        self.run_cell("class B:\n    def _repr_html_(self): raise ValueError\n    def __repr__(self): return 'B!'\nB()")
        self.assertEqual(self.host.shown[1], [("text/plain", b"B!")])
        self.run_cell(
            "class C:\n    def _repr_mimebundle_(self, include=None, exclude=None): return {'text/plain': 'c', 'application/json': {'a': 1}}\nC()"
        )
        self.assertEqual(self.host.shown[2], [("application/json", b'{"a": 1}'), ("text/plain", b"c")])
        self.run_cell(
            "class D:\n    def _repr_png_(self): return b'x' * (5 * 1024 * 1024)\n    def __repr__(self): return 'D!'\nD()"
        )
        self.assertEqual(self.host.shown[3], [("text/plain", b"D!")])

    def test_forms_are_as_many_and_have_such_names_as_the_host_takes(self):
        self.run_cell(
            "class A:\n    def _repr_mimebundle_(self): return {'text/plain': 'a', **{f'text/x-{n}': 'x' for n in range(40)}}\nA()"
        )
        [shown] = self.host.shown
        self.assertEqual((len(shown), shown[0][0], shown[-1]), (16, "text/x-0", ("text/plain", b"a")))
        self.run_cell("class B:\n    def _repr_mimebundle_(self): return {'x' * 2000: 'b', 'text/plain': 'b'}\nB()")
        self.assertEqual(self.host.shown[1], [("text/plain", b"b")])

    def test_a_repr_that_fails_fails_the_program(self):
        self.assertEqual(
            self.run_cell("class A:\n    def __repr__(self): raise ValueError('no')\nA()").outcome, "failed"
        )

    def test_tables_are_previewed(self):
        self.run_cell("import castellan\ncastellan.Table({'a': list(range(1000)), 'b': ['<b>|'] * 1000})")
        (html_type, html), (markdown_type, markdown), (csv_type, rows) = self.host.shown[0]
        self.assertEqual((html_type, markdown_type, csv_type), ("text/html", "text/markdown", "text/csv"))
        self.assertEqual(len(rows.splitlines()), 1001)
        self.assertIn(b"&lt;b&gt;", html)
        self.assertIn(b"20 of 1000 rows", markdown)
        self.assertIn(b"| 19 | <b>\\| |", markdown)
        self.assertNotIn(b"| 20 |", markdown)

    def test_dataframes_are_told_when_they_are_made_or_changed(self):
        self.run_cell("import castellan\nt = castellan.Table({'a': [1, 2]})\n_hidden = t\nn = 1")
        told = self.cells.dataframes()
        self.assertEqual([(frame["name"], frame["rows"], frame["columns"]) for frame in told.all], [("t", 2, 1)])
        self.assertEqual(told.changed, ["t"])
        self.run_cell("len(t)")
        self.assertEqual(self.cells.dataframes().changed, [])
        self.run_cell("u = t")
        self.assertEqual(self.cells.dataframes().changed, ["u"])
        self.run_cell("del t, u")
        self.assertEqual(self.cells.dataframes().all, [])

    @unittest.skipIf(pandas is None, "pandas is not installed")
    def test_changes_within_a_dataframe_are_seen(self):
        self.run_cell("import pandas\ndf = pandas.DataFrame({'a': [1, 2]})\nother = df.copy()")
        self.assertEqual(self.cells.dataframes().changed, ["df", "other"])
        for code in ["df.loc[0, 'a'] = 5", "df['b'] = 1", "df.a = 7", "df = df[df.a > 0]", "del df['b']"]:
            self.run_cell(code)
            self.assertEqual(self.cells.dataframes().changed, ["df"], code)
        self.run_cell("df.a.mean()")
        self.assertEqual(self.cells.dataframes().changed, [])

    def test_a_bound_dataframe_can_be_exported_again(self):
        source = _table.Table({"a": [1, 2], "t": ["x", None]})
        stream = b"".join(bytes(piece) for piece in _dataframes.stream(source))
        self.assertEqual(self.cells.bind("sales", stream)["rows"], 2)
        again = b"".join(bytes(piece) for piece in self.cells.export("sales"))
        self.assertEqual(again, stream)
        with self.assertRaises(KeyError):
            self.cells.export("nothing")

    def test_sql_sends_the_dataframes_that_the_statement_names(self):
        self.host.answer = b"".join(bytes(piece) for piece in _dataframes.stream(_table.Table({"n": [3]})))
        self.run_cell(
            "import castellan\nsales = castellan.Table({'a': [1]})\nother = castellan.Table({'b': [1]})\n"
            "def ask():\n    local = castellan.Table({'c': [1]})\n    return castellan.sql('select * from sales, local')\n"
            "found = ask()\nlen(found)"
        )
        statement, tables = self.host.asked[0]
        self.assertEqual(statement, "select * from sales, local")
        self.assertEqual([name for name, _ in tables], ["sales", "local"])
        self.assertEqual(self.host.shown[-1], [("text/plain", b"1")])

    def test_charts_carry_their_data(self):
        chart({"mark": "bar"}, _table.Table({"a": [1, None], "b": [float("nan"), float("inf")]}))
        (media_type, content), _ = self.host.shown[0]
        self.assertEqual(media_type, "application/vnd.vegalite.v5+json")
        self.assertEqual(
            ast.literal_eval(content.decode().replace("null", "None")),
            {"mark": "bar", "data": {"values": [{"a": 1, "b": None}, {"a": None, "b": None}]}},
        )
        with self.assertRaises(ValueError):
            chart({"mark": "bar"}, [{"a": "x" * 100}] * 100_000)
        with self.assertRaises(TypeError):
            chart(3)

    def test_sources_that_are_kept_are_bounded(self):
        import linecache

        for _ in range(_cell.KEPT_SOURCES + 10):
            self.run_cell("pass")
        kept = [name for name in linecache.cache if name.startswith("<cell ")]
        self.assertLessEqual(len(kept), _cell.KEPT_SOURCES)


class Texts(unittest.TestCase):
    def test_is_what_repr_says_where_that_is_short(self):
        for value in [
            1,
            "a",
            [1, "b", (2,)],
            {},
            {"a": {1, 2}},
            (),
            frozenset({3}),
            set(),
            b"x",
            None,
            1.5,
            [[]],
            {1: [2]},
        ]:
            self.assertEqual(_text.of(value), repr(value))

    def test_is_bounded_without_being_made(self):
        text = _text.of("x" * 10**8)
        self.assertLess(len(text), _cut.TEXT + 10)
        self.assertLess(len(_text.of(list(range(10**6)))), _cut.TEXT)
        self.assertIn("more", _text.of(list(range(10**6))))
        self.assertLess(len(_text.of([["y" * 10**5] * 1000] * 1000)), _cut.TEXT + 10)

    def test_structures_that_contain_themselves_end(self):
        loop = []
        loop.append(loop)
        self.assertEqual(_text.of(loop), "[...]")

    def test_a_cut_text_fits(self):
        for text in ["x" * 10**6, "é" * 10**6, "🏰" * 10**6]:
            self.assertLessEqual(len(_cut.text(text)), _cut.TEXT)
        self.assertEqual(_cut.text("short"), b"short")


class QuotedFiles(unittest.TestCase):
    def test_only_files_that_are_there_and_hold_data(self):
        self.assertEqual(_sql.quoted_files("select * from 'nowhere.csv' where a = '/etc/passwd'"), [])


class Tracebacks(unittest.TestCase):
    def test_long_ones_lose_their_middle(self):
        variables = {}
        code = "def a(n):\n    if n == 0: raise ValueError('end')\n    b(n - 1)\ndef b(n):\n    a(n)\na(400)"
        try:
            exec(_cell.compiled(code, "<cell 9>"), variables)
        except ValueError as error:
            lines = _traceback.lines(error)
        self.assertLessEqual(len(lines), _traceback.MAXIMUM_LINES + 1)
        self.assertEqual(lines[-1], "ValueError: end")

    def test_display_without_a_host_prints(self):
        import contextlib
        import io

        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            _display.display(1, "a")
        self.assertEqual(out.getvalue(), "1\n'a'\n")


if __name__ == "__main__":
    unittest.main()
