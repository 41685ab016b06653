import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectorError } from '@penstock/connector'
import { sendInHalves, type Taken } from './halving.ts'
import { Refusals, refusalsMax } from './refusals.ts'

type Item = { readonly index: number; readonly bad?: boolean }
const items = (length: number, bad: (n: number) => boolean): Item[] =>
  Array.from({ length }, (_, index) => ({ index, bad: bad(index) }))

/** Refuses a request with a bad item as a whole. */
const refuse = async (some: readonly Item[]): Promise<Taken<Item>> =>
  some.some(({ bad }) => bad) ? { bytes: 1, refused: 'It is bad.' } : { bytes: 1 }

test('finds each bad item of a request that is refused as a whole, and sends all others', async () => {
  const accepted: number[] = []
  const { rejected } = await sendInHalves(
    items(1000, (n) => n === 0 || n === 499 || n === 999),
    new Refusals('Acme'),
    async (some) => {
      const taken = await refuse(some)
      if (taken.refused === undefined) accepted.push(...some.map(({ index }) => index))
      return taken
    },
  )
  assert.deepEqual(
    rejected.map(({ index, reason }) => [index, reason]),
    [0, 499, 999].map((index) => [index, 'It is bad.']),
  )
  assert.equal(new Set(accepted).size, 997)
})

test('takes a platform at its word where it names the bad items', async () => {
  const all = items(10, (n) => n === 4)
  let requests = 0
  const { bytes, rejected } = await sendInHalves(all, new Refusals('Acme'), async (some) => {
    requests++
    return { bytes: 7, blamed: some.filter(({ bad }) => bad).map((item) => ({ item, reason: 'Named.' })) }
  })
  assert.deepEqual([requests, bytes, rejected], [1, 7, [{ index: 4, reason: 'Named.' }]])
  assert.deepEqual(await sendInHalves([], new Refusals('Acme'), refuse), { bytes: 0, rejected: [] })
})

test('ends the search where everything is refused alike', async () => {
  let requests = 0
  const work = sendInHalves(
    items(5000, () => true),
    new Refusals('Acme'),
    async (some) => {
      requests++
      return refuse(some)
    },
  )
  await assert.rejects(work, (error) => error instanceof ConnectorError && error.code === 'everything_refused')
  assert.equal(requests, refusalsMax)
})
