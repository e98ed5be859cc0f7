/**
 * Specifications that reach outside, ask for too much, or make no sense. Each is refused with words, or drawn within
 * bounds; none hangs, crashes or gets anything from outside.
 */

/** A specification and what its refusal has to say; `undefined` where it may also be drawn. */
export interface Hostile {
  readonly name: string
  readonly specification: unknown
  readonly says?: RegExp
  /** Whether it would be drawn for ever, or nearly: the limit of time ends it. */
  readonly hangs?: boolean
}

const bar = { mark: "bar", encoding: { x: { field: "region" }, y: { field: "revenue" } } }

const cyclic: Record<string, unknown> = { mark: "bar" }
cyclic["encoding"] = cyclic

const nested = (depth: number): unknown => (depth === 0 ? bar : { vconcat: [nested(depth - 1)] })

const text = "x".repeat(200_000)

export const hostile: ReadonlyArray<Hostile> = [
  // Not a specification.
  { name: "undefined", specification: undefined, says: /must be a Vega-Lite object, but it is undefined/ },
  { name: "null", specification: null, says: /must be a Vega-Lite object, but it is null/ },
  { name: "a number", specification: 3, says: /but it is a number/ },
  { name: "a text", specification: '{"mark":"bar"}', says: /but it is a string/ },
  { name: "a list", specification: [bar], says: /but it is a list/ },
  { name: "a function", specification: () => bar, says: /but it is a function/ },
  { name: "an empty object", specification: {}, says: /needs a "mark"/ },
  { name: "a map", specification: new Map([["mark", "bar"]]), says: /plain objects/ },
  { name: "a cycle", specification: cyclic, says: /nested deeper/ },
  {
    name: "a getter that throws",
    specification: {
      get mark() {
        throw new Error("no")
      }
    },
    says: /cannot be read/
  },
  {
    name: "a proxy that throws",
    specification: new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("no")
        }
      }
    ),
    says: /cannot be read/
  },
  { name: "a bigint", specification: { ...bar, width: 10n }, says: /a bigint is not JSON/ },
  { name: "infinity", specification: { ...bar, width: Infinity }, says: /not a number that JSON knows/ },
  {
    name: "a million marks in a list",
    specification: { layer: Array.from({ length: 20_000 }, () => "bar") },
    says: /more than 10,000 values/
  },
  {
    name: "a sparse list",
    specification: { layer: Object.assign([], { length: 1e9 }) },
    says: /more than 10,000 values/
  },
  { name: "a long text", specification: { ...bar, title: text }, says: /larger than 100,000 characters/ },
  // Prototypes.
  {
    name: "__proto__",
    specification: JSON.parse('{"mark":"bar","__proto__":{"polluted":true}}'),
    says: /"__proto__" is not allowed/
  },
  {
    name: "constructor",
    specification: { ...bar, constructor: { prototype: { polluted: true } } },
    says: /"constructor" is not allowed/
  },
  {
    name: "a field named __proto__",
    specification: { mark: "bar", encoding: { x: { field: "__proto__" } } },
    says: /there is no column "__proto__"/
  },
  {
    name: "a field named constructor",
    specification: { mark: "bar", encoding: { x: { field: "constructor" } } },
    says: /there is no column/
  },
  {
    name: "a result named __proto__",
    specification: {
      mark: "bar",
      transform: [{ calculate: "1", as: "__proto__" }],
      encoding: { x: { field: "region" } }
    }
  },
  // Outside.
  {
    name: "data from a URL",
    specification: { ...bar, data: { url: "http://127.0.0.1:1/x.csv" } },
    says: /may not load data/
  },
  {
    name: "data from a file",
    specification: { ...bar, data: { url: "file:///etc/passwd", format: { type: "dsv", delimiter: ":" } } },
    says: /may not load data/
  },
  {
    name: "invented data",
    specification: { ...bar, data: { values: [{ region: "x", revenue: 1 }] } },
    says: /leave `data` out/
  },
  {
    name: "data inside a layer",
    specification: { layer: [{ ...bar, data: { url: "http://127.0.0.1:1" } }] },
    says: /layer\[0\]\.data: a chart may not load/
  },
  {
    name: "an endless sequence",
    specification: { mark: "bar", data: { sequence: { start: 0, stop: 1e12 } } },
    says: /leave `data` out/
  },
  { name: "data sets", specification: { ...bar, datasets: { a: [] } }, says: /datasets/ },
  {
    name: "a lookup",
    specification: {
      ...bar,
      transform: [{ lookup: "region", from: { data: { url: "http://127.0.0.1:1" }, key: "a" } }]
    },
    says: /lookup/
  },
  {
    name: "an image",
    specification: { mark: { type: "image", url: "http://127.0.0.1:1/x.png" } },
    says: /image marks are not available/
  },
  {
    name: "an image channel",
    specification: { mark: "point", encoding: { url: { field: "region" } } },
    says: /may not load/
  },
  {
    name: "a link",
    specification: { ...bar, encoding: { ...bar.encoding, href: { field: "region" } } },
    says: /links/
  },
  {
    name: "a link of a mark",
    specification: { ...bar, mark: { type: "bar", href: "javascript:alert(1)" } },
    says: /links/
  },
  { name: "a map", specification: { mark: "geoshape" }, says: /maps are not available/ },
  {
    name: "a pattern from outside",
    specification: { ...bar, mark: { type: "bar", fill: "url(http://127.0.0.1:1/x.svg#a)" } },
    says: /anything outside/
  },
  {
    name: "a pattern from outside, put together",
    specification: { ...bar, mark: { type: "bar", fill: { expr: "'ur' + 'l(http://127.0.0.1:1/x.svg#a)'" } } },
    says: /anything outside/
  },
  {
    name: "a cursor from outside",
    specification: { ...bar, mark: { type: "bar", cursor: "url(http://127.0.0.1:1/x.png)" } }
  },
  {
    name: "a page of embedding options",
    specification: { ...bar, usermeta: { embedOptions: { loader: {} } } },
    says: /usermeta/
  },
  {
    name: "a widget",
    specification: { ...bar, params: [{ name: "p", value: 1, bind: { input: "range" } }] },
    says: /still picture/
  },
  {
    name: "a handler",
    specification: { ...bar, params: [{ name: "p", select: { type: "point", on: "click[event.shiftKey]" } }] },
    says: /still picture/
  },
  {
    name: "markup in a title",
    specification: { ...bar, title: "<script>alert(1)</script><image href='http://127.0.0.1:1'/>" }
  },
  // Expressions.
  {
    name: "a constructor called",
    specification: { ...bar, transform: [{ calculate: "datum.constructor.constructor('return process')()", as: "z" }] },
    says: /calls something/
  },
  {
    name: "a constructor read",
    specification: { ...bar, transform: [{ calculate: "datum['constructor']", as: "z" }] },
    says: /"constructor", which is not allowed/
  },
  {
    name: "a prototype by a computed name",
    specification: { ...bar, transform: [{ calculate: "datum['con' + 'structor']", as: "z" }] }
  },
  {
    name: "a function of the machine",
    specification: { ...bar, transform: [{ calculate: "process.exit(1)", as: "z" }] },
    says: /calls something/
  },
  {
    name: "an evaluation",
    specification: { ...bar, transform: [{ filter: "eval('1')" }] },
    says: /"eval", which is not available/
  },
  {
    name: "a request",
    specification: { ...bar, transform: [{ calculate: "fetch('http://127.0.0.1:1')", as: "z" }] },
    says: /"fetch", which is not available/
  },
  {
    name: "a change of the view",
    specification: { ...bar, transform: [{ calculate: "modify('source_0', datum)", as: "z" }] },
    says: /"modify"/
  },
  { name: "a clock", specification: { ...bar, transform: [{ calculate: "now()", as: "z" }] }, says: /"now"/ },
  { name: "chance", specification: { ...bar, transform: [{ calculate: "random()", as: "z" }] }, says: /"random"/ },
  {
    name: "a long sequence in an expression",
    specification: { ...bar, transform: [{ calculate: "sequence(0, 1e12)", as: "z" }] },
    says: /"sequence"/
  },
  {
    name: "no expression",
    specification: { ...bar, transform: [{ calculate: "datum.revenue +", as: "z" }] },
    says: /not a valid Vega expression/
  },
  {
    name: "an assignment",
    specification: { ...bar, transform: [{ calculate: "datum.revenue = 1", as: "z" }] },
    says: /not a valid Vega expression/
  },
  {
    name: "an expression in a label",
    specification: { mark: "bar", encoding: { x: { field: "region", axis: { labelExpr: "alert(1)" } } } },
    says: /"alert"/
  },
  {
    name: "an expression in a condition",
    specification: {
      ...bar,
      encoding: { ...bar.encoding, color: { condition: { test: "open('x')", value: "red" }, value: "blue" } }
    },
    says: /"open"/
  },
  {
    name: "an expression in a parameter",
    specification: { ...bar, params: [{ name: "p", expr: "warn('x')" }] },
    says: /"warn"/
  },
  { name: "an expression of a size", specification: { ...bar, width: { expr: "1e9" } } },
  {
    name: "deep brackets",
    specification: { ...bar, transform: [{ calculate: "(".repeat(1900) + ")".repeat(90), as: "z" }] },
    says: /not a valid/
  },
  {
    name: "a slow regular expression",
    specification: { ...bar, transform: [{ filter: "test(/^(a+)+$/, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')" }] },
    hangs: true
  },
  // Sizes.
  { name: "a huge width", specification: { ...bar, width: 1e9 }, says: /width: must be at most 2000/ },
  { name: "a huge step", specification: { ...bar, width: { step: 1e6 } }, says: /at most 500/ },
  {
    name: "many bins",
    specification: {
      mark: "bar",
      encoding: { x: { field: "revenue", bin: { maxbins: 1e9 } }, y: { aggregate: "count" } }
    },
    says: /at most 500/
  },
  {
    name: "tiny bins",
    specification: {
      mark: "bar",
      encoding: { x: { field: "revenue", bin: { step: 1e-9 } }, y: { aggregate: "count" } }
    },
    hangs: true
  },
  {
    name: "no bins",
    specification: { mark: "bar", encoding: { x: { field: "revenue", bin: { step: 0 } }, y: { aggregate: "count" } } },
    says: /more than 0/
  },
  {
    name: "many ticks",
    specification: { mark: "bar", encoding: { x: { field: "revenue", axis: { tickCount: 1e9 } } } },
    says: /at most 100/
  },
  {
    name: "a fine tick step",
    specification: { mark: "bar", encoding: { x: { field: "revenue", axis: { tickMinStep: 1e-9 } } } }
  },
  {
    name: "many imputed keys",
    specification: {
      ...bar,
      transform: [{ impute: "revenue", key: "region", keyvals: { start: 0, stop: 1e12 }, value: 0 }]
    },
    says: /more than 5000 values/
  },
  {
    name: "many imputed keys in an encoding",
    specification: {
      mark: "line",
      encoding: {
        x: { field: "revenue" },
        y: { field: "revenue", impute: { value: 0, keyvals: { start: 0, stop: 1e12 } } }
      }
    },
    says: /more than 5000 values/
  },
  {
    name: "fine quantiles",
    specification: {
      mark: "line",
      transform: [{ quantile: "revenue", step: 1e-9 }],
      encoding: { x: { field: "prob" }, y: { field: "value" } }
    },
    says: /at least 0\.001/
  },
  {
    name: "a fine density",
    specification: {
      mark: "line",
      transform: [{ density: "revenue", steps: 1e9 }],
      encoding: { x: { field: "value" }, y: { field: "density" } }
    },
    says: /at most 2000/
  },
  {
    name: "a steep regression",
    specification: {
      mark: "line",
      transform: [{ regression: "revenue", on: "revenue", method: "poly", order: 1e6 }],
      encoding: { x: { field: "revenue" } }
    },
    says: /at most 10/
  },
  {
    name: "many views",
    specification: {
      repeat: { row: Array.from({ length: 30 }, () => "region"), column: Array.from({ length: 30 }, () => "revenue") },
      spec: bar
    },
    says: /more than 40 plots/
  },
  { name: "deep nesting", specification: nested(30), says: /nested deeper than 24/ },
  {
    name: "nesting of repetitions",
    specification: {
      repeat: ["revenue", "revenue", "revenue"],
      spec: {
        repeat: ["revenue", "revenue", "revenue", "revenue"],
        spec: { repeat: ["region", "region", "region", "region"], spec: bar }
      }
    },
    says: /more than 40 plots/
  },
  {
    name: "a domain of infinities",
    specification: { mark: "bar", encoding: { x: { field: "revenue", scale: { domain: [1e308, -1e308] } } } }
  },
  {
    name: "a huge radius",
    specification: { mark: { type: "arc", outerRadius: 1e9 }, encoding: { theta: { field: "revenue" } } },
    says: /at most 2000/
  },
  {
    name: "a huge text",
    specification: { mark: { type: "text", fontSize: 1e6 }, encoding: { text: { field: "region" } } },
    says: /at most 100/
  },
  { name: "a huge padding", specification: { ...bar, padding: 1e9 } },
  { name: "a chart of its own style", specification: { ...bar, config: { background: "url(http://127.0.0.1:1)" } } },
  // Wrong types and names.
  { name: "a mark that is a number", specification: { mark: 3 }, says: /mark: must be/ },
  { name: "an unknown mark", specification: { mark: "baar" }, says: /did you mean "bar"/ },
  {
    name: "an unknown channel",
    specification: { mark: "bar", encoding: { xx: { field: "region" } } },
    says: /encoding: "xx" is not a property/
  },
  {
    name: "an unknown type",
    specification: { mark: "bar", encoding: { x: { field: "region", type: "category" } } },
    says: /encoding\.x\.type: must be one of "quantitative", "ordinal", "temporal", "nominal"/
  },
  {
    name: "an unknown aggregate",
    specification: { mark: "bar", encoding: { y: { field: "revenue", aggregate: "total" } } },
    says: /encoding\.y\.aggregate/
  },
  {
    name: "an unknown column",
    specification: { mark: "bar", encoding: { x: { field: "Regoin" } } },
    says: /encoding\.x\.field: there is no column "Regoin" here; the columns are "region", "revenue", "day"; did you mean "region"\?/
  },
  {
    name: "an unknown column in a filter",
    specification: { ...bar, transform: [{ filter: "datum.revenu > 3" }] },
    says: /there is no column "revenu"/
  },
  {
    name: "a column that an aggregate took away",
    specification: {
      mark: "bar",
      transform: [{ aggregate: [{ op: "sum", field: "revenue", as: "total" }], groupby: ["region"] }],
      encoding: { x: { field: "revenue" } }
    },
    says: /there is no column "revenue" here; the columns are "region", "total"/
  },
  {
    name: "a text as a quantity",
    specification: { mark: "bar", encoding: { x: { field: "region", type: "quantitative" } } },
    says: /holds texts such as "North"/
  },
  {
    name: "a text as a day",
    specification: { mark: "line", encoding: { x: { field: "region", type: "temporal" } } },
    says: /which are not dates/
  },
  {
    name: "an encoding that is a text",
    specification: { mark: "bar", encoding: "x" },
    says: /encoding: must be an object/
  },
  { name: "an empty layer", specification: { layer: [] } },
  { name: "a layer of nothing", specification: { layer: [{}] } },
  { name: "a chart of constants", specification: { mark: "bar", encoding: { x: { value: 3 } } } },
  { name: "two charts in one", specification: { mark: "bar", layer: [bar] }, says: /"mark"/ },
  {
    name: "a filter that leaves nothing",
    specification: { ...bar, transform: [{ filter: "datum.revenue > 1e9" }] },
    says: /would be empty/
  },
  { name: "a parameter named like a signal", specification: { ...bar, params: [{ name: "width", value: 3 }] } },
  {
    name: "two parameters of one name",
    specification: {
      ...bar,
      params: [
        { name: "p", value: 3 },
        { name: "p", value: 4 }
      ]
    }
  },
  { name: "a missing parameter", specification: { ...bar, transform: [{ filter: { param: "nothing" } }] } },
  {
    name: "a scheme that is not there",
    specification: { ...bar, encoding: { ...bar.encoding, color: { field: "region", scale: { scheme: "nothing" } } } }
  },
  {
    name: "an invalid number format",
    specification: { mark: "bar", encoding: { x: { field: "revenue", axis: { format: "%%%q{" } } } }
  },
  {
    name: "an invalid format type",
    specification: { mark: "bar", encoding: { x: { field: "revenue", axis: { formatType: "alert", format: "x" } } } }
  }
]
