import type { Position } from './problems.ts'

/** What the files say, put together. */

export type Value = string | number | boolean | null | readonly string[]
export type Values = Readonly<Record<string, Value>>

/** Says where a part of an entry is, to name it in a problem. */
export type Locate = (...path: readonly (string | number)[]) => Position

export type DesiredConnector = {
  readonly slug: string
  readonly name?: string | undefined
  readonly secretName?: string | undefined
  /** As written: with references. */
  readonly settings: Values
  readonly secrets: Readonly<Record<string, string | null>>
  readonly at: Locate
}

export type DesiredSide = { readonly slug: string; readonly settings: Values }

export type DesiredSchedule = { readonly cron: string; readonly timezone: string; readonly enabled: boolean }

export type DesiredConnection = {
  readonly name: string
  readonly was: readonly string[]
  readonly id?: string | undefined
  readonly source: DesiredSide
  readonly destination: DesiredSide
  readonly mapping?: Readonly<Record<string, unknown>> | undefined
  readonly schedule?: DesiredSchedule | undefined
  readonly status?: 'active' | 'disabled' | undefined
  readonly at: Locate
}

export type DesiredAccount = {
  readonly name: string
  readonly was: readonly string[]
  readonly id?: string | undefined
  readonly enabled?: boolean | undefined
  readonly connectors: readonly DesiredConnector[]
  readonly connections: readonly DesiredConnection[]
  readonly at: Locate
}
