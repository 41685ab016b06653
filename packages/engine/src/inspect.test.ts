import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import type { Connector } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { connectors } from '@penstock/connectors'
import { inspectDestination } from './inspect.ts'

const [localFolder, postgresql, webhook] = ['local-folder', 'postgresql', 'webhook'].map((slug) => {
  const found = connectors.find((connector) => connector.slug === slug)
  assert.ok(found, `there is a connector ${slug}`)
  return found
}) as [Connector, Connector, Connector]

/** A server that accepts connections and never answers. */
const sockets = new Set<Socket>()
const silent = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1')
await once(silent, 'listening')
after(() => {
  for (const socket of sockets) socket.destroy()
  silent.close()
})
const { port } = silent.address() as AddressInfo
const secrets = { host: '127.0.0.1', port, database: 'crm', user: 'loader', password: 'canary', tlsMode: 'disable' }
const settings = { table: 'people', writeMode: 'Insert' }

const asIs = (text: string) => text

describe('asking a destination', () => {
  test('has a finding where it does not answer within the bound', async () => {
    const findings = await inspectDestination(postgresql, testContext({ secrets, settings, columns: ['a'] }), asIs, 50)
    assert.deepEqual(
      findings.map(({ code, column }) => [code, column]),
      [['timeout', null]],
    )
    assert.match(findings[0]?.message ?? '', /preview again\.$/)
  })

  test('ends with the job, whose reason it throws', async () => {
    const stop = new AbortController()
    const context = testContext({ secrets, settings, columns: ['a'], signal: stop.signal })
    const asked = inspectDestination(postgresql, context, asIs, 60_000)
    const reason = new Error('The caller has gone')
    stop.abort(reason)
    await assert.rejects(asked, reason)
  })

  test('has what the connector throws as a finding, and none of a destination that offers nothing', async () => {
    const findings = await inspectDestination(
      localFolder,
      testContext({ secrets: { folder: 'nowhere' } }),
      asIs,
      60_000,
    )
    assert.deepEqual(
      findings.map(({ code }) => code),
      ['path_not_allowed'],
    )
    assert.deepEqual(await inspectDestination(webhook, testContext(), asIs, 60_000), [])
  })
})
