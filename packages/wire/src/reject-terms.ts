/** Words about rejected records. */

/** Which rejected records a replay sends. */
export const replayRows = ['all', 'ready', 'corrected'] as const
export type ReplayRows = (typeof replayRows)[number]

/** States of a rejected record, from its rejection to its delivery. */
export const rejectStates = [
  'waiting',
  'needs_correction',
  'corrected',
  'sending',
  'accepted',
  'rejected_again',
  'left_out',
  'expired',
] as const
export type RejectState = (typeof rejectStates)[number]
