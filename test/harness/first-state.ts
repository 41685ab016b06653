import type { TransferState } from '@penstock/engine'

/** The state of a transfer that has not begun, as its host keeps it. */
export const firstState = (sides: Pick<TransferState, 'source' | 'destination'>) => {
  const state: { -readonly [Key in keyof TransferState]: TransferState[Key] } = {
    ...sides,
    replay: null,
    confirmed: false,
    testRows: null,
    range: null,
    reached: null,
    plan: null,
    announced: null,
    read: 0,
    checkpoint: null,
    pending: null,
    unconfirmed: null,
    columns: null,
    attempt: 1,
    startedTime: new Date().toISOString(),
    cursor: null,
    state: null,
    replaced: null,
    deliveryStates: [],
    drift: 'ignore',
    rules: null,
    purposes: null,
    outcomes: null,
    rejected: 0,
    shape: null,
    part: null,
    table: null,
    divides: null,
    rejectsLeft: 1_000_000,
    digests: null,
  }
  return state
}
