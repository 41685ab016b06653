import { after, before, describe, test } from 'node:test'
import { type OperationId, operations } from '@penstock/wire'
import { commonRequests, hostileRequests } from './harness/hostile-requests.ts'
import { surfaceRequests } from './harness/hostile-surfaces.ts'
import { assertHarmless, HostileWalk, type Weighed, worstOf } from './harness/hostile-walk.ts'
import { seed } from './harness/seed.ts'

/**
 * Hostile text × every operation. Every place of every request of the contract receives texts that cost more than their length
 * if a parser, a pattern or a transformation is careless, while a bystander of another organization makes small requests. New
 * operations are included automatically. Operations that accept definitions and mappings have thousands of places: `npm run
 * test:attack` walks all of them. Otherwise a part of each is enough.
 */

const ids = Object.keys(operations) as OperationId[]
const most = process.env.PENSTOCK_TEST_ATTACKS === 'all' ? Number.POSITIVE_INFINITY : 200
/** A limited number of them, spread evenly. Another seed chooses others. */
function some<Request>(requests: readonly Request[]): readonly Request[] {
  const every = Math.ceil(requests.length / most) || 1
  return requests.filter((_, index) => index % every === seed % every)
}
const all: Weighed[] = []
let walk: HostileWalk
before(async () => {
  walk = await HostileWalk.begin()
})
after(async () => {
  await walk.end()
  console.log(worstOf(all))
})

async function walkAll(requests: readonly (() => Promise<Weighed>)[]): Promise<void> {
  const weighed: Weighed[] = []
  for (const request of requests) weighed.push(await request())
  all.push(...weighed)
  assertHarmless(weighed)
}

describe('no hostile text in a request holds up a bystander', () => {
  for (const id of ids)
    test(id, () => walkAll(some(hostileRequests(id)).map((one) => () => walk.weighOperation(id, one))))
  test('in places that all operations have alike', () =>
    walkAll(commonRequests().map((one) => () => walk.weighOperation('getConnection', one))))
  test('on the other pages and protocols', async () => {
    const requests = await surfaceRequests(walk)
    await walkAll(
      requests.map(
        ({ name, sent }) =>
          () =>
            walk.weigh(name, sent),
      ),
    )
  })
})
