/**
 * `npm run bench:expressions [-- --rows 1000000]`: how long a filter and two expressions of a mapping take for a row, beside the same
 * in plain JavaScript, and beside the evaluator of the library whose parser they use.
 */
import { parseArgs } from 'node:util'
import { Environment } from '@marcbachmann/cel-js'
import type { Cell, Row } from '@penstock/connector'
import { compileExpression, compileFilter } from '@penstock/expressions'
import { filtering } from '../packages/engine/src/expressions/filter.ts'
import { createMapper, planMapping } from '../packages/engine/src/mapping/mapping.ts'
import { median } from './measure.ts'

const { values: options } = parseArgs({ options: { rows: { type: 'string', default: '1000000' } } })
const chunkRows = 1_000
const chunks = Math.ceil(Number(options.rows) / chunkRows)
const tries = 7

const columns = ['country', 'consent', 'first', 'last', 'amount']
const rows: Row[] = Array.from({ length: chunkRows }, (_, i) => [
  i % 3 === 0 ? 'FR' : 'DE',
  i % 5 === 0 ? 'no' : 'yes',
  ` Ada ${i}`,
  'Lovelace',
  `${i}.50`,
])
const filter = 'country == "DE" && bool(consent)'
const name = 'lower(trim(first)) + " " + lower(last)'
const total = 'round(number(amount) * 1.19, 2)'

/** Microseconds a row: the median of some tries, after one that warms up. */
function measure(work: (rows: readonly Row[]) => number): number {
  const once = () => {
    const started = performance.now()
    let kept = 0
    for (let i = 0; i < chunks; i++) kept += work(rows)
    if (kept === 0) throw new Error('nothing was kept')
    return ((performance.now() - started) * 1_000) / (chunks * chunkRows)
  }
  once()
  return median(Array.from({ length: tries }, once))
}

function expressionOf(read: ReturnType<typeof compileExpression>) {
  if (!read.expression) throw new Error(read.wrong)
  return read.expression
}

const { plan } = planMapping({
  records: undefined,
  columns,
  mapping: { name: { expression: name }, total: { expression: total } },
})
if (!plan) throw new Error('the mapping is not valid')
const map = createMapper(plan)
const mapped = filtering(expressionOf(compileFilter(filter, columns)), (chunk) => map(chunk.rows, chunk.errors))
const ours = measure((given) => mapped({ rows: given }).rows.length)
const parts = [filter, name, total].map((text) => expressionOf(compileExpression(text, columns)))
const evaluated = measure((given) => {
  let kept = 0
  for (const row of given) {
    if (parts[0]?.evaluate(row) !== true) continue
    parts[1]?.evaluate(row)
    parts[2]?.evaluate(row)
    kept++
  }
  return kept
})

const yes = new Set(['true', 't', 'yes', 'y', '1', 'on'])
const plain = measure((given) => {
  const made: Cell[][] = []
  for (const [country, consent, first, last, amount] of given) {
    if (country !== 'DE' || !yes.has(String(consent).trim().toLowerCase())) continue
    const sum = Number(amount) * 1.19
    made.push([
      `${String(first).trim().toLowerCase()} ${String(last).toLowerCase()}`,
      Math.round((sum + Number.EPSILON) * 100) / 100,
    ])
  }
  return made.length
})

const environment = new Environment({ unlistedVariablesAreDyn: true })
const cel = ['country == "DE" && consent == "yes"', 'first.trim().lowerAscii() + " " + last.lowerAscii()'].map((text) =>
  environment.parse(text),
)
const library = measure((given) => {
  let kept = 0
  for (const [country = '', consent = '', first = '', last = ''] of given) {
    if (!cel[0]?.({ country, consent })) continue
    cel[1]?.({ first, last })
    kept++
  }
  return kept
})

for (const [what, us] of [
  ['plain JavaScript, a filter and two columns', plain],
  ['expressions alone', evaluated],
  ['expressions in the mapper, as a transfer runs them', ours],
  ['evaluator of the library, a filter and one column', library],
] as const) {
  console.log(`${us.toFixed(3).padStart(8)} µs a row  ${(us / plain).toFixed(1).padStart(5)}×  ${what}`)
}
