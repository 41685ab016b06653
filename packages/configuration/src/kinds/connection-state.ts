import type { ConnectionWithSettings, ScheduleEntry } from '@penstock/wire'

/** A connection of the service. */
export type ConnectionState = ConnectionWithSettings & {
  /** The slugs of its connectors. */
  readonly source: string
  readonly destination: string
  /** The names of their configurations; undefined: the first one. */
  readonly sourceConfiguration: string | undefined
  readonly destinationConfiguration: string | undefined
  readonly schedule?: ScheduleEntry | undefined
  /** The names of the connections that it runs after; the identifier of one that was deleted. */
  readonly after: readonly string[]
  /** The names that it had before, as its history has them. */
  readonly formerNames: () => Promise<string[]>
}
