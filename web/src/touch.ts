/** What ECharts needs where charts are looked at and touched, and pictures do not: they are loaded without a page, at each start anew. */

import { DataZoomComponent, ToolboxComponent, TooltipComponent } from "echarts/components";
import { use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

use([DataZoomComponent, ToolboxComponent, TooltipComponent, CanvasRenderer]);
