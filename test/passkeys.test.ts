import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import type { BodyOf } from '@penstock/wire'
import { newChallenge } from '../packages/server/src/users/challenges.ts'
import { purge } from '../packages/server/src/worker/purge.ts'
import {
  addPasskey,
  answerWith,
  type Credential,
  createCredential,
  type Deviation,
  preparePasskey,
  preparePasskeySignIn,
} from './harness/authenticator.ts'
import { startTests } from './harness/started.ts'
import { addPerson, cookieOf, type Person, signInAgain } from './harness/users.ts'

/** Passkeys: a person registers them in a session, and signs in with one without an e-mail address. */

const service = await startTests()
const organization = await service.addOrganization()

const sql = async (text: string, values: unknown[] = []) => (await service.database.pool.query(text, values)).rows
const register = ({ headers }: Person, body: BodyOf<'registerPasskey'>) =>
  service.call('registerPasskey', { headers: { ...headers }, body })
/** Failures are counted for an address: each test has its own. */
let addresses = 0
const newAddress = () => `2001:db8:${(++addresses).toString(16)}::1`
const signIn = (body: BodyOf<'signInWithPasskey'>) => service.call('signInWithPasskey', { body })
const start = async (person: Person) =>
  (await service.call('startPasskeyRegistration', { headers: { ...person.headers } })).response
/** A challenge that the service made, to be answered for so long. */
const challengeFor = (purpose: string[], minutes: number) =>
  newChallenge(service.database, service.service.deps.keyring, purpose, minutes)

