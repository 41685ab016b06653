import type { Applying, Entry, Planning, Scope } from '../../resource-kind.ts'
import type { JsonSchema } from '../../schema-parts.ts'
import type { FieldChange } from '../../values.ts'
import type { ConnectionState } from '../connection-state.ts'

/**
 * Attributes of a connection that an operation sets together: all that export, plan and apply know about them. They have no version,
 * so `set` compares what it finds with what the plan found.
 * @typeParam File their keys in an entry of a file
 * @typeParam Desired their values after `parse`
 */
export type Attribute<File extends object, Desired extends object = File> = {
  readonly schema: { readonly [K in keyof File]-?: JsonSchema }
  /** Reads them from an entry of a file. */
  parse(entry: File): Desired
  /** Writes them to an entry of a file. Values of a new connection are omitted. */
  write(state: ConnectionState): File
  /** Changes that a plan shows. `existing` is undefined if the connection has to be created. */
  compare(
    wanted: Desired & Entry,
    existing: ConnectionState | undefined,
    scope: Scope,
    planning: Planning,
  ): FieldChange[]
  /**
   * Sets them, if `compare` found a change.
   * @param existing as the plan found it; undefined if it was created
   * @throws ChangedMeanwhile if someone else set other values after the plan
   */
  set(
    at: { readonly accountId: string; readonly id: string },
    wanted: Desired,
    existing: ConnectionState | undefined,
    applying: Applying,
  ): Promise<void>
}

/** A change of one attribute. */
export const changed = (
  field: string,
  existing: ConnectionState | undefined,
  from: unknown,
  to: unknown,
): FieldChange => ({ field, ...(existing ? { from } : {}), to })
