import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { type Cell, ConnectorError } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { connectors } from '@penstock/connectors'
import { loadConnector } from '@penstock/connectors/load'
import { batchOf } from '../packages/connectors/test/platform-server.ts'
import { issuedToken, type Side } from './echoes/side.ts'
import { tables } from './echoes/tables.ts'
import { isChosen } from './harness/chosen-connectors.ts'

/**
 * Rate limits, internal errors, broken connections and expired tokens of a platform, for every connector over HTTP. The
 * acceptance suite of each connector tests rejected rows, and batches that are repeated after a crash.
 */

const sidesAtOnce = 8
/** Longer waits than ten seconds are left to the engine. */
const askedSeconds = 30

/** Connectors with other protocols. */
const notOverHttp = new Set([
  'postgresql',
  'mysql',
  'kafka',
  'sftp-source',
  'amazon-redshift-source',
  'amazon-redshift-destination',
  'sftp-destination',
  'liveramp-id-match',
  'nexxen-audiences',
])
/** They read and write this machine, or what this service has. */
const elsewhere = new Set(['file-upload', 'local-folder', 'rejected-records'])

const connectorOf = ({ slug }: Side) => connectors.find((one) => one.slug === slug) ?? assert.fail(slug)

type Role = 'source' | 'destination'

/** An answer, or a connection that is cut without one. */
type Fate = { readonly status: number; readonly headers?: Record<string, string>; readonly json?: unknown } | 'cut'
type Asked = { readonly method: string; readonly path: string }

const isToken = ({ method, path }: Asked) => method === 'POST' && /token|oauth/i.test(path)
const tokens: Fate = {
  status: 200,
  json: {
    access_token: issuedToken,
    expires_in: 3600,
    token_type: 'Bearer',
    instance_url: 'https://a.my.salesforce.com',
  },
}

