import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Chunk, ConnectorError } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { httpApi } from '../http-api.ts'

const definition = `
streams:
  cursor: { path: /list, records: items, pages: { by: cursor, parameter: at, at: next } }
  url: { path: /list, records: items, pages: { by: url, at: next } }
  link: { path: /list, records: items, pages: { by: link } }
  computed: { path: /list, records: items, pages: { by: cursor, parameter: at, next: response.next } }
`
const last = { items: [{ id: 2 }] }

/** Reads a stream of an API whose first page is this. */
async function read(stream: string, first: object, link?: string): Promise<number | ConnectorError> {
  let asked = 0
  const egress = {
    request: async () => Response.json(asked++ === 0 ? first : last, link && asked === 1 ? { headers: { link } } : {}),
    connect: () => Promise.reject(new Error('connects')),
  }
  const context = testContext({
    secrets: { url: 'https://api.example.com/v1/', definition, authentication: 'none' },
    settings: { stream },
    egress,
  })
  const chunks: Chunk[] = []
  try {
    for await (const chunk of (await httpApi.source?.open?.(context))?.read(undefined) ?? []) chunks.push(chunk)
  } catch (error) {
    return error as ConnectorError
  }
  return chunks.reduce((sum, { rows }) => sum + rows.length, 0)
}
const page = (next?: unknown) => ({ items: [{ id: 1 }], ...(next !== undefined && { next }) })

describe('the next page of an HTTP API', () => {
  test('is not there if the answer has nothing, null, false or an empty text in its place', async () => {
    for (const stream of ['cursor', 'url', 'computed']) {
      for (const next of [undefined, null, false, '']) {
        assert.equal(await read(stream, page(next)), 1, `${stream} ${JSON.stringify(next)}`)
      }
    }
    assert.equal(await read('link', page()), 1)
    assert.equal(await read('link', page(), '<https://api.example.com/v1/list?p=1>; rel="prev"'), 1)
  })

  test('is read if the answer names it', async () => {
    assert.equal(await read('cursor', page('more')), 2)
    assert.equal(await read('cursor', page(7)), 2)
    assert.equal(await read('computed', page('more')), 2)
    assert.equal(await read('url', page('https://api.example.com/v1/list?p=2')), 2)
    assert.equal(await read('link', page(), '<https://api.example.com/v1/list?p=2>; rel="last next"'), 2)
  })

  test('is an error if it cannot be used, and not the end', async () => {
    const cases: [string, unknown][] = [
      ...['cursor', 'url', 'computed'].flatMap((stream) =>
        [true, { at: 1 }, ['more'], 'x'.repeat(4_001)].map((next): [string, unknown] => [stream, next]),
      ),
      ...[7, 'https://elsewhere.example/v1/list', '//elsewhere.example/list', 'https://', 'ftp://api.example.com/'].map(
        (next): [string, unknown] => ['url', next],
      ),
    ]
    for (const [stream, next] of cases) {
      const error = await read(stream, page(next))
      assert.ok(typeof error === 'object', `${stream} ${JSON.stringify(next).slice(0, 80)}: an end in silence`)
      assert.equal(error.code, 'malformed_response', `${stream} ${JSON.stringify(next).slice(0, 80)}: ${error.message}`)
    }
    for (const link of ['<>; rel="next"', 'https://api.example.com/v1/list?p=2; rel="next"', '; rel=next']) {
      const error = await read('link', page(), link)
      assert.ok(typeof error === 'object', link)
      assert.equal(error.code, 'malformed_response', link)
    }
  })
})
