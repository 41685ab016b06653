/** Reaction to an error, in the words of `docs/errors.md`. */
export const errorActions = {
  retry:
    'The transfer waits and retries as long as the retry policy allows, and then fails. The connection does not change.',
  reconnect:
    'Retried like `retry`. If the error persists, the transfer fails and the connection goes offline until both sides answer again.',
  split:
    'The batch is halved until single rows are left. A row that is refused as the only row of a batch is rejected; all other rows are delivered.',
  reauthenticate: 'The transfer fails, and the connection is broken until you save valid credentials and activate it.',
  reconfigure:
    'The transfer fails, and the connection is broken until you fix a setting or the platform, and activate it.',
  restart:
    'Another runner continues the transfer. If the error persists, the transfer fails and the connection is broken.',
  reassign:
    'Another worker continues the transfer, a few times. If the error persists, the transfer fails and the connection goes offline until both sides answer again.',
  fail: 'The transfer fails. The connection does not change, and the next transfer can succeed.',
  stop: 'The transfer is cancelled because its connection or sub-account was changed. The connection does not change.',
} as const
export type ErrorAction = keyof typeof errorActions

/** An entry of the table of `transfer-errors.ts`. */
export type TransferErrorDefinition = {
  readonly action: ErrorAction
  /** When it occurs (for the documents), and how a person fixes it. The message of the error contains the details. */
  readonly when: string
  readonly todo: string
}
