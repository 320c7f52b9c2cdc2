/** ECharts with the parts that a picture is drawn with, and nothing else; `touch` adds those that a reader's hand needs. */

import { CustomChart, LineChart, ScatterChart } from "echarts/charts";
import { GridSimpleComponent, MarkAreaComponent, MarkLineComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { LabelLayout } from "echarts/features";
import { SVGRenderer } from "echarts/renderers";

use([CustomChart, LineChart, ScatterChart, GridSimpleComponent, MarkAreaComponent, MarkLineComponent, LabelLayout, SVGRenderer]);

export { init };
export type { EChartsType } from "echarts/core";