describe('a passkey', () => {
  test('signs its person in, without an e-mail address', async () => {
    const person = await addPerson(service, organization, { role: 'editor' })
    const { id, credential } = await addPasskey(service, person)
    const reply = await signIn(await preparePasskeySignIn(service, credential))
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual([reply.response.id, reply.response.method, reply.response.role], [person.id, 'passkey', 'editor'])
    const me = await service.call('getMe', { headers: { cookie: cookieOf(reply) } })
    assert.deepEqual(me.response, reply.response)
    const { response } = await service.call('listMyPasskeys', { headers: { ...person.headers } })
    assert.deepEqual(
      response.map((one) => [one.id, one.name, one.backedUp, one.lastUsedTime !== null]),
      [[id, 'Laptop', false, true]],
    )
    const sessions = await service.call('listMySessions', { headers: { ...person.headers } })
    assert.deepEqual(sessions.response.map(({ method }) => method).sort(), ['passkey', 'password'])
  })

  test('is registered for this service, discoverable, with its user verified, and once in an authenticator', async () => {
    const person = await addPerson(service, organization)
    const { credential } = await addPasskey(service, person)
    const options = await start(person)
    assert.deepEqual(options.rp, { id: 'penstock.test', name: 'Penstock' })
    assert.deepEqual(options.authenticatorSelection, {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    })
    assert.equal(Buffer.from(options.user.id, 'base64url').toString(), person.id)
    assert.deepEqual(
      options.excludeCredentials.map(({ id }) => id),
      [credential.id],
    )
    const again = createCredential(options, {}, Buffer.from(credential.id, 'base64url'))
    const reply = await register(person, { name: 'Again', response: again.response })
    assert.deepEqual([reply.status, reply.error], [400, 'passkey_invalid'])
  })

  test('is reported nothing about people before it answers', async () => {
    const [one, other] = [await service.call('startPasskeySignIn'), await service.call('startPasskeySignIn')]
    assert.deepEqual({ ...one.response, challenge: '' }, { ...other.response, challenge: '' })
    assert.deepEqual(Object.keys(one.response).sort(), ['challenge', 'rpId', 'timeout', 'userVerification'])
    assert.notEqual(one.response.challenge, other.response.challenge)
  })

  test('is stored without anything that signs in, and its sign-in leaves nothing in the log', async () => {
    const { headers, ...person } = await addPerson(service, organization)
    const { credential } = await addPasskey(service, { headers })
    const body = await preparePasskeySignIn(service, credential)
    assert.equal((await signIn(body)).status, 200)
    const stored = JSON.stringify(
      await sql('select t::text from passkeys t union all select t::text from used_challenges t'),
    )
    const { d = '' } = credential.key.export({ format: 'jwk' })
    const { signature, clientDataJSON } = body.response.response
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString())
    for (const secret of [d, Buffer.from(d, 'base64url').toString('hex'), challenge]) assert(!stored.includes(secret))
    const log = service.logLines.join('\n')
    for (const secret of [signature, challenge, person.password]) assert(!log.includes(secret))
  })

  test('is removed by its person alone, and signs in no more', async () => {
    const person = await addPerson(service, organization)
    const other = await addPerson(service, organization)
    const { id, credential } = await addPasskey(service, person)
    const remove = ({ headers }: Person) => service.call('removePasskey', { headers: { ...headers }, id })
    assert.equal((await remove(other)).status, 404)
    assert.equal((await signIn(await preparePasskeySignIn(service, credential))).status, 200)
    assert.equal((await remove(person)).status, 200)
    assert.equal((await remove(person)).status, 404)
    assert.equal((await signIn(await preparePasskeySignIn(service, credential))).error, 'sign_in_failed')
  })

  test('stays where it is the only way to sign in', async () => {
    const person = await addPerson(service, organization)
    const [first, second] = [await addPasskey(service, person), await addPasskey(service, person)]
    await sql('update users set password_digest = null where id = $1', [person.id])
    const remove = (id: string) => service.call('removePasskey', { headers: { ...person.headers }, id })
    // Of two concurrent removals, one passkey stays.
    const replies = await Promise.all([remove(first.id), remove(second.id)])
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409])
    assert.equal(replies.find(({ status }) => status === 409)?.error, 'last_credential')
    const left = await service.call('listMyPasskeys', { headers: { ...person.headers } })
    assert.equal(left.response.length, 1)
  })

  test('goes with its person, and is of no use to who is invited', async () => {
    const person = await addPerson(service, organization)
    const { credential } = await addPasskey(service, person)
    await sql('update users set joined_time = null where id = $1', [person.id])
    assert.equal((await signIn(await preparePasskeySignIn(service, credential))).status, 401)
    await service.call('removeUser', { token: organization.token, id: person.id })
    assert.deepEqual(await sql('select id from passkeys where user_id = $1', [person.id]), [])
    assert.equal((await signIn(await preparePasskeySignIn(service, credential))).status, 401)
  })

  test('is one of 50 at most', async () => {
    const person = await addPerson(service, organization)
    await sql(
      `insert into passkeys (id, user_id, credential_id, public_key, counter, transports, name, backed_up)
       select lpad(to_hex(i), 16, 'f'), $1, decode(md5(i::text), 'hex'), '', 0, '{}', 'One', false
       from generate_series(1, 50) i`,
      [person.id],
    )
    const { body } = await preparePasskey(service, person)
    assert.equal((await register(person, body)).error, 'quota_exceeded')
  })
})

