import type { ConnectorDefinition } from '@penstock/connector'
import type { SignatureScheme } from './signature-schemes.ts'

/** An event stream for one sender, as a statement of facts: how it signs, how its bodies hold events, and the columns of these. */
export type StreamPreset = Pick<
  ConnectorDefinition,
  'slug' | 'name' | 'platform' | 'dataType' | 'description' | 'notes' | 'tested' | 'api' | 'status'
> & {
  /** Events unless given. */
  readonly dataTypeCategory?: ConnectorDefinition['dataTypeCategory']
  /** The scheme by which the sender signs. Without one, only the write key proves the sender. */
  readonly sender?: SignatureScheme
  /** JSON pointer to the ID of an event. Without it or a value there, the ID of the signed message is the ID. */
  readonly messageIdAt?: string
  /**
   * Keys under which a body contains its events, one or a list, from the outside in. If several keys are listed, the first
   * existing one is used. Other keys of the body are added to each event.
   */
  readonly unwrap: readonly (readonly string[])[]
  /** Keys of a body that are not added to its events. */
  readonly omitted?: readonly string[]
  /** The answers that the sender expects. */
  readonly answers?: MessageAnswers
  /**
   * Lists of an event that become objects: the member with the name of each entry, and the member with its value, or the whole entry. A
   * list in which a name is missing or occurs twice stays.
   */
  readonly named?: Readonly<Record<string, { readonly name: string; readonly value?: string }>>
  /** The sender calls an address for each event: its parameters, each with the placeholder that the sender fills. */
  readonly callback?: Readonly<Record<string, string>>
  /** Columns that are there before the first event, in their order. Other keys of events follow. */
  readonly columns: Readonly<Record<string, KnownColumn>>
}

/** Answers to messages by their type. A message of another type is refused. */
export type MessageAnswers = {
  /** The key of a message with its type. */
  readonly by: string
  /** Keys that an answer repeats, and the key with its time in milliseconds since 1970. */
  readonly repeats: readonly string[]
  readonly time: string
  readonly types: Readonly<Record<string, MessageAnswer>>
}

export type MessageAnswer = {
  readonly body: Readonly<Record<string, unknown>>
  /** The key with the events of the message. A message without it is a probe without events. */
  readonly holds?: string
  /** Whether it is answered without the secret, and not stored. */
  readonly isOpen?: true
}

export type KnownColumn = {
  readonly description: string
  /** Type of its values before the first event. */
  readonly type: 'text' | 'integer' | 'number' | 'boolean' | 'time' | 'json'
  /** Its place in an event, if that is not the name: keys joined by dots, and places in lists. */
  readonly at?: string
}
