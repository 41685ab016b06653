import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AlertConditions, type AlertReason, alertReasons } from '@penstock/wire'
import { judge } from './judge.ts'
import { type Facts, numbersOf } from './reasons.ts'

/** An active connection whose last transfer succeeded, under a rule that looks for everything. */
const fine = {
  covers: true,
  transferFailed: true,
  connectionBroken: true,
  rejectedPercent: 5,
  noSuccessHours: 24,
  volumePercent: 50,
  logKeptGb: 10,
  behindMinutes: 15,
  audienceBelow: 1_000,
  matchFellPercent: 20,
  status: 'active',
  live: true,
  transferStatus: 'succeeded',
  transferTime: new Date(1_000),
  errorCode: null,
  successTime: new Date(1_000),
  accepted: 100,
  rejected: 0,
  idleHours: 1,
  volumes: null,
  logKeptBytes: null,
  logAtRisk: false,
  behindSeconds: null,
  smallestAudience: null,
  matchRate: null,
  matchRateBefore: null,
  open: null as Parameters<typeof judge>[2],
} satisfies Facts & AlertConditions & { [key: string]: unknown }
const failed = { transferStatus: 'failed', transferTime: new Date(2_000) } as const
const open = (...reasons: AlertReason[]) => ({ open: { reasons, openedTime: new Date(2_000) } })
const recovered = { successTime: new Date(3_000), transferTime: new Date(3_000) }

const judged = (changed: object) => {
  const all = { ...fine, ...changed }
  return judge(all, all.covers ? all : null, all.open)
}

describe('an incident is opened', () => {
  for (const [what, facts, reasons] of [
    ['not where all is well', {}, []],
    ['where a transfer failed', failed, ['transfer_failed']],
    ['not where the rule does not look for that', { ...failed, transferFailed: false }, []],
    [
      'once for a transfer that failed and broke the connection',
      { ...failed, status: 'broken' },
      ['connection_broken', 'transfer_failed'],
    ],
    ['where it is offline', { status: 'offline' }, ['connection_offline']],
    ['where more was rejected than allowed', { accepted: 94, rejected: 6 }, ['transfer_partial']],
    ['not where as much was rejected as is allowed', { accepted: 95, rejected: 5 }, []],
    [
      'for any rejected record, if the share is 0',
      { rejectedPercent: 0, accepted: 999_999, rejected: 1 },
      ['transfer_partial'],
    ],
    ['where columns changed', { ...failed, errorCode: 'columns_changed' }, ['columns_changed']],
    ['where nothing succeeded for long', { idleHours: 24.01 }, ['no_success']],
    ['not before', { idleHours: 24 }, []],
    ['where the volume is unusual', { volumes: [0, 9_000, 9_000, 9_000, 9_000] }, ['volume_unusual']],
    ['if a server keeps much of its log', { logKeptBytes: 10 * 1024 ** 3 }, ['log_kept']],
    ['not if it keeps less', { logKeptBytes: 10 * 1024 ** 3 - 1 }, []],
    ['if an event of a stream waits', { behindSeconds: 900 }, ['behind_stream']],
    ['not before that', { behindSeconds: 899 }, []],
    ['if an audience is small', { smallestAudience: 999 }, ['audience_small']],
    ['not if it is as large as it should be', { smallestAudience: 1_000 }, []],
    ['if the match rate fell', { matchRate: 0.48, matchRateBefore: 0.6 }, ['match_fell']],
    ['not if it fell less', { matchRate: 0.481, matchRateBefore: 0.6 }, []],
    ['if it will not have the changes', { logAtRisk: true }, ['log_kept']],
    [
      'if it keeps much for a disabled connection, and for nothing else of it',
      { ...failed, status: 'disabled', live: false, logKeptBytes: 20 * 1024 ** 3 },
      ['log_kept'],
    ],
    ['not if it is deleted', { status: 'deleted', live: false, logKeptBytes: 20 * 1024 ** 3 }, []],
    ['not where the connection or its sub-account is off', { ...failed, status: 'disabled', live: false }, []],
    ['not where the rule does not cover it', { ...failed, covers: false }, []],
  ] as const) {
    test(what, () => {
      const verdict = judged(facts)
      assert.deepEqual(verdict, reasons.length === 0 ? { do: 'nothing' } : { do: 'open', reasons })
    })
  }
})

describe('an open incident', () => {
  for (const [what, facts, verdict] of [
    ['stays while its cause does', { ...failed, ...open('transfer_failed') }, { do: 'nothing' }],
    [
      'has further reasons, and stays one',
      { ...failed, status: 'broken', ...open('transfer_failed') },
      { do: 'extend', reasons: ['connection_broken', 'transfer_failed'] },
    ],
    [
      'is over once a transfer succeeded',
      { ...recovered, ...open('transfer_failed') },
      { do: 'resolve', resolution: 'recovered' },
    ],
    [
      'stays where the connection is activated and nothing has moved yet',
      { ...open('connection_broken') },
      { do: 'nothing' },
    ],
    [
      'stays where an offline connection answers and nothing has moved yet',
      { ...open('connection_offline') },
      { do: 'nothing' },
    ],
    [
      'is over where less is rejected again',
      { ...open('transfer_partial') },
      { do: 'resolve', resolution: 'recovered' },
    ],
    [
      'is over where the volume is usual again',
      { ...open('volume_unusual') },
      { do: 'resolve', resolution: 'recovered' },
    ],
    [
      'is over where a transfer succeeded in time',
      { ...open('no_success') },
      { do: 'resolve', resolution: 'recovered' },
    ],
    [
      'is over where the connection is disabled',
      { live: false, status: 'disabled', ...open('transfer_failed') },
      { do: 'resolve', resolution: 'stopped' },
    ],
    [
      'is over where the rule is off',
      { ...failed, covers: false, ...open('transfer_failed') },
      { do: 'resolve', resolution: 'rule_changed' },
    ],
    [
      'is over where the rule does not look for its reason any more',
      { ...failed, transferFailed: false, ...open('transfer_failed') },
      { do: 'resolve', resolution: 'rule_changed' },
    ],
  ] as const) {
    test(what, () => assert.deepEqual(judged(facts), verdict))
  }
})

test('each condition with a bound says its numbers', () => {
  const facts = {
    ...fine,
    accepted: 1_994,
    rejected: 6,
    idleHours: 25.5,
    volumes: [0, 9_000, 8_500],
    logKeptBytes: 12.25 * 1024 ** 3,
    behindSeconds: 960,
    smallestAudience: 999,
    matchRate: 0.42,
    matchRateBefore: 0.6,
  }
  assert.deepEqual(numbersOf(facts, fine, alertReasons), [
    '6 of 2,000 records were rejected. The rule allows 5%.',
    'No transfer has succeeded for 25 hours. The rule allows 24.',
    'The last day has 0 records. The same weekday of earlier weeks: 9,000, 8,500.',
    'The server keeps 12.3 GiB. The rule allows 10 GiB.',
    'An event has waited for 16 minutes. The rule allows 15.',
    'The smallest audience has 999 people. The rule expects 1,000.',
    'The platform matched 42% of the people, 30% less than the average of 60% in the 7 days before.',
  ])
  assert.deepEqual(numbersOf({ ...facts, logAtRisk: true }, fine, ['log_kept']), [
    'The server has removed or will soon remove changes that were not read.',
  ])
})