describe('a registration is refused', () => {
  const refusedOnes: Record<string, Deviation> = {
    'from another origin': { origin: 'https://penstock.example' },
    'from another port': { origin: 'http://penstock.test:8080' },
    'for another host': { rpId: 'example.com' },
    'that is a sign-in': { type: 'webauthn.get' },
    'without verification of the user': { verified: false },
    'with another challenge': { challenge: Buffer.alloc(60, 7).toString('base64url') },
    'with a challenge that is not one': { challenge: 'x' },
    'with certificates, which name addresses to fetch from': {
      attestation: { fmt: 'packed', attStmt: new Map([['x5c', Buffer.from('certificate')]]) },
    },
    'with a statement about a module': { attestation: { fmt: 'tpm', attStmt: new Map() } },
    'with a format that is not known': { attestation: { fmt: 'unknown', attStmt: new Map() } },
  }
  for (const [what, deviation] of Object.entries(refusedOnes)) {
    test(what, async () => {
      const person = await addPerson(service, organization)
      const { body } = await preparePasskey(service, person, deviation)
      const { status, error } = await register(person, body)
      assert.deepEqual([status, error], [400, 'passkey_invalid'])
      assert.deepEqual(await sql('select id from passkeys where user_id = $1', [person.id]), [])
    })
  }

  test('with a challenge of another session, of a sign-in, that was used, or has expired', async () => {
    const person = await addPerson(service, organization)
    const elsewhere = await signInAgain(service, person)
    const ofOther = await preparePasskey(service, elsewhere)
    assert.equal((await register(person, ofOther.body)).error, 'passkey_invalid')
    const options = await start(person)
    const { response } = await service.call('startPasskeySignIn')
    const ofSignIn = createCredential({ ...options, challenge: response.challenge })
    assert.equal((await register(person, { name: 'One', response: ofSignIn.response })).error, 'passkey_invalid')
    const [one, other] = [createCredential(options), createCredential(options)]
    const both = await Promise.all([one, other].map(({ response }) => register(person, { name: 'One', response })))
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 400])
    const [session] = await sql('select id from user_sessions where user_id = $1 order by created_time', [person.id])
    for (const [minutes, status] of [
      [-1, 400],
      [1, 201],
    ] as const) {
      const challenge = await challengeFor(['passkey registration', session?.id], minutes)
      const { response } = createCredential({ ...options, challenge })
      assert.equal((await register(person, { name: 'One', response })).status, status, `${minutes} minutes`)
    }
  })

  test('whatever it is made of', async () => {
    const person = await addPerson(service, organization)
    const { body } = await preparePasskey(service, person)
    const nested = Buffer.alloc(12_000, 0x81).toString('base64url')
    const good = body.response.response
    for (const response of [
      { ...good, attestationObject: nested },
      { ...good, attestationObject: 'AAAA' },
      { ...good, clientDataJSON: 'bnVsbA' },
      { ...good, clientDataJSON: nested },
      { ...good, attestationObject: good.attestationObject.slice(0, -40) },
    ]) {
      const reply = await register(person, { ...body, response: { ...body.response, response } })
      assert.deepEqual([reply.status, reply.error], [400, 'passkey_invalid'], JSON.stringify(response))
    }
    // Additional properties from browsers are ignored, and the challenge is still unused.
    const more = { ...body, response: { ...body.response, rawId: body.response.id, type: 'public-key', later: {} } }
    assert.equal((await register(person, more)).status, 201)
  })
})

