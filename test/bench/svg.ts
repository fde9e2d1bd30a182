/** The style that all plots share. */
export const lightStyle = `  text { font: 13px system-ui, sans-serif; fill: #1f2937 }
  .title { font-size: 15px; font-weight: 600 }
  .background { fill: #ffffff }
  .grid { stroke: #d1d5db; stroke-width: 1 }
  .axis { stroke: #6b7280; stroke-width: 1 }
`;

/** The same for a dark page. */
export const darkStyle = `    text { fill: #e5e7eb }
    .background { fill: #0d1117 }
    .grid { stroke: #30363d }
    .axis { stroke: #8b949e }
`;

/** A text at a position, in the plot's units. */
export const text = (atX: number, atY: number, words: string, anchor: "start" | "middle" | "end") =>
  `<text x="${atX}" y="${atY}" text-anchor="${anchor}">${words}</text>`;
