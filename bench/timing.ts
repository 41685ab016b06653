/**
 * `npm run bench:timing [-- --tries 10000]`: whether the time of a refusal says what there is. Of each pair, one request names
 * what does not exist and the other what exists and belongs to someone else; they alternate on one connection. The figure is
 * the probability that a request of the second kind takes longer than one of the first: 0.5 where no one can distinguish them.
 */
import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { parseArgs } from 'node:util'
import { basePath } from '@penstock/wire'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { createOrganization } from '../packages/server/src/organizations/organizations.ts'
import { startPostgres } from './environment.ts'
import { median } from './measure.ts'
import { startService } from './service.ts'

const { values: options } = parseArgs({ options: { tries: { type: 'string', default: '10000' } } })
const tries = Number(options.tries)
const warmUpTries = 500

await using cleanup = new AsyncDisposableStack()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void cleanup.disposeAsync().finally(() => process.exit(1)))
}
const environment = await startPostgres(cleanup)
const service = await startService(
  environment,
  'timing',
  { accounts: 100, connectionsPerAccount: 10 },
  {
    PENSTOCK_TRUSTED_PROXIES: '127.0.0.1',
  },
)
cleanup.defer(() => service.stop())
const database = openDatabase({ url: service.databaseUrl, poolSize: 1 })
cleanup.defer(() => database.close())
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
cleanup.defer(() => agent.destroy())

const stranger = await database.transaction((tx) =>
  createOrganization(tx, { name: 'Stranger', ownerEmail: 'stranger@example.com' }),
)
type Sent = { method: string; path: string; token?: string; body?: object; address?: string }
type Received = { status: number; text: string; tookMs: number }

/** Sends a request, and waits for all of its answer. */
function send({ method, path, token, body, address }: Sent): Promise<Received> {
  const text = body && JSON.stringify(body)
  const headers = {
    ...(token ? { authorization: `Bearer ${token}` } : {}),
    ...(text ? { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) } : {}),
    ...(address ? { 'x-forwarded-for': address } : {}),
  }
  const begunMs = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(service.url + basePath + path, { method, headers, agent }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          text: Buffer.concat(parts).toString(),
          tookMs: performance.now() - begunMs,
        }),
      )
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(text)
  })
}

const tokenOf = async (clientId: string, clientSecret: string): Promise<string> => {
  const body = { clientId, clientSecret }
  return JSON.parse((await send({ method: 'POST', path: '/oauth/client-token', body })).text).accessToken
}
const token = await tokenOf(stranger.clientId, stranger.clientSecret)
const own = JSON.parse((await send({ method: 'POST', path: '/accounts', token, body: { name: 'Own' } })).text).response
const limited = JSON.parse(
  (
    await send({
      method: 'POST',
      path: '/clients',
      token: service.token,
      body: { name: 'Limited', accountIds: [service.loaded.accountIds[0]] },
    })
  ).text,
).response
const limitedToken = await tokenOf(limited.id, limited.clientSecret)

const unknownId = () => randomBytes(8).toString('hex')
const any = <T>(values: readonly T[]): T => {
  const value = values[Math.floor(Math.random() * values.length)]
  if (value === undefined) throw new Error('There is nothing to pick from.')
  return value
}
let addresses = 0
/** Each guess comes from an address of its own, so that none is throttled. */
const newAddress = () => `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses++ & 255}`
const guess = (clientId: string): Sent => ({
  ...{ method: 'POST', path: '/oauth/client-token', address: newAddress() },
  body: { clientId, clientSecret: 'pss_wrong' },
})
const read = (path: string, by: string): Sent => ({ method: 'GET', path, token: by })

const pairs: { name: string; absent: () => Sent; foreign: () => Sent }[] = [
  {
    name: 'a client of another organization, with a wrong secret',
    absent: () => guess(unknownId()),
    foreign: () => guess(limited.id),
  },
  {
    name: 'a connection of another organization',
    absent: () => read(`/connections/${unknownId()}?accountId=${own.id}`, token),
    foreign: () => read(`/connections/${any(service.loaded.connections).id}?accountId=${own.id}`, token),
  },
  {
    name: 'a sub-account of another organization',
    absent: () => read(`/connections?accountId=${unknownId()}`, token),
    foreign: () => read(`/connections?accountId=${any(service.loaded.accountIds)}`, token),
  },
  {
    name: 'a sub-account that the credential is not limited to',
    absent: () => read(`/accounts/${unknownId()}`, limitedToken),
    foreign: () => read(`/accounts/${any(service.loaded.accountIds.slice(1))}`, limitedToken),
  },
  {
    name: 'a client of another organization, by its identifier',
    absent: () => read(`/clients/${unknownId()}`, token),
    foreign: () => read(`/clients/${limited.id}`, token),
  },
]

/** The probability that a value of `second` is greater than one of `first`; ties count half. */
function probabilityOfMore(first: readonly number[], second: readonly number[]): number {
  const all = [...first.map((value) => ({ value, of: 0 })), ...second.map((value) => ({ value, of: 1 }))]
  all.sort((one, other) => one.value - other.value)
  let ranks = 0
  for (const [index, { of }] of all.entries()) if (of === 1) ranks += index + 1
  return (ranks - (second.length * (second.length + 1)) / 2) / (first.length * second.length)
}

/** What equal distributions give in 95 of 100 runs. */
const noise = 1.96 * Math.sqrt((2 * tries + 1) / (12 * tries * tries))
console.log(
  `${tries} tries of each kind; without any difference, ${(0.5 - noise).toFixed(3)} to ${(0.5 + noise).toFixed(3)}.`,
)
for (const { name, absent, foreign } of pairs) {
  const times: [number[], number[]] = [[], []]
  // Requests are made beforehand, and come in a random order, so that only the service can make a difference.
  const sent = Array.from({ length: tries + warmUpTries }, () => [absent(), foreign()] as const)
  for (const [attempt, both] of sent.entries()) {
    for (const kind of Math.random() < 0.5 ? ([0, 1] as const) : ([1, 0] as const)) {
      const { status, tookMs } = await send(both[kind])
      if (status !== 404 && status !== 401) throw new Error(`${name}: answered ${status}`)
      if (attempt >= warmUpTries) times[kind].push(tookMs)
    }
  }
  const [one, other] = times
  console.log(
    `${name}: ${probabilityOfMore(one, other).toFixed(3)}; medians ${median(one).toFixed(3)} and ${median(other).toFixed(3)} ms`,
  )
}
