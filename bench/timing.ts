/**
 * `npm run bench:timing [-- --tries 10000]` measures whether the time of a refusal reveals what exists. In each pair, one request
 * names something that does not exist, and the other something that exists and belongs to someone else. They alternate on one
 * connection. The figure is the probability that a request of the second kind takes longer than a request of the first kind: 0.5
 * if they cannot be distinguished. Guesses of passwords take tens of milliseconds each, so there are fewer (`--password-tries`).
 * `--only` selects pairs by a part of their name.
 */
import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { parseArgs } from 'node:util'
import { basePath } from '@penstock/wire'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { createOrganization } from '../packages/server/src/organizations/organizations.ts'
import { createPasswords } from '../packages/server/src/users/passwords.ts'
import { answerWith, createCredential } from '../test/harness/authenticator.ts'
import { startMailServer } from '../test/harness/mail-server.ts'
import { probabilityOfMore } from '../test/harness/probability.ts'
import { cleanupOfRun, startPostgres } from './environment.ts'
import { median } from './measure.ts'
import { startService } from './service.ts'

const { values: options } = parseArgs({
  options: {
    tries: { type: 'string', default: '10000' },
    'password-tries': { type: 'string', default: '2000' },
    only: { type: 'string', default: '' },
  },
})
const tries = Number(options.tries)
const passwordTries = Number(options['password-tries'])
/** A tenth of the measured requests, at most 500. */
const warmUpOf = (count: number) => Math.min(500, Math.ceil(count / 10))

await using cleanup = cleanupOfRun()
const environment = await startPostgres(cleanup)
const mailServer = await startMailServer()
cleanup.defer(() => mailServer.close())
const publicUrl = 'http://penstock.test'
const service = await startService(
  environment,
  'timing',
  { accounts: 100, connectionsPerAccount: 10 },
  {
    PENSTOCK_TRUSTED_PROXIES: '127.0.0.1',
    PENSTOCK_PUBLIC_URL: publicUrl,
    PENSTOCK_SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    PENSTOCK_MAIL_FROM: 'penstock@example.com',
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
/** Each guess comes from a different address, so that none is throttled. */
const newAddress = () => `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses++ & 255}`
const guess = (clientId: string): Sent => ({
  method: 'POST',
  path: '/oauth/client-token',
  address: newAddress(),
  body: { clientId, clientSecret: 'pss_wrong' },
})
const read = (path: string, by: string): Sent => ({ method: 'GET', path, token: by })

/** People of another organization, and of one that requires single sign-on, who all have one password. */
const peopleOfEach = 2_000
await addPeople()
async function addPeople(): Promise<void> {
  const withProvider = await database.transaction((tx) =>
    createOrganization(tx, { name: 'Provider', ownerEmail: 'provider@example.com' }),
  )
  const passwordDigest = await createPasswords().digest('a sentence of its own kind', undefined, '127.0.0.1')
  const { pool } = database
  for (const [name, { organizationId }] of Object.entries({ known: stranger, provider: withProvider })) {
    await pool.query(
      `insert into users (id, organization_id, email, name, role, password_digest, joined_time)
       select substr(md5($1 || i), 1, 16), $2, $1 || '-' || i || '@example.com', 'Known', 'viewer', $3, now()
       from generate_series(1, $4::int) i`,
      [name, organizationId, passwordDigest, peopleOfEach],
    )
  }
  await pool.query(
    `insert into single_sign_on (organization_id, issuer, client_id, authorization_endpoint, required)
     values ($1, 'https://login.example.com', 'penstock', 'https://login.example.com/auth', true)`,
    [withProvider.organizationId],
  )
  await pool.query('analyze users')
}
const personIn = (name: 'known' | 'provider') => `${name}-${1 + Math.floor(Math.random() * peopleOfEach)}@example.com`
/** As long as one that is known. */
const unknownPerson = () => `nobody-${randomBytes(2).toString('hex')}@example.com`
const signIn = (email: string, address = newAddress()): Sent => ({
  method: 'POST',
  path: '/sign-in',
  address,
  body: { email, password: 'not the password of anyone' },
})
const reset = (email: string): Sent => ({
  method: 'POST',
  path: '/password-resets',
  address: newAddress(),
  body: { email },
})

/** A passkey of a person of another organization, and answers of authenticators to one challenge. */
const { credential, takeChallenge, body: passkeySignIn } = await addPasskey()
async function addPasskey() {
  const [owner] = (await database.pool.query(`select id from users where email = 'known-1@example.com'`)).rows
  const userHandle = Buffer.from(owner.id).toString('base64url')
  const rp = { id: new URL(publicUrl).hostname }
  const { credential } = createCredential({ rp, user: { id: userHandle }, challenge: '' })
  const { x = '', y = '' } = createPublicKey(credential.key).export({ format: 'jwk' })
  const publicKey = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ])
  await database.pool.query(
    `insert into passkeys (id, user_id, credential_id, public_key, counter, transports, name, backed_up)
     values ('0123456789abcdef', $1, $2, $3, 0, '{}', 'Laptop', false)`,
    [owner.id, Buffer.from(credential.id, 'base64url'), publicKey],
  )
  // Signed by another key, as somebody who knows the identifiers could do.
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  let challenge = ''
  return {
    credential,
    /** A challenge is valid for some minutes. */
    takeChallenge: async () => {
      const { text } = await send({ method: 'POST', path: '/sign-in/passkey/options', address: newAddress() })
      challenge = JSON.parse(text).response.challenge
    },
    body: (id: string) => answerWith({ ...credential, id }, { rpId: rp.id, challenge }, { key: privateKey }),
  }
}
const passkey = (id: string): Sent => ({
  method: 'POST',
  path: '/sign-in/passkey',
  address: newAddress(),
  body: passkeySignIn(id),
})

