import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Decision,
  decide,
  type ErrorAction,
  type ErrorState,
  type Interruption,
  type TransferErrorCode,
  transferErrors,
} from '@penstock/wire'

/** Effect of an error on a transfer and its connection, for every state. The expected results are literal. */

const expectedActions: Record<ErrorAction, string> = {
  retry:
    'rate_limited platform_error platform_unavailable connection_lost timeout statement_timeout conflict malformed_response result_expired writers_running secret_manager_unavailable connector_failed',
  reconnect: 'unreachable host_not_found wrong_protocol',
  split: 'invalid_batch batch_too_large',
  reauthenticate: 'invalid_credentials expired_credentials',
  reconfigure:
    'permission_denied invalid_setting invalid_address address_not_allowed insecure_address path_not_allowed certificate_not_trusted host_key_not_trusted not_supported object_not_found bucket_not_found table_not_found column_not_found key_not_unique columns_do_not_fit invalid_query terms_not_accepted account_restricted too_many_files changes_lost secret_not_found secret_not_allowed',
  fail: 'source_changed upload_lost object_archived invalid_file file_too_large row_too_large too_many_columns response_too_large statement_failed invalid_key request_refused unexpected_response everything_refused version_retired clock_skewed disk_full confirmation_needed columns_changed new_table table_paused tables_failed rule_broken settings_changed nothing_to_replay nothing_accepted run_time_exceeded digests_full restored stored_value_unreadable internal',
  restart: 'out_of_memory no_progress runner_crashed',
  reassign: 'connector_missing',
  stop: 'account_deleted account_disabled connection_not_active',
}

/** As a text: `end failed breakdown`, `resend 7`. */
const shown = (decision: Decision): string => Object.values(decision).map(String).join(' ')

/** With another try left and without, each by the batch and by whether the destination has rows. */
type Expected = Readonly<
  Record<'again' | 'last', Readonly<Record<ErrorState['batch'], readonly [string, held: string]>>>
>

const always = (decision: string): Expected => {
  const both = [decision, decision] as const
  const each = { rows: both, row: both, none: both }
  return { again: each, last: each }
}
const waiting = {
  rows: ['resend 7', 'reopen 7'],
  row: ['resend 7', 'reopen 7'],
  none: ['reopen 7', 'reopen 7'],
} as const
const failed = 'end failed null'
const split = { rows: ['split', 'split'], row: ['reject', 'reject'], none: [failed, failed] } as const

const expected: Record<ErrorAction, Expected> = {
  retry: { again: waiting, last: always(failed).last },
  reconnect: { again: waiting, last: always('end failed outage').last },
  split: { again: split, last: split },
  reauthenticate: always('end failed breakdown'),
  reconfigure: always('end failed breakdown'),
  fail: always(failed),
  restart: { again: always('requeue').again, last: always('end failed breakdown').last },
  reassign: { again: always('requeue').again, last: always('end failed outage').last },
  stop: always('end cancelled null'),
}

const expectedInterruptions: Record<Interruption, string> = {
  lost: 'leave',
  released: 'requeue',
  database_away: 'leave',
  cancelled: 'end cancelled null',
}

const states = (['again', 'last'] as const).flatMap((tries) =>
  (['rows', 'row', 'none'] as const).flatMap((batch) =>
    [false, true].map((holds) => ({
      tries,
      holds,
      state: { batch, holds, retryAfterMs: tries === 'again' ? 7 : null } satisfies ErrorState,
    })),
  ),
)

for (const [action, codes] of Object.entries(expectedActions) as [ErrorAction, string][]) {
  test(`errors to ${action}, in every state`, () => {
    for (const code of codes.split(' ') as TransferErrorCode[]) {
      for (const { state, tries, holds } of states) {
        const wanted = expected[action][tries][state.batch][holds ? 1 : 0]
        assert.equal(shown(decide({ code }, state)), wanted, `${code}: ${JSON.stringify(state)}`)
      }
    }
  })
}

test('every code has been asked about, once', () => {
  assert.deepEqual(
    Object.values(expectedActions)
      .flatMap((codes) => codes.split(' '))
      .sort(),
    Object.keys(transferErrors).sort(),
  )
})

test('interruptions do the same in every state', () => {
  for (const [interruption, wanted] of Object.entries(expectedInterruptions) as [Interruption, string][]) {
    for (const { state } of states) assert.equal(shown(decide({ interruption }, state)), wanted)
  }
})
