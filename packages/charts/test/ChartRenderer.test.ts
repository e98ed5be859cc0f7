import * as VegaRenderer from "@castellan/charts/vega/VegaRenderer"
import * as ChartRendererContract from "@castellan/testing/chart/ChartRendererContract"

ChartRendererContract.suite("Vega", VegaRenderer.layerWith({ timeLimit: "100 seconds" }))
