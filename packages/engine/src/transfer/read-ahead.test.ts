import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAhead } from './read-ahead.ts'

test.describe('reading ahead', { concurrency: true }, () => {
  test('gives all items in their order, and makes no more ahead than it may', async () => {
    let made = 0
    const given: number[] = []
    async function* numbers() {
      for (; made < 10; ) yield ++made
    }
    for await (const { item } of readAhead(numbers(), 3)) {
      await settled()
      given.push(item)
      assert.equal(made, Math.min(10, item + 3))
    }
    assert.deepEqual(given, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  test('shows the item that follows once it is made, and none where there is none', async () => {
    const release = Promise.withResolvers<void>()
    async function* slow() {
      yield 1
      await release.promise
      yield 2
    }
    const seen: [number, number | undefined, number | undefined][] = []
    for await (const { item, following } of readAhead(slow(), 1)) {
      await settled()
      const before = following()
      release.resolve()
      await settled()
      seen.push([item, before, following()])
    }
    assert.deepEqual(seen, [
      [1, undefined, 2],
      [2, undefined, undefined],
    ])
  })

  test('meets a failure when its turn comes, not before', async () => {
    async function* failing() {
      yield 1
      yield 2
      throw new Error('the third is broken')
    }
    const given: number[] = []
    await assert.rejects(async () => {
      for await (const { item } of readAhead(failing(), 5)) given.push(item)
    }, /the third is broken/)
    assert.deepEqual(given, [1, 2])
  })

  test('ends what makes the items once no one wants them', async () => {
    let ended = false
    async function* endless() {
      try {
        for (let item = 0; ; item += 1) yield item
      } finally {
        ended = true
      }
    }
    for await (const { item } of readAhead(endless(), 2)) if (item === 3) break
    await settled()
    assert.ok(ended)
  })
})

/** Resolves when everything has run that waits for nothing from outside. */
const settled = () => new Promise((resolve) => setImmediate(resolve))
