import { refuse } from './refusal.ts'

/**
 * What was made in one environment can be changed only there (`env`, `editable`). Refuses with `not_editable`
 * elsewhere.
 */
export function requireEditable(row: { env: string }, environment: string): void {
  if (row.env !== environment) refuse('not_editable')
}
