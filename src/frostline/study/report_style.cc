#include "frostline/study/report_style.h"

namespace frostline::study {

std::string_view report_style() {
  return R"css(
:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1b1f24; --soft: #5b636e; --rule: #d8dde3; --panel: #f6f7f9;
  --accent: #0a5c9e; --good: #1d7a46; --bad: #b3261e; --grid: #e4e8ec; --on-bar: #14181c;
  --decode: #8db4dd; --preprocess: #b9d3ee; --load: #7fc4c4; --encode: #f0b357;
  --transfer: #c9a5dc; --tail: #e6cf6b; --forward: #97d5a4; --backward: #5dbb80;
  --optimiser: #c4d77c; --stall: #d4493f; --other: #b4bbc4;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --ink: #e3e6ea; --soft: #98a1ac; --rule: #343a42; --panel: #1c2026;
    --accent: #6cb4f2; --good: #6fcf97; --bad: #ff8a80; --grid: #2a3037; --stall: #ff7a70;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 62rem; background: var(--page);
  color: var(--ink); line-height: 1.5;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans",
    Arial, sans-serif;
}
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 0.25rem; letter-spacing: -0.01em; }
h2 { font-size: 1.2rem; margin: 2.75rem 0 0.5rem; padding-top: 0.9rem;
     border-top: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 1.5rem 0 0.25rem; }
p { margin: 0.4rem 0; max-width: 46rem; }
.lead { font-size: 1.12rem; margin: 1rem 0 1.25rem; }
.soft, figcaption, .notes, .sub { color: var(--soft); }
.sub { display: block; font-size: 0.82rem; font-weight: 400; }
.notes { font-size: 0.85rem; padding-left: 1.3rem; margin: 0.5rem 0; max-width: 50rem; }
figure { margin: 0.75rem 0 1.25rem; }
figcaption { font-size: 0.88rem; margin-bottom: 0.25rem; }
figcaption strong { color: var(--ink); }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
            font-size: 0.87em; }
pre { background: var(--panel); border: 1px solid var(--rule); border-radius: 4px;
      padding: 0.75rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; margin: 0.75rem 0; font-size: 0.92rem;
        font-variant-numeric: tabular-nums; }
th { font-weight: 600; text-align: left; vertical-align: bottom; }
thead th { border-bottom: 1.5px solid var(--ink); font-size: 0.84rem; }
td, th { padding: 0.45rem 0.6rem; vertical-align: top; }
td:first-child, th:first-child { padding-left: 0; }
td:last-child, th:last-child { padding-right: 0; }
tbody tr { border-bottom: 1px solid var(--rule); }
.num { text-align: right; white-space: nowrap; }
.unit { color: var(--soft); font-weight: 400; }
.kind { display: inline-block; font-size: 0.76rem; color: var(--soft); }
.unmeasured { color: var(--soft); font-style: italic; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
.facts th { width: 14rem; color: var(--soft); font-weight: 400; }
.facts td { overflow-wrap: anywhere; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 0.9rem;
         margin: 1rem 0; }
.tile { background: var(--panel); border: 1px solid var(--rule); border-radius: 6px;
        padding: 0.8rem 1rem; }
.tile h3 { margin: 0 0 0.4rem; }
.tile dl { margin: 0; display: grid; grid-template-columns: auto 1fr; gap: 0.15rem 0.9rem;
           font-variant-numeric: tabular-nums; }
.tile dt { color: var(--soft); font-size: 0.88rem; padding-top: 0.1rem; }
.tile dd { margin: 0; text-align: right; }
.tile dd strong { font-size: 1.2rem; font-weight: 650; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 0 1.5rem; }
.panels figure { max-width: 30rem; }
.legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; font-size: 0.85rem; max-width: none; }
.key { width: 0.8rem; height: 0.8rem; display: inline; vertical-align: -1px; margin-right: 0.35rem; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { fill: var(--ink); font-size: 12px; font-variant-numeric: tabular-nums; }
svg text.muted { fill: var(--soft); }
svg text.batch { fill: var(--on-bar); font-size: 11px; pointer-events: none; }
.grid { stroke: var(--grid); stroke-width: 1; }
.reference { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 3 3; }
.margin { stroke: var(--bad); stroke-width: 1; stroke-dasharray: 2 2; }
.interval { stroke: var(--accent); stroke-width: 2.5; stroke-linecap: round; }
.point { fill: var(--accent); stroke: var(--page); stroke-width: 1.5; }
.interval.control { stroke: var(--soft); } .point.control { fill: var(--soft); }
.curve { fill: none; stroke: var(--accent); stroke-width: 1.75; stroke-linejoin: round; }
.curve.behind { stroke: var(--soft); stroke-width: 1.25; stroke-dasharray: 3 2; }
.band { fill: var(--accent); opacity: 0.16; stroke: none; }
.lane { fill: var(--panel); }
.bar { stroke: var(--page); stroke-width: 0.75; }
.ph-decode { fill: var(--decode); } .ph-preprocess { fill: var(--preprocess); }
.ph-load { fill: var(--load); } .ph-encode { fill: var(--encode); }
.ph-transfer { fill: var(--transfer); } .ph-tail { fill: var(--tail); }
.ph-forward, .ph-train { fill: var(--forward); } .ph-backward { fill: var(--backward); }
.ph-optimiser { fill: var(--optimiser); } .ph-other { fill: var(--other); }
.ph-stall { fill: url(#hatch); stroke: var(--stall); stroke-width: 1; }
#hatch line { stroke: var(--stall); stroke-width: 2; }
.defs { position: absolute; width: 0; height: 0; }
.difference { min-width: 9rem; width: 12rem; }
.narrow { display: none; }
@media screen and (max-width: 45rem) {
  body { padding: 1.25rem 1rem 3rem; }
  h1 { font-size: 1.45rem; }
  .wide { display: none; }
  .narrow { display: block; max-width: 30rem; }
  .stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden;
                 clip-path: inset(50%); }
  .stack, .stack tbody, .stack tr, .stack td, .stack th { display: block; }
  .stack tr { padding: 0.6rem 0; }
  .stack td, .stack th { padding: 0.15rem 0; }
  .stack td[data-label] { display: flex; justify-content: space-between; gap: 1rem;
                          text-align: right; white-space: normal; }
  .stack td[data-label]::before { content: attr(data-label); color: var(--soft); text-align: left;
                                  flex: none; }
  .facts th, .facts td { display: block; width: auto; padding: 0.15rem 0; }
  .difference { width: auto; }
  .stack td.difference > svg { width: 12rem; }
}
@media print {
  :root { color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  figure, .tile, tr, pre { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)css";
}

}  // namespace frostline::study
