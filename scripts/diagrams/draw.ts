/** One step of a diagram: an arrow from a lane to another one, or within one. */
export type Step = {
  readonly from: string
  readonly to: string
  readonly label: string
  /** Something that does not happen every time. */
  readonly dashed?: boolean
}

/** Lanes, each for a process, a person or a state, and the steps between them, from top to bottom. */
export type Diagram = {
  /** Name of the file in `docs/diagrams/`, without its ending. */
  readonly name: string
  readonly title: string
  readonly lanes: readonly string[]
  readonly steps: readonly Step[]
}

const laneWidth = 190
const top = 64
const stepHeight = 46
const boxWidth = 158
const boxHeight = 34
/** The greatest width of a letter of 13 px. */
const letterWidth = 7.4

/**
 * Draws a diagram, in light and dark colours by the reader's system setting. Its description lists all steps.
 * @returns SVG without scripts and external resources
 * @throws Error if a step names a lane that the diagram does not have
 */
export function drawDiagram({ name, title, lanes, steps }: Diagram): string {
  const width = lanes.length * laneWidth
  const height = top + steps.length * stepHeight + 16
  const centerOf = (lane: string) => {
    const at = lanes.indexOf(lane)
    if (at < 0) throw new Error(`The diagram ${name} has no lane ${lane}`)
    return at * laneWidth + laneWidth / 2
  }
  const heads = lanes.map((lane) => {
    const x = centerOf(lane)
    return `<path class="lane" d="M${x} ${12 + boxHeight}V${height - 8}"/>
<rect class="box" x="${x - boxWidth / 2}" y="12" width="${boxWidth}" height="${boxHeight}" rx="6"/>
<text class="head" x="${x}" y="34">${escapeText(lane)}</text>`
  })
  const arrows = steps.map((step, at) => drawStep(step, at, centerOf, width))
  const description = steps.map(({ from, to, label }, at) => `${at + 1}. ${from} to ${to}: ${label}`).join('. ')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">
<title id="title">${escapeText(title)}</title>
<desc id="description">${escapeText(description)}.</desc>
<style>
:root { --background: #ffffff; --box: #f1f4f7; --line: #8a97a4; --text: #1a2129; --accent: #0b5f95 }
@media (prefers-color-scheme: dark) {
  :root { --background: #12171c; --box: #1d252d; --line: #6f7d8a; --text: #e6ebf0; --accent: #7cc4f5 }
}
text { font: 13px system-ui, sans-serif; fill: var(--text); text-anchor: middle }
.head { font-weight: 600 }
.label { paint-order: stroke; stroke: var(--background); stroke-width: 5px }
.background { fill: var(--background) }
.box { fill: var(--box); stroke: var(--line) }
.lane { stroke: var(--line); stroke-dasharray: 2 4; fill: none }
.arrow { stroke: var(--accent); stroke-width: 1.5; fill: none }
.dashed { stroke-dasharray: 6 4 }
.tip { fill: var(--accent) }
</style>
<rect class="background" width="${width}" height="${height}"/>
${[...heads, ...arrows].join('\n')}
</svg>
`
}

function drawStep(step: Step, at: number, centerOf: (lane: string) => number, width: number): string {
  const y = top + at * stepHeight + 28
  const [from, to] = [centerOf(step.from), centerOf(step.to)]
  const dashed = step.dashed ? ' dashed' : ''
  const half = (step.label.length * letterWidth) / 2
  const inside = (x: number) => Math.min(Math.max(x, half + 4), width - half - 4)
  if (from === to) {
    return `<path class="arrow${dashed}" d="M${from} ${y - 6}h22v14h-16"/>
<path class="tip" d="M${from + 1} ${y + 8}l8 -4v8z"/>
<text class="label" x="${inside(from)}" y="${y - 12}">${escapeText(step.label)}</text>`
  }
  const direction = to > from ? 1 : -1
  const end = to - direction * 8
  return `<path class="arrow${dashed}" d="M${from} ${y}H${end}"/>
<path class="tip" d="M${to} ${y}l${-direction * 9} -4.5v9z"/>
<text class="label" x="${inside((from + to) / 2)}" y="${y - 7}">${escapeText(step.label)}</text>`
}

const escapeText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
