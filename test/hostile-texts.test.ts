import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { applyTemplate } from '@penstock/engine'
import { type OperationId, operations } from '@penstock/wire'
import { toNormalForm } from '@penstock/wire/rules'
import { parseDefinition } from '../packages/connectors/src/http-api/definition/parse-definition.ts'
import { matcherOf } from '../packages/server/src/transfers/data-subjects/matching.ts'
import { commonRequests, hostileRequests } from './harness/hostile-requests.ts'
import { surfaceRequests } from './harness/hostile-surfaces.ts'
import { hostileTexts } from './harness/hostile-texts.ts'
import { assertHarmless, HostileWalk, type Weighed } from './harness/hostile-walk.ts'
import fc from './harness/property.ts'
import { seed } from './harness/seed.ts'

/**
 * No text of a tenant holds up others: a sample of hostile requests, and the parsers of tenant text one by one.
 * `hostile-texts.large.test.ts` sends them to every operation.
 */

/** Processor time of some work, in microseconds: the least of three. */
function cost(work: () => unknown): number {
  const times = [1, 2, 3].map(() => {
    const before = process.threadCpuUsage()
    work()
    const { user, system } = process.threadCpuUsage(before)
    return user + system
  })
  return Math.max(1, Math.min(...times))
}

/** The time that a text of twice the length needs, compared: 2 if it is proportional to the length, 4 if to its square. */
const growthMax = 3.2
/** Shorter times say nothing about growth: a collection of garbage is as long. The square of these lengths would take seconds. */
const shortMicroseconds = 60_000

describe('the time of a parser is proportional to the length of any text', () => {
  const parsers: Readonly<Record<string, { readonly units: number; read(text: string): unknown }>> = {
    'definition of an HTTP API': { units: 65_536, read: parseDefinition },
    'normal form': { units: 200_000, read: (text) => toNormalForm(text, 'NFKD') + toNormalForm(text, 'NFC') },
    'values of a person': { units: 40_000, read: (text) => matcherOf(['!'.repeat(319), text.slice(0, 320)])(text) },
  }
  for (const [name, { units, read }] of Object.entries(parsers))
    test(name, () => {
      for (const [kind, make] of Object.entries(hostileTexts)) {
        const whole = cost(() => read(make(units)))
        if (whole < shortMicroseconds) continue
        const half = cost(() => read(make(units / 2)))
        assert(whole / half < growthMax, `${kind}: ${half} µs for a half, ${whole} µs for the whole`)
      }
    })
})

test('a normal form is that of Unicode for what people write, and keeps every character of longer runs of marks', () => {
  const marks = fc.constantFrom('\u0315', '\u0300', '\u0e33', '\uff9e', 'e', 'ä', 'ﬁ', '각', '\u{16d67}')
  const texts = fc.array(marks, { maxLength: 30 }).map((all) => all.join(''))
  fc.assert(
    fc.property(texts, fc.constantFrom('NFC' as const, 'NFKC' as const, 'NFKD' as const), (text, form) => {
      assert.equal(toNormalForm(text, form), text.normalize(form))
    }),
  )
  const long = `a${'\u0315\u0300'.repeat(1_000)}`
  const sorted = (text: string) => [...text.normalize('NFD')].sort().join('')
  assert.equal(sorted(toNormalForm(long, 'NFC')), sorted(long))
})

test('a template with thousands of wrong expressions is applied to thousands of columns in the time of a few', () => {
  const columns = Array.from({ length: 2_000 }, (_, n) => `col${n.toString(36)}`)
  const template = (count: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [n, { expression: `cul${n}` }])))
  const few = cost(() => applyTemplate(undefined, template(20), columns))
  const many = cost(() => applyTemplate(undefined, template(1_700), columns))
  // A look at every column for each expression would take 85 times as long.
  assert(many / few < 30, `${few} µs for 20, ${many} µs for 1,700`)
})

describe('a sample of hostile requests holds up nobody', () => {
  let walk: HostileWalk
  before(async () => {
    walk = await HostileWalk.begin()
  })
  after(() => walk.end())
  const sampled = <Value>(all: readonly Value[], count: number): Value[] =>
    fc.sample(fc.constantFrom(...all), { numRuns: count, seed })

  test('of the operations', async () => {
    const ids = Object.keys(operations) as OperationId[]
    const weighed: Weighed[] = []
    for (const id of ids) {
      const all = [...hostileRequests(id), ...commonRequests()]
      for (const one of sampled(all, 1)) weighed.push(await walk.weighOperation(id, one))
    }
    assertHarmless(weighed)
  })

  test('of the other pages and protocols', async () => {
    const weighed: Weighed[] = []
    for (const { name, sent } of sampled(await surfaceRequests(walk), 40)) weighed.push(await walk.weigh(name, sent))
    assertHarmless(weighed)
  })
})
