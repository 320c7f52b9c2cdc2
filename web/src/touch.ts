/** The parts of ECharts that interactive charts need and pictures do not; pictures are loaded without a page, and anew at each start. */

import { DataZoomComponent, ToolboxComponent, TooltipComponent } from "echarts/components";
import { use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

use([DataZoomComponent, ToolboxComponent, TooltipComponent, CanvasRenderer]);
