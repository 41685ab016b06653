import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ConnectionStatus, connectionStatuses } from '@penstock/wire'
import { standing as words } from '../strings/standing.ts'
import {
  configurationStandingOf,
  evidenceByConfiguration,
  evidenceOf,
  isSilent,
  lastResultOf,
  nextRunOf,
  pipeOf,
  standingOf,
  standings,
  type Told,
} from './standing.ts'

const error = (code: string, side: 'source' | 'destination' = 'source') => ({
  code,
  message: '',
  side,
  connectorId: null,
})
const told = {
  none: undefined,
  queued: { status: 'queued', error: null },
  running: { status: 'running', error: null },
  'queued again': { status: 'queued', error: error('unreachable') },
  'running again': { status: 'running', error: error('unreachable') },
  succeeded: { status: 'succeeded', error: null },
  partial: { status: 'partial', error: null },
  cancelled: { status: 'cancelled', error: null },
  failed: { status: 'failed', error: error('table_not_found') },
  refused: { status: 'failed', error: error('expired_credentials') },
  changed: { status: 'failed', error: error('columns_changed') },
  unconfirmed: { status: 'failed', error: error('confirmation_needed') },
} satisfies Record<string, Told | undefined>
const schedule = { enabled: true, paused: false, nextTime: 1_800_000_000 }

/** Each line: the newest transfer, then how the connection is doing, its last result, its next run and its pipe. */
const table: Readonly<Record<ConnectionStatus, string>> = {
  active: `
    none          | Active  | No transfers yet | scheduled              | open
    queued        | Active  | Queued           | Running                | open
    running       | Active  | Running          | Running                | flows
    queued again  | Failing | Retrying         | Retries automatically      | waits
    running again | Failing | Retrying         | Retries automatically      | waits
    succeeded     | Active  | Succeeded        | scheduled              | open
    partial       | Active  | Partial          | scheduled              | open
    cancelled     | Active  | Cancelled        | scheduled              | open
    failed        | Failing | Failed           | scheduled              | closed
    refused       | Failing | Failed           | scheduled              | closed
    changed       | Failing | Failed           | After your decision    | closed
    unconfirmed   | Failing | Failed           | After your decision    | closed`,
  'In-progress': `
    none          | Draft | No transfers yet | After you activate it | dashed
    queued        | Draft | Queued           | Running               | dashed
    running       | Draft | Running          | Running               | dashed
    queued again  | Draft | Retrying         | Retries automatically     | dashed
    running again | Draft | Retrying         | Retries automatically     | dashed
    succeeded     | Draft | Succeeded        | After you activate it | dashed
    partial       | Draft | Partial          | After you activate it | dashed
    cancelled     | Draft | Cancelled        | After you activate it | dashed
    failed        | Draft | Failed           | After you activate it | dashed
    refused       | Draft | Failed           | After you activate it | dashed
    changed       | Draft | Failed           | After you activate it | dashed
    unconfirmed   | Draft | Failed           | After you activate it | dashed`,
  broken: `
    none          | Broken | No transfers yet | After the cause is fixed | closed
    queued        | Broken | Queued           | Running                  | closed
    running       | Broken | Running          | Running                  | closed
    queued again  | Broken | Retrying         | Retries automatically        | closed
    running again | Broken | Retrying         | Retries automatically        | closed
    succeeded     | Broken | Succeeded        | After the cause is fixed | closed
    partial       | Broken | Partial          | After the cause is fixed | closed
    cancelled     | Broken | Cancelled        | After the cause is fixed | closed
    failed        | Broken | Failed           | After the cause is fixed | closed
    refused       | Broken | Failed           | After new credentials    | closed
    changed       | Broken | Failed           | After the cause is fixed | closed
    unconfirmed   | Broken | Failed           | After the cause is fixed | closed`,
  offline: `
    none          | Offline | No transfers yet | When the platform answers | closed
    queued        | Offline | Queued           | Running                   | closed
    running       | Offline | Running          | Running                   | closed
    queued again  | Offline | Retrying         | Retries automatically         | closed
    running again | Offline | Retrying         | Retries automatically         | closed
    succeeded     | Offline | Succeeded        | When the platform answers | closed
    partial       | Offline | Partial          | When the platform answers | closed
    cancelled     | Offline | Cancelled        | When the platform answers | closed
    failed        | Offline | Failed           | When the platform answers | closed
    refused       | Offline | Failed           | When the platform answers | closed
    changed       | Offline | Failed           | When the platform answers | closed
    unconfirmed   | Offline | Failed           | When the platform answers | closed`,
  disabled: `
    none          | Disabled | No transfers yet | After you enable it | closed
    queued        | Disabled | Queued           | Running             | closed
    running       | Disabled | Running          | Running             | closed
    queued again  | Disabled | Retrying         | Retries automatically   | closed
    running again | Disabled | Retrying         | Retries automatically   | closed
    succeeded     | Disabled | Succeeded        | After you enable it | closed
    partial       | Disabled | Partial          | After you enable it | closed
    cancelled     | Disabled | Cancelled        | After you enable it | closed
    failed        | Disabled | Failed           | After you enable it | closed
    refused       | Disabled | Failed           | After you enable it | closed
    changed       | Disabled | Failed           | After you enable it | closed
    unconfirmed   | Disabled | Failed           | After you enable it | closed`,
  deleted: `
    none          | Deleted | No transfers yet | Never | dashed
    queued        | Deleted | Queued           | Never | dashed
    running       | Deleted | Running          | Never | dashed
    queued again  | Deleted | Retrying         | Never | dashed
    running again | Deleted | Retrying         | Never | dashed
    succeeded     | Deleted | Succeeded        | Never | dashed
    partial       | Deleted | Partial          | Never | dashed
    cancelled     | Deleted | Cancelled        | Never | dashed
    failed        | Deleted | Failed           | Never | dashed
    refused       | Deleted | Failed           | Never | dashed
    changed       | Deleted | Failed           | Never | dashed
    unconfirmed   | Deleted | Failed           | Never | dashed`,
}

