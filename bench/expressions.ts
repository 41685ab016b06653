/**
 * `npm run bench:expressions [-- --rows 1000000]` measures how long a filter and two expressions of a mapping take for a row,
 * compared with plain JavaScript, and with the evaluator of the library whose parser they use.
 */
import { parseArgs } from 'node:util'
import { Environment } from '@marcbachmann/cel-js'
import type { Cell, Row } from '@penstock/connector'
import { compileExpression, compileFilter } from '@penstock/expressions'
import { createMapper, planMapping } from '../packages/engine/src/mapping/mapping.ts'
import { filterRows } from '../packages/engine/src/transfer/stages/filter/filter.ts'
import { mapRows } from '../packages/engine/src/transfer/stages/mapping/stage.ts'
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
async function measure(work: (rows: readonly Row[]) => number | Promise<number>): Promise<number> {
  const once = async () => {
    const started = performance.now()
    let kept = 0
    for (let i = 0; i < chunks; i++) kept += await work(rows)
    if (kept === 0) throw new Error('nothing was kept')
    return ((performance.now() - started) * 1_000) / (chunks * chunkRows)
  }
  await once()
  const times: number[] = []
  for (let i = 0; i < tries; i++) times.push(await once())
  return median(times)
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
const condition = expressionOf(compileFilter(filter, columns))
const nothing = new Map()
const ours = await measure(async (given) => {
  const filtered = await filterRows(condition, { rows: given, errors: nothing }, {})
  return (await mapRows({ map, computes: true }, filtered, {})).rows.length
})
const parts = [filter, name, total].map((text) => expressionOf(compileExpression(text, columns)))
const evaluated = await measure((given) => {
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
const plain = await measure((given) => {
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
const library = await measure((given) => {
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