describe('a sign-in is refused', () => {
  const { privateKey: otherKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const refusedOnes: Record<string, Deviation> = {
    'from another origin': { origin: 'https://penstock.example' },
    'for another host': { rpId: 'example.com' },
    'that is a registration': { type: 'webauthn.create' },
    'without verification of the user': { verified: false },
    'with another challenge': { challenge: Buffer.alloc(60, 7).toString('base64url') },
    'with another key': { key: otherKey },
    'with a handle that no one has': { userHandle: Buffer.from('0123456789abcdef').toString('base64url') },
    'with a handle that is not one': { userHandle: '____' },
  }
  const refuses = async (credential: Credential, body: BodyOf<'signInWithPasskey'>, what?: string) => {
    const { status, error, headers } = await service.service.app
      .inject({ method: 'POST', url: '/es/v2/sign-in/passkey', payload: body, remoteAddress: newAddress() })
      .then((reply) => ({ status: reply.statusCode, error: reply.json().response.error, headers: reply.headers }))
    assert.deepEqual([status, error, headers['set-cookie']], [401, 'sign_in_failed', undefined], what)
    return credential
  }
  for (const [what, deviation] of Object.entries(refusedOnes)) {
    test(what, async () => {
      const person = await addPerson(service, organization)
      const { credential } = await addPasskey(service, person)
      await refuses(credential, await preparePasskeySignIn(service, credential, deviation))
      assert.equal((await signIn(await preparePasskeySignIn(service, credential))).status, 200)
    })
  }

  test('with the credential of another person, in this organization or in another one', async () => {
    const elsewhere = await service.addOrganization()
    const person = await addPerson(service, organization)
    const other = await addPerson(service, elsewhere)
    const [mine, theirs] = [await addPasskey(service, person), await addPasskey(service, other)]
    const swapped = { ...mine.credential, userHandle: theirs.credential.userHandle }
    await refuses(mine.credential, await preparePasskeySignIn(service, swapped))
    // A person who registers the identifier of someone else's credential neither takes nor hides anything.
    const copied = createCredential(await start(other), {}, Buffer.from(mine.credential.id, 'base64url'))
    assert.equal((await register(other, { name: 'Copy', response: copied.response })).status, 201)
    const reply = await signIn(await preparePasskeySignIn(service, copied.credential))
    assert.equal(reply.response.organizationId, elsewhere.organizationId)
    assert.equal((await signIn(await preparePasskeySignIn(service, mine.credential))).response.id, person.id)
    const crossed = { ...copied.credential, userHandle: mine.credential.userHandle }
    await refuses(crossed, await preparePasskeySignIn(service, crossed))
  })

  test('a second time, with a challenge of a registration, and with one that has expired', async () => {
    const person = await addPerson(service, organization)
    const { credential } = await addPasskey(service, person)
    const body = await preparePasskeySignIn(service, credential)
    const both = await Promise.all([signIn(body), signIn(body)])
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401])
    await refuses(credential, body, 'replayed')
    const { challenge } = await start(person)
    await refuses(credential, answerWith(credential, { rpId: 'penstock.test', challenge }))
    const late = { rpId: 'penstock.test', challenge: await challengeFor(['passkey sign-in'], -1) }
    await refuses(credential, answerWith(credential, late), 'expired')
    const inTime = { rpId: 'penstock.test', challenge: await challengeFor(['passkey sign-in'], 1) }
    assert.equal((await signIn(answerWith(credential, inTime))).status, 200)
  })

  test('with a counter that did not go up: there is a copy of the authenticator', async () => {
    const person = await addPerson(service, organization)
    const { credential } = await addPasskey(service, person, { counter: 7 })
    assert.equal((await signIn(await preparePasskeySignIn(service, credential))).status, 200)
    for (const counter of [0, 7, 8]) {
      await refuses(credential, await preparePasskeySignIn(service, credential, { counter }), String(counter))
    }
    const bodies = await Promise.all([9, 9].map((counter) => preparePasskeySignIn(service, credential, { counter })))
    const replies = await Promise.all(bodies.map(signIn))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 401])
  })

  test('after ten failures from one address, and for that address alone', async () => {
    const person = await addPerson(service, organization)
    const { credential } = await addPasskey(service, person)
    const remoteAddress = newAddress()
    const from = async (payload: object, address: string) =>
      (
        await service.service.app.inject({
          method: 'POST',
          url: '/es/v2/sign-in/passkey',
          payload,
          remoteAddress: address,
        })
      ).statusCode
    const wrong = await preparePasskeySignIn(service, credential, { key: otherKey })
    const statuses: number[] = []
    for (let i = 0; i < 11; i++) statuses.push(await from(wrong, remoteAddress))
    assert.deepEqual(statuses, [...Array<number>(10).fill(401), 429])
    const right = await preparePasskeySignIn(service, credential)
    assert.equal(await from(right, remoteAddress), 429)
    assert.equal(await from(right, newAddress()), 200)
  })
})

test('challenges that were used are purged once they have expired', async () => {
  const person = await addPerson(service, organization)
  await addPasskey(service, person)
  const [before] = await sql('select count(*)::int as n from used_challenges')
  assert(before.n > 0)
  await purge(service.database, { rejectDays: 30, ledgerDays: 400, auditDays: 0 })
  assert.deepEqual(await sql('select count(*)::int as n from used_challenges'), [before])
  await sql(`update used_challenges set expires_time = now() - interval '1 second'`)
  assert.equal(
    (await purge(service.database, { rejectDays: 30, ledgerDays: 400, auditDays: 0 })).usedChallenges,
    before.n,
  )
})