describe('how a connection is doing', () => {
  for (const status of connectionStatuses) {
    test(`has the same words for the status ${status}, whatever its newest transfer did`, () => {
      const lines = table[status].trim().split('\n')
      const expected = lines.map((line) => line.split('|').map((cell) => cell.trim()))
      const found = Object.entries(told).map(([name, transfer]: [string, Told | undefined]) => {
        const next = nextRunOf(status, transfer, schedule)
        return [
          name,
          words.connection[standingOf(status, transfer)],
          words.result[lastResultOf(transfer)],
          next.kind === 'scheduled' ? next.kind : words.run[next.kind],
          pipeOf(status, transfer),
        ]
      })
      assert.deepEqual(found, expected)
    })
  }

  test('has a word and a sentence for each standing', () => {
    assert.deepEqual([...standings].sort(), Object.keys(words.connection).sort())
    assert.deepEqual(Object.keys(words.help).sort(), Object.keys(words.connection).sort())
  })

  test('runs next by its schedule, if that starts transfers', () => {
    assert.deepEqual(nextRunOf('active', null, schedule), { kind: 'scheduled', seconds: 1_800_000_000 })
    const stopped = [{ enabled: false }, { paused: true }, { nextTime: null }]
    for (const change of stopped) {
      assert.deepEqual(nextRunOf('active', told.partial, { ...schedule, ...change }), { kind: 'paused' })
    }
    for (const none of [null, undefined]) assert.deepEqual(nextRunOf('active', told.failed, none), { kind: 'manual' })
  })
})

describe('how a configuration is doing', () => {
  const [ok, bad] = [true, false].map((ok) => (time: number) => ({ ok, time }))
  const of = (...evidence: (ReturnType<NonNullable<typeof ok>> | undefined)[]) =>
    words.configuration[configurationStandingOf(true, 100, evidence).standing]

  test('is decided by the newest evidence since it was saved', () => {
    assert(ok && bad)
    assert.equal(of(), 'Not checked')
    assert.equal(of(undefined, ok(99), bad(99)), 'Not checked')
    assert.equal(of(ok(100)), 'Works')
    assert.equal(of(bad(100), ok(99)), 'Check failed')
    assert.equal(of(ok(200), bad(300)), 'Check failed')
    assert.equal(of(bad(300), ok(400), undefined), 'Works')
    assert.equal(words.configuration[configurationStandingOf(true, undefined, [bad(1)]).standing], 'Check failed')
  })

  test('is missing until it is configured, whatever was checked before', () => {
    assert(ok)
    assert.equal(words.configuration[configurationStandingOf(false, 100, [ok(200)]).standing], 'Not configured')
  })

  test('works after a transfer that moved rows, and fails after one that blames it', () => {
    const at = { finishedTime: 200 }
    for (const side of ['source', 'destination'] as const) {
      assert.deepEqual(evidenceOf({ ...told.succeeded, ...at }, side), { ok: true, time: 200 })
      assert.deepEqual(evidenceOf({ ...told.partial, ...at }, side), { ok: true, time: 200 })
      for (const nothing of [told.running, told.cancelled, told.failed, told.changed, told['running again']]) {
        assert.equal(evidenceOf({ ...nothing, ...at }, side), undefined)
      }
    }
    assert.deepEqual(evidenceOf({ ...told.refused, ...at }, 'source'), { ok: false, time: 200, why: '' })
    assert.equal(evidenceOf({ ...told.refused, ...at }, 'destination'), undefined)
    assert.equal(evidenceOf({ ...told.succeeded, finishedTime: null }, 'source'), undefined)
    assert.equal(evidenceOf(undefined, 'source'), undefined)
  })

  test('is told apart by side: a failure of one side leaves what is known of the other side', () => {
    const shop = { id: 'shop', source: 'warehouse', destination: 'mariadb' }
    const ads = { id: 'ads', source: 'warehouse', destination: undefined }
    const at = (connectionId: string, finishedTime: number) => ({ connectionId, finishedTime })
    const refused = { ...told.refused, ...at('shop', 300) }
    const worked = { ...told.partial, ...at('shop', 200) }
    const before = { ...told.succeeded, ...at('ads', 100) }
    const found = evidenceByConfiguration([shop, ads], [refused, worked, before])
    assert.deepEqual(Object.fromEntries(found), {
      warehouse: { ok: false, time: 300, why: '' },
      mariadb: { ok: true, time: 200 },
    })
    // A check of the destination that failed before the transfer worked does not come back.
    assert.equal(configurationStandingOf(true, 0, [{ ok: false, time: 150 }, found.get('mariadb')]).standing, 'works')
    assert.deepEqual([refused, worked].map(isSilent), [true, false])
  })
})