/** The answers of each run, by its name. */
const fates = new Map<string, (asked: Asked) => Fate>()
const server = createServer(async (request, response) => {
  for await (const _ of request);
  const { method = '', url = '', headers } = request
  const fate = fates.get(String(headers['x-run']))?.({ method, path: url.replace(/\?.*/, '') }) ?? 'cut'
  if (fate === 'cut') return request.socket.destroy()
  response.writeHead(fate.status, { 'content-type': 'application/json', ...fate.headers })
  response.end(method === 'HEAD' ? undefined : JSON.stringify(fate.json ?? {}))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
after(() => {
  server.closeAllConnections()
  server.close()
})

/**
 * Moves data between a side and a platform that answers like this. Resolves with the error, and the number of requested tokens.
 */
async function failureOf(side: Side, role: Role, fate: (asked: Asked) => Fate) {
  const connector = await loadConnector(side.slug)
  const run = `${side.slug} ${fates.size}`
  let tokensAsked = 0
  fates.set(run, (asked) => {
    if (isToken(asked)) tokensAsked += 1
    return fate(asked)
  })
  const way = testContext().egress
  const context = {
    ...testContext({ secrets: side.secrets, settings: side.settings, columns: Object.keys(side.row ?? {}) }),
    egress: {
      ...way,
      request: (url: string | URL, options: Parameters<typeof way.request>[1] = {}) => {
        const { pathname, search } = new URL(url)
        return way.request(`${origin}${pathname}${search}`, {
          ...options,
          headers: { ...options.headers, 'x-run': run },
        })
      },
    },
  }
  const move = async () => {
    const { source, destination } = connector
    if (role === 'source') {
      const reader = await source?.open?.(context)
      for await (const _ of reader?.read(undefined) ?? []);
      return
    }
    const writer = await destination?.deliver?.open(context)
    const { row = {} } = side
    const cells = Object.entries(row).map(([column, cell]): Cell => {
      const { hashed = [], digestEncoding = 'hex' } = destination?.records?.[column] ?? {}
      return hashed.length === 0 ? cell : createHash('sha256').update(String(cell)).digest(digestEncoding)
    })
    const { rejected = [] } = (await writer?.deliver(batchOf(Object.keys(row), [cells]))) ?? {}
    assert.deepEqual(rejected, [])
    await writer?.finish?.()
  }
  const error = await move().then(
    () => assert.fail('nothing failed'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ConnectorError)) throw error
  return { error, tokensAsked }
}

/** Transient refusals of platforms whose sources are not made with the kit for reports, which tests its own. */
const busy: Readonly<Record<string, readonly Fate[]>> = {
  'salesforce-crm': [
    ...[406, 420].map((status) => ({ status, json: {} })),
    { status: 400, json: [{ errorCode: 'SERVER_UNAVAILABLE' }] },
    { status: 403, json: [{ errorCode: 'REQUEST_LIMIT_EXCEEDED' }] },
  ],
  'hubspot-crm': [423, 477].map((status) => ({ status, json: {} })),
  'shopify-admin': [{ status: 200, json: { errors: [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }] } }],
}

const sides = Object.values(tables)
  .flat()
  .filter(({ slug }) => !notOverHttp.has(slug))
/** A side with a row is a destination, and also a source unless the tables contain a separate source. */
const isSource = ({ slug, row }: Side) => !row || sides.every((one) => one.slug !== slug || one.row)
const cases = sides.flatMap((side): { side: Side; role: Role }[] => {
  const { source, destination } = connectorOf(side)
  const roles = [
    ...(source?.open && isSource(side) ? (['source'] as const) : []),
    ...(destination?.deliver && side.row ? (['destination'] as const) : []),
  ]
  return roles.map((role) => ({ side, role }))
})

describe('a platform that fails', { concurrency: sidesAtOnce, timeout: 120_000 }, () => {
  for (const { side, role } of cases.filter(({ side }) => isChosen(side))) {
    test(`${side.slug} as a ${role} ${side.secrets.endpoint ?? ''}`, async () => {
      const wrong: string[] = []
      const expect = async (title: string, fate: Fate, fits: (error: ConnectorError) => boolean) => {
        for (const signsIn of [true, false]) {
          const { error } = await failureOf(side, role, (one) => (signsIn && isToken(one) ? tokens : fate))
          const { code, action, afterMs, message } = error
          if (!fits(error))
            wrong.push(`${title}, ${signsIn ? '' : 'not '}signed in: ${code} ${action} ${afterMs} ${message}`)
        }
      }
      const headers = { 'retry-after': String(askedSeconds) }
      await expect(
        'a limit with a wait',
        { status: 429, headers, json: {} },
        ({ code, afterMs }) => code === 'rate_limited' && afterMs === askedSeconds * 1000,
      )
      await expect('a limit', { status: 429, json: {} }, ({ code }) => code === 'rate_limited')
      await expect('an internal error', { status: 500, json: {} }, ({ isTransient }) => isTransient)
      await expect('a connection that is cut', 'cut', ({ isTransient }) => isTransient)
      for (const fate of role === 'source' ? (busy[side.slug] ?? []) : []) {
        const { error } = await failureOf(side, role, (one) => (isToken(one) ? tokens : fate))
        if (!error.isTransient) wrong.push(`${JSON.stringify(fate)}: ${error.code} ${error.message}`)
      }
      // A token that expires early is renewed once. The next response decides.
      let ended = 0
      const { tokensAsked } = await failureOf(side, role, (one) => {
        if (isToken(one)) return tokens
        return ended++ === 0 ? { status: 401, json: {} } : { status: 500, json: {} }
      })
      if (tokensAsked === 1) wrong.push('an ended token is not renewed')
      assert.deepEqual(wrong, [])
    })
  }
})

test('every role of a connector over HTTP is one of them', () => {
  const over = (slug: string) => !notOverHttp.has(slug) && !elsewhere.has(slug)
  const roles = connectors
    .filter(({ slug, status, readsEvents }) => status !== 'withdrawn' && !readsEvents && over(slug))
    .flatMap(({ slug, source, destination }) => [
      ...(source?.open ? [`${slug} source`] : []),
      ...(destination?.deliver ? [`${slug} destination`] : []),
    ])
  const seen = new Set(cases.map(({ side, role }) => `${side.slug} ${role}`))
  assert.deepEqual(
    roles.filter((role) => !seen.has(role)),
    [],
  )
})
