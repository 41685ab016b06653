import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService, type TestService } from './harness/service.ts'

/** The log lines of requests: the caller, the request, and requests without a line. */

type Line = Readonly<Record<string, unknown>>

const linesOf = ({ logLines }: TestService): Line[] =>
  logLines.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === 'request')

async function withService(env: Record<string, string>, work: (service: TestService) => Promise<void>): Promise<void> {
  const service = await startTestService(env)
  try {
    await work(service)
  } finally {
    await service.close()
  }
}

const probes = ['/healthz', '/readyz', '/metrics']
const send = (service: TestService, path: string, headers: Record<string, string> = {}) =>
  service.send({ method: 'GET', path, headers })

test('a probe that succeeds has no line, unless the level is debug', async () => {
  await withService({}, async (service) => {
    for (const path of probes) assert.equal((await send(service, path)).status, 200)
    await send(service, '/es/v2/connectors')
    assert.deepEqual(
      linesOf(service).map(({ operation }) => operation),
      ['listConnectors'],
    )
  })
  await withService({ PENSTOCK_LOG_LEVEL: 'debug' }, async (service) => {
    for (const path of probes) await send(service, path)
    assert.deepEqual(
      linesOf(service).map(({ operation, level }) => [operation, level]),
      [
        ['healthz', 'debug'],
        ['readyz', 'debug'],
        ['metrics', 'debug'],
      ],
    )
  })
})

test('a probe that fails has a line', () =>
  withService({}, async (service) => {
    await service.database.pool.query(`update penstock_migrations set name = 'x' || name`)
    assert.equal((await send(service, '/readyz')).status, 503)
    assert.deepEqual(
      linesOf(service).map(({ operation, status, level }) => [operation, status, level]),
      [['readyz', 503, 'info']],
    )
  }))

test('a line names the client and its address, and contains no secret', () =>
  withService({}, async (service) => {
    const { token, clientId, organizationId } = await service.addOrganization()
    const reply = await send(service, '/es/v2/accounts?q=canary', { authorization: `Bearer ${token}` })
    const line = linesOf(service).at(-1)
    assert.deepEqual(
      [line?.requestId, line?.clientId, line?.organizationId, line?.clientAddress],
      [reply.headers['x-request-id'], clientId, organizationId, '127.0.0.1'],
    )
    const all = service.logLines.join('')
    assert(!all.includes(token) && !all.includes('canary'))
  }))

for (const [what, trusted, forwarded, address] of [
  ['is not believed without trusted proxies', '', '203.0.113.9', '127.0.0.1'],
  ['is not believed from another address than a trusted proxy', '10.0.0.0/8', '203.0.113.9', '127.0.0.1'],
  ['is believed from a trusted proxy', '127.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['is believed only in the part that trusted proxies added', '127.0.0.1', '10.0.0.1, 203.0.113.9', '203.0.113.9'],
  ['is followed through several proxies', '127.0.0.1,10.0.0.0/8', '192.0.2.7, 203.0.113.9, 10.1.1.1', '203.0.113.9'],
  ['has one form for each address', '127.0.0.1', '2001:DB8:0:0::0001', '2001:db8::1'],
  ['may be an IPv4 address that is mapped into IPv6', '127.0.0.1', '::ffff:203.0.113.9', '203.0.113.9'],
  ['may contain a port', '127.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
  ['is ignored if it is not an address', '127.0.0.1', '"},{"level":"fatal', '127.0.0.1'],
] as const) {
  test(`X-Forwarded-For ${what}`, () =>
    withService(trusted ? { PENSTOCK_TRUSTED_PROXIES: trusted } : {}, async (service) => {
      await send(service, '/es/v2/connectors', { 'x-forwarded-for': forwarded })
      assert.equal(linesOf(service).at(-1)?.clientAddress, address)
    }))
}
