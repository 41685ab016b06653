import type { ConnectorDefinition } from '@penstock/connector'
import type { SignatureScheme } from './signature-schemes.ts'

/** An event stream for one sender, as a statement of facts: how it signs, how its bodies hold events, and the columns of these. */
export type StreamPreset = Pick<
  ConnectorDefinition,
  'slug' | 'name' | 'platform' | 'dataType' | 'description' | 'notes' | 'tested' | 'api' | 'status'
> & {
  /** The scheme by which the sender signs. Without one, only the write key proves the sender. */
  readonly sender?: SignatureScheme
  /** JSON pointer to the ID of an event. Without it or a value there, the ID of the signed message is the ID. */
  readonly messageIdAt?: string
  /**
   * Keys under which a body holds its events, one or a list, from the outside in; of several keys, the first that is there. Other keys of
   * the body are added to each event.
   */
  readonly unwrap: readonly (readonly string[])[]
  /**
   * Lists of an event that become objects: the member with the name of each entry, and the member with its value. A list in which a name is
   * missing or occurs twice stays.
   */
  readonly named?: Readonly<Record<string, { readonly name: string; readonly value: string }>>
  /** The sender calls an address for each event: its parameters, each with the placeholder that the sender fills. */
  readonly callback?: Readonly<Record<string, string>>
  /** Columns that are there before the first event, in their order. Other keys of events follow. */
  readonly columns: Readonly<Record<string, KnownColumn>>
}

export type KnownColumn = {
  readonly description: string
  /** Type of its values before the first event. */
  readonly type: 'text' | 'integer' | 'number' | 'boolean' | 'time' | 'json'
  /** Its place in an event, if that is not the name: keys joined by dots, and places in lists. */
  readonly at?: string
}
