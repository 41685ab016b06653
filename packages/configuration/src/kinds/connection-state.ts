import type { ConnectionWithSettings, ScheduleEntry } from '@penstock/wire'

/** A connection of the service. */
export type ConnectionState = ConnectionWithSettings & {
  /** The slugs of its connectors. */
  readonly source: string
  readonly destination: string
  /** The names of their configurations; undefined means the first one. */
  readonly sourceConfiguration: string | undefined
  readonly destinationConfiguration: string | undefined
  readonly schedule?: ScheduleEntry | undefined
  /** The names of the connections that it runs after; for a deleted connection, its identifier. */
  readonly after: readonly string[]
  /** The names that it had before, as its history has them. */
  readonly formerNames: () => Promise<string[]>
}
