import type { ConnectorContext } from './context.ts'
import type { Json } from './rows.ts'

/**
 * The figures of a platform about an audience that a connection feeds. Numbers count people. `null` means that the platform does
 * not report the number, or not yet.
 */
export type AudienceMeasure = {
  readonly id: string
  readonly name: string | null
  /** The size: two numbers if the platform reports a range. */
  readonly low: number | null
  readonly high: number | null
  /** How many people the platform got, and how many of them it found among its own. */
  readonly received: number | null
  readonly matched: number | null
  /** In a few words of the platform. */
  readonly status: string | null
}

/** `state`: the state of the connection at its destination, which lists the audiences that it created. */
export type AudienceContext = ConnectorContext & { readonly state: Json | undefined }

/**
 * Reads the audiences of a connection, and changes nothing. Returns at most 20, without audiences that no longer exist. Throws a
 * `ConnectorError`.
 */
export type MeasureAudiences = (context: AudienceContext) => Promise<readonly AudienceMeasure[]>