type Pair = {
  readonly name: string
  readonly absent: () => Sent
  readonly foreign: () => Sent
  /** Of a password, which is slow. */
  readonly slow?: true
  /** Runs before each measurement. */
  readonly prepare?: () => Promise<unknown>
  /** Sent right after each request, and measured instead of it. */
  readonly next?: () => Sent
}

/** This address has failed as often as is allowed. */
const throttledAddress = { absent: newAddress(), foreign: newAddress() }
const fail = async (email: string, address: string) => {
  for (let failed = 0; failed < 10; failed++) await send(signIn(email, address))
}

const pairs: readonly Pair[] = [
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
  {
    name: 'a person, with a wrong password',
    absent: () => signIn(unknownPerson()),
    foreign: () => signIn(personIn('known')),
    slow: true,
  },
  {
    name: 'a person whose organization requires single sign-on, with a wrong password',
    absent: () => signIn(unknownPerson()),
    foreign: () => signIn(personIn('provider')),
    slow: true,
  },
  {
    name: 'a person, by an address that is throttled',
    prepare: async () => {
      await fail('nobody-0001@example.com', throttledAddress.absent)
      await fail('known-1@example.com', throttledAddress.foreign)
    },
    absent: () => signIn('nobody-0001@example.com', throttledAddress.absent),
    foreign: () => signIn('known-1@example.com', throttledAddress.foreign),
  },
  {
    name: 'a person, by a request for a new password',
    absent: () => reset(unknownPerson()),
    foreign: () => reset(personIn('known')),
  },
  {
    name: 'a person, by what follows on a request for a new password',
    absent: () => reset(unknownPerson()),
    foreign: () => reset(personIn('provider')),
    next: () => read(`/accounts/${own.id}`, token),
  },
  {
    name: 'a passkey of another organization, with a wrong signature',
    prepare: takeChallenge,
    absent: () => passkey(randomBytes(16).toString('base64url')),
    foreign: () => passkey(credential.id),
  },
]

/** Bound that equal distributions stay below in 95 of 100 runs. */
const noiseOf = (count: number) => 1.96 * Math.sqrt((2 * count + 1) / (12 * count * count))
const refusals = [401, 404, 429]
for (const { name, absent, foreign, slow, prepare, next } of pairs.filter((one) => one.name.includes(options.only))) {
  const count = slow ? passwordTries : tries
  const warmUpTries = warmUpOf(count)
  const times: [number[], number[]] = [[], []]
  await prepare?.()
  // Requests are prepared, and sent in a random order, so that only the service can make a difference.
  const sent = Array.from({ length: count + warmUpTries }, () => [absent(), foreign()] as const)
  const statuses = new Set<number>()
  for (const [attempt, both] of sent.entries()) {
    for (const kind of Math.random() < 0.5 ? ([0, 1] as const) : ([1, 0] as const)) {
      const { status, tookMs } = await send(both[kind])
      if (status !== 200 && !refusals.includes(status)) throw new Error(`${name}: answered ${status}`)
      statuses.add(status)
      const measured = next ? (await send(next())).tookMs : tookMs
      if (attempt >= warmUpTries) times[kind].push(measured)
    }
  }
  if (statuses.size !== 1) throw new Error(`${name}: answered ${[...statuses].join(' and ')}`)
  const [one, other] = times
  const noise = noiseOf(count)
  console.log(
    `${name}: ${probabilityOfMore(one, other).toFixed(3)} (${count} tries of each kind; without any difference, ` +
      `${(0.5 - noise).toFixed(3)} to ${(0.5 + noise).toFixed(3)}); medians ${median(one).toFixed(3)} and ${median(other).toFixed(3)} ms`,
  )
}
