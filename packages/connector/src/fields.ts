import type { FieldType, ReadMeaning, Role, SecretForm, SettingPurpose, WriteMeaning } from '@penstock/wire/rules'

/** A parsed value of a configuration field, as connectors receive it. */
export type FieldValue = string | number | boolean | readonly string[]

/** The field is used only if another field of the same group has (one of) these values. */
export type Condition = Readonly<Record<string, string | readonly string[]>>

/**
 * Why the state of a connection stays valid if a setting changes: the setting determines how the connector signs in, how fast
 * or in which pieces it works, or how rows are sent, or it only affects later rows.
 */
export const keepingReasons = ['credential', 'pace', 'transport', 'onward'] as const
export type KeepingReason = (typeof keepingReasons)[number]

/** One configuration field (specification, section 2.6), as a connector's definition states it. */
export type FieldDefinition = {
  readonly type: FieldType
  readonly label: string
  readonly description: string
  /** A value is required, if `when` is met. */
  readonly required: boolean
  /** The service fills it; callers cannot. */
  readonly readonly: boolean
  readonly when?: Condition
  /**
   * Only this side of a connection needs the field. It is required when a connection is activated, not when the connector is
   * saved.
   */
  readonly role?: Role
  /** Effective while no value is set. */
  readonly default?: FieldValue
  /** Limits of a Number: inclusive whole numbers. `max` of a Text is its maximum number of characters, 10,000 by default. */
  readonly min?: number
  readonly max?: number
  /** Choices of a Select or Multi-Select. */
  readonly options?: readonly string[]
  /** Display labels of options, by option. An option without a label is shown unchanged. */
  readonly labels?: Readonly<Record<string, string>>
  /**
   * Returns the error of a text, as a phrase to follow the name of the field. For texts in a special language. Never throws. A
   * connector that an operator added is checked only when it opens, because its definition is data.
   */
  readonly wrong?: (value: string) => string | undefined
  /** The required form of a secret; absent if every form is allowed. */
  readonly form?: SecretForm
  /** Whether it is one of the few settings that a form asks for, such as a table or an audience. Required settings always are. */
  readonly asked?: true
  /**
   * Effect of options on the rows that are read or written, by option. A form uses it to explain the effect of both sides
   * together.
   */
  readonly meanings?: Readonly<Record<string, ReadMeaning | WriteMeaning>>
  /** Its purpose, so that a form can explain it together with other settings. */
  readonly purpose?: SettingPurpose
  /**
   * Secrets of the same group that are sent to the address that this value determines: a host, an address, a port, or how its
   * identity is verified. A request that changes it must send these secrets again, so that a stored secret cannot be sent to a
   * server of an attacker. A field of a connection, which has no secrets, names secrets of its connector: setting it requires
   * `secrets:write`.
   */
  readonly binds?: readonly string[]
  /**
   * The value names the identity of a server, such as its host key: while it is not set, and the other fields have these values,
   * secrets are sent to no server. So the first value does not require these secrets again.
   */
  readonly pins?: Condition
  /**
   * Why the cursor and the rest of the state stay valid if the value changes. Without it, the state depends on the value: if it
   * changes, the next transfer reads everything (docs/decisions/state-and-ranges.md).
   */
  readonly keepsState?: KeepingReason
  /**
   * How the field takes part in a sign-in by identity tokens (`ConnectorContext.identityToken`):
   * issuer, subject   readonly, and filled by the service with what a trust policy must contain
   * target            chooses what the identity of the sub-account signs in to, so that changing it requires `secrets:write`
   */
  readonly identity?: 'issuer' | 'subject' | 'target'
}
export type Fields = Readonly<Record<string, FieldDefinition>>

type Common = {
  label: string
  description: string
  /** Defaults to false. */
  required?: boolean
  /** Defaults to false. */
  readonly?: boolean
  when?: Condition
  role?: Role
  binds?: readonly string[]
  pins?: Condition
  keepsState?: KeepingReason
  identity?: NonNullable<FieldDefinition['identity']>
  asked?: true
  purpose?: SettingPurpose
}

const field =
  <Extra extends object>(type: FieldType) =>
  (options: Common & Extra): FieldDefinition => ({ required: false, readonly: false, ...options, type })

/** A line or block of text. */
export const text = field<{ default?: string; max?: number; wrong?: (value: string) => string | undefined }>('Text')

/** A text that is sealed when stored and never read back: tokens, passwords, keys. */
export const secret = field<{ default?: never; form?: SecretForm }>('Password')

/** A whole number within bounds. */
export const number = field<{ min?: number; max?: number; default?: number }>('Number')

/** A calendar day, YYYY-MM-DD. */
export const date = field<{ default?: string }>('Date')

/** Yes or no. */
export const boolean = field<{ default?: boolean }>('Boolean')

/** One of the options. */
export const select = field<{
  options: readonly string[]
  labels?: Readonly<Record<string, string>>
  meanings?: FieldDefinition['meanings']
  default?: string
}>('Select')

/** Any of the options. */
export const multiSelect = field<{
  options: readonly string[]
  labels?: Readonly<Record<string, string>>
  default?: readonly string[]
}>('Multi-Select')

type Mode = { readonly description: string; readonly isRequired?: boolean }

/** A mode of reading or writing: the words of its choices are the same in every connector. */
const mode =
  <Choice extends string>(
    label: string,
    choices: Readonly<Record<Choice, readonly [string, ReadMeaning | WriteMeaning]>>,
  ) =>
  (options: readonly [Choice, ...Choice[]], { description, isRequired = false }: Mode): FieldDefinition =>
    select({
      asked: true,
      label,
      description,
      options,
      labels: Object.fromEntries(options.map((option) => [option, choices[option][0]])),
      meanings: Object.fromEntries(options.map((option) => [option, choices[option][1]])),
      ...(isRequired ? { required: true } : { default: options[0] }),
    })

/** The setting `syncMode`: which rows each transfer reads. The first option is the default, unless a value is required. */
export const syncMode = mode('Rows to read', {
  Full: ['All rows', 'all'],
  Incremental: ['New and changed rows', 'changed'],
  Changes: ['Change log', 'log'],
})

/** The setting `writeMode`: how rows are written. The first option is the default, unless a value is required. */
export const writeMode = mode('How rows are written', {
  Insert: ['Add', 'add'],
  Append: ['Add', 'add'],
  Replace: ['Replace all', 'replace'],
  Upsert: ['Update by key', 'update'],
})
