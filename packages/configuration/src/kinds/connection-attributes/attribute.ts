import type { Applying, Entry, Planning, Scope } from '../../resource-kind.ts'
import type { JsonSchema } from '../../schema-parts.ts'
import type { FieldChange } from '../../values.ts'
import type { ConnectionState } from '../connection-state.ts'

/**
 * Attributes of a connection that an operation sets together: everything that export, plan and apply know about them. They have
 * no version, so `set` compares the current values with the values of the plan.
 * @typeParam File their keys in an entry of a file
 * @typeParam Desired their values after `parse`
 */
export type Attribute<File extends object, Desired extends object = File> = {
  readonly schema: { readonly [K in keyof File]-?: JsonSchema }
  /** Reads them from an entry of a file. */
  parse(entry: File): Desired
  /** Writes them to an entry of a file. Values of a new connection are omitted. */
  write(state: ConnectionState): File
  /** Changes that a plan shows. `existing` is undefined if the connection must be created. */
  compare(
    wanted: Desired & Entry,
    existing: ConnectionState | undefined,
    scope: Scope,
    planning: Planning,
  ): FieldChange[]
  /**
   * Sets the attributes, if `compare` found a change.
   * @param existing the state in the plan; undefined if the connection was created
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
