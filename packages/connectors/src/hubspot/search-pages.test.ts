import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Row } from '@penstock/connector'
import { type ConnectorError, ConnectorError as ErrorOfConnector } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { hubspotCrm } from './hubspot-crm.ts'

/** Reads what changed, from searches with these answers. Resolves with the rows and the bodies, or with the error. */
async function search(answers: readonly object[]): Promise<{ rows: Row[]; asked: unknown[] } | ConnectorError> {
  const asked: unknown[] = []
  const egress = {
    async request(url: string | URL, { body }: { body?: unknown } = {}): Promise<Response> {
      if (!new URL(url).pathname.endsWith('/search')) {
        return Response.json({ results: [{ name: 'email', type: 'string', fieldType: 'text' }] })
      }
      const { after } = JSON.parse(String(body))
      asked.push(after)
      return Response.json(answers[asked.length - 1] ?? { results: [] })
    },
    connect: () => Promise.reject(new Error('connects')),
  }
  const context = testContext({
    secrets: { authType: 'token', accessToken: 'token' },
    settings: { objectType: 'contacts', properties: 'email', syncMode: 'Incremental' },
    cursor: { type: 'contacts', since: 1 },
    egress,
  })
  const rows: Row[] = []
  try {
    const reader = await hubspotCrm.source?.open?.(context)
    for await (const chunk of reader?.read(undefined) ?? []) rows.push(...chunk.rows)
  } catch (error) {
    if (error instanceof ErrorOfConnector) return error
    throw error
  }
  return { rows, asked }
}
const record = (id: string) => ({ id, properties: { email: `${id}@example.com` } })

describe('a search of HubSpot', () => {
  test('does not end at a page without records that leads to another', async () => {
    const found = await search([
      { results: [], paging: { next: { after: '200' } } },
      { results: [], paging: { next: { after: '400' } } },
      { results: [record('7')] },
    ])
    assert.deepEqual(found, { rows: [['7', '7@example.com']], asked: [undefined, '200', '400'] })
  })

  test('fails if the next page cannot be used', async () => {
    for (const next of [{}, { after: '' }, { after: {} }, 'more', 7]) {
      for (const results of [[], [record('7')]]) {
        const error = await search([{ results, paging: { next } }])
        assert.ok(error instanceof ErrorOfConnector, JSON.stringify({ results, next }))
        assert.equal(error.code, 'malformed_response')
      }
    }
    const again = { results: [], paging: { next: { after: '200' } } }
    const error = await search([again, again, again])
    assert.ok(error instanceof ErrorOfConnector)
    assert.equal(error.code, 'malformed_response')
  })
})
