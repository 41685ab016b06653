import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineConnector, definePlatform, secret, text } from '@penstock/connector'
import type { SecretHost, SecretLease } from './protocol.ts'
import { SecretSaver, type SecretToSave } from './secret-saver.ts'
import { secretsOfSide } from './side-secrets.ts'

const connector = defineConnector({
  slug: 'acme-source',
  name: 'Acme',
  platform: definePlatform({ slug: 'acme', name: 'Acme', type: 'Data Provider' }),
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Stands for a connector whose refresh token rotates.',
  secrets: {
    refreshToken: secret({ label: 'Refresh token', description: 'Good for one use' }),
    account: text({ label: 'Account', description: 'Its number' }),
  },
  source: {},
})
const reference = { slug: connector.slug, key: 'refreshToken' }

/** In-memory supervisor of one secret. It records the calls. */
class OneSecret implements SecretHost {
  readonly asked: string[] = []
  value: string | undefined
  isBusy = false

  constructor(value: string | undefined = 'token-number-0') {
    this.value = value
  }

  async leaseSecret(): Promise<SecretLease> {
    this.asked.push('lease')
    await new Promise(setImmediate)
    if (this.value === undefined) return { state: 'missing' }
    return this.isBusy ? { state: 'busy' } : { state: 'leased', leaseId: 'lease-1', value: this.value }
  }

  async replaceSecret({ leaseId, value }: { leaseId: string; value: string }): Promise<string | null> {
    this.asked.push(`replace ${leaseId}`)
    if (this.value !== undefined) this.value = value
    return this.value ?? null
  }

  async releaseSecret(leaseId: string): Promise<void> {
    this.asked.push(`release ${leaseId}`)
  }
}

const secretWith = (more: Partial<SecretToSave> = {}): SecretToSave => ({
  connector,
  reference,
  signal: new AbortController().signal,
  note: () => {},
  ...more,
})

describe('a secret that is replaced', () => {
  test('is the one that is saved now, and is kept out of reports from then on', async () => {
    const host = new OneSecret('token-number-1')
    const { redact, note } = secretsOfSide(connector, { refreshToken: 'token-number-0' })
    const noted: string[] = []
    const secret = secretWith({
      note: (value) => {
        noted.push(value)
        note(value)
      },
    })
    const renewed = await new SecretSaver(host).save(secret, async (current) => `${current}-and-more`)
    assert.equal(renewed, 'token-number-1-and-more')
    assert.equal(host.value, renewed)
    assert.deepEqual(host.asked, ['lease', 'replace lease-1'])
    assert.deepEqual([...new Set(noted)], ['token-number-1', renewed])
    assert.equal(redact('who sent another-secret?'), 'who sent another-secret?')
    note('another-secret')
    assert.equal(redact('who sent another-secret?'), 'who sent [redacted]?')
  })

  test('stays where its renewal fails, gives the same or what cannot be saved', async () => {
    const cases: [() => Promise<string>, RegExp | undefined][] = [
      [() => Promise.reject(new Error('the platform refused')), /the platform refused/],
      [async () => 'token-number-0', undefined],
      [async () => '', /new value of Refresh token cannot be saved/],
      [async () => 'x'.repeat(65_537), /cannot be saved/],
      [async () => undefined as unknown as string, /cannot be saved/],
    ]
    for (const [renew, message] of cases) {
      const host = new OneSecret()
      const saving = new SecretSaver(host).save(secretWith(), renew)
      if (message) await assert.rejects(saving, message)
      else assert.equal(await saving, 'token-number-0')
      assert.deepEqual([host.value, host.asked], ['token-number-0', ['lease', 'release lease-1']])
    }
  })

  test('must be saved, and a secret of the connector', async () => {
    const missing = new OneSecret()
    missing.value = undefined
    const renew = async () => 'next'
    await assert.rejects(new SecretSaver(missing).save(secretWith(), renew), {
      code: 'invalid_credentials',
      message: 'Refresh token is not saved in the connector; save it.',
    })
    const host = new OneSecret()
    for (const key of ['account', 'password', 'constructor', '__proto__']) {
      const saving = new SecretSaver(host).save(secretWith({ reference: { ...reference, key } }), renew)
      await assert.rejects(saving, /a secret that it does not have/)
    }
    assert.deepEqual(host.asked, [])
  })

  test('that is removed meanwhile is said to be', async () => {
    const host = new OneSecret()
    const renew = async () => {
      host.value = undefined
      return 'next'
    }
    await assert.rejects(new SecretSaver(host).save(secretWith(), renew), /was removed from the connector/)
  })

  test('has a bounded time', async () => {
    const host = new OneSecret()
    const bounds = { renewMs: 1, busyMs: 0 }
    const never = new Promise<string>(() => {})
    await assert.rejects(
      new SecretSaver(host, bounds).save(secretWith(), () => never),
      { code: 'timeout' },
    )
    host.isBusy = true
    await assert.rejects(
      new SecretSaver(host, bounds).save(secretWith(), () => never),
      { code: 'conflict' },
    )
  })
})

describe('the end of a job', () => {
  test('waits for what is being replaced, and nothing is replaced afterwards', async () => {
    const host = new OneSecret()
    const saver = new SecretSaver(host)
    const answer = Promise.withResolvers<string>()
    const asked = Promise.withResolvers<void>()
    const first = saver.save(secretWith(), () => {
      asked.resolve()
      return answer.promise
    })
    await asked.promise
    // This call has requested the lease, and gets it too late.
    const second = saver.save(secretWith(), async () => assert.fail('the job has ended'))
    const refused = assert.rejects(second, /The job has ended/)
    const closing = saver.close()
    answer.resolve('next')
    await closing
    assert.equal(await first, 'next')
    await refused
    assert.equal(host.value, 'next')
    assert.deepEqual(host.asked.at(-1), 'release lease-1')
    await assert.rejects(
      saver.save(secretWith(), async () => 'another'),
      /The job has ended/,
    )
  })

  test('ends the wait for another job', async () => {
    const host = new OneSecret()
    host.isBusy = true
    const ending = new AbortController()
    const waiting = new SecretSaver(host).save(secretWith({ signal: ending.signal }), async () => 'next')
    ending.abort(new Error('cancelled'))
    await assert.rejects(waiting, /cancelled/)
  })
})
