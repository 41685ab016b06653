import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReadTurns } from './read-turns.ts'

const large = 100_000

/** Counts the turns of the event loop, until it is stopped. */
function countTurns() {
  const counted = { turn: 0, isOver: false }
  const tick = () => {
    counted.turn++
    if (!counted.isOver) setImmediate(tick)
  }
  setImmediate(tick)
  return counted
}

test('large requests of one stream are read in a turn each, and requests of others between them', async () => {
  const turns = new ReadTurns()
  const counted = countTurns()
  const read: { as: string; turn: number }[] = []
  const take = async (name: string, bytes: number, as: string) => {
    await turns.take(name, bytes)
    read.push({ as, turn: counted.turn })
  }
  await Promise.all([
    take('flood', large, 'flood 1'),
    take('flood', large, 'flood 2'),
    take('flood', large, 'flood 3'),
    take('shop', 300, 'shop 1'),
    take('blog', 300, 'blog 1'),
  ])
  counted.isOver = true
  assert.deepEqual(
    read.map(({ as }) => as),
    ['flood 1', 'shop 1', 'blog 1', 'flood 2', 'flood 3'],
  )
  const ofFlood = read.filter(({ as }) => as.startsWith('flood')).map(({ turn }) => turn)
  assert.equal(new Set(ofFlood).size, 3, 'one large request in a turn')
})

test('small requests share a turn, and every request is read once, however they come', async () => {
  const turns = new ReadTurns()
  const counted = countTurns()
  const seen: number[] = []
  await Promise.all(
    Array.from({ length: 100 }, async (_, at) => {
      await turns.take(`stream ${at % 7}`, 300)
      seen.push(counted.turn)
    }),
  )
  counted.isOver = true
  assert.equal(seen.length, 100)
  assert(new Set(seen).size < 10, `${new Set(seen).size} turns`)
  await turns.take('later', 1)
})
