import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConnectorError } from '@penstock/connector'
import { type Page, pagesOf, poll, pollUntilDone } from './polling.ts'

const { signal } = new AbortController()
const quick = { firstMs: 1, mostMs: 2, signal }

describe('poll', () => {
  test('asks until there is a result', async () => {
    let asked = 0
    assert.equal(await poll(async () => (++asked === 4 ? 'done' : undefined), { ...quick, totalMs: 60_000 }), 'done')
    assert.equal(asked, 4)
  })

  test('asks once where there is no time, and a last time when the time is over', async () => {
    let asked = 0
    const ask = async () => void asked++
    assert.equal(await poll(ask, { ...quick, totalMs: 0 }), undefined)
    assert.equal(asked, 1)
    // The wait is longer than the time that there is.
    assert.equal(await poll(ask, { firstMs: 600_000, totalMs: 250, signal }), undefined)
    assert.ok(asked >= 3)
  })

  test('what the question throws is thrown, and an aborted signal ends the wait with its reason', async () => {
    await assert.rejects(
      poll(() => Promise.reject(new ConnectorError('rate_limited', 'wait')), { ...quick, totalMs: 60_000 }),
      { code: 'rate_limited' },
    )
    const ending = new AbortController()
    const ask = async () => void ending.abort(new Error('the job ends'))
    await assert.rejects(poll(ask, { firstMs: 600_000, totalMs: 600_000, signal: ending.signal }), /the job ends/)
    await assert.rejects(
      poll(async () => 'done', { totalMs: 1, signal: ending.signal }),
      /the job ends/,
    )
  })

  test('what must have a result names the job that had none in time', async () => {
    await assert.rejects(
      pollUntilDone('The report', async () => undefined, { ...quick, totalMs: 0 }),
      {
        code: 'timeout',
        message: 'The report was not done within 0 seconds.',
      },
    )
    assert.equal(await pollUntilDone('The report', async () => 0, { ...quick, totalMs: 0 }), 0)
  })
})

describe('pagesOf', () => {
  const list: Record<string, Page<number>> = {
    first: { items: [1, 2], next: 'b' },
    b: { items: [], next: 'c' },
    c: { items: [3], next: undefined },
  }
  const read = async (cursor = 'first') => list[cursor] ?? assert.fail(`no page ${cursor}`)
  const collect = async (pages: AsyncIterable<Page<number> & { cursor: string | undefined }>) => {
    const seen: [string | undefined, readonly number[]][] = []
    for await (const { cursor, items } of pages) seen.push([cursor, items])
    return seen
  }

  test('reads to the last page, from the first or a cursor', async () => {
    assert.deepEqual(await collect(pagesOf(read)), [
      [undefined, [1, 2]],
      ['b', []],
      ['c', [3]],
    ])
    assert.deepEqual(await collect(pagesOf(read, 'c')), [['c', [3]]])
  })

  test('no circle is read twice', async () => {
    for (const circle of [{ a: 'a' }, { a: 'b', b: 'a' }, { a: 'b', b: 'c', c: 'd', d: 'b' }]) {
      const next: Record<string, string> = circle
      let reads = 0
      const around = async (cursor = 'a') => {
        reads++
        return { items: [reads], next: next[cursor] }
      }
      await assert.rejects(collect(pagesOf(around, 'a')), { code: 'malformed_response' })
      assert.equal(reads, Object.keys(circle).length)
    }
  })

  test('a list that always has another page ends', async () => {
    let reads = 0
    await assert.rejects(collect(pagesOf(async () => ({ items: [], next: String(++reads) }))), {
      code: 'malformed_response',
    })
  })
})
