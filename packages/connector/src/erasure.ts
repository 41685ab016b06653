import type { ErasureOutcome, PersonIdentifierKind } from '@penstock/wire/rules'
import type { ConnectorContext } from './context.ts'
import type { Values } from './values.ts'

export type { ErasureOutcome, PersonIdentifierKind }

/** How a platform erases a person who demands it (GDPR, article 17). */
export type Erasure = {
  /** The data that the platform deletes, and when: a sentence or two for the person who confirms the erasure. */
  readonly what: string
  /**
   * The identifiers by which a configuration can ask for an erasure; empty if it cannot.
   * @param configuration its saved values, without secrets
   */
  readonly by: (configuration: Values) => readonly PersonIdentifierKind[]
  /** Signs in. Throws a `ConnectorError`. The settings of the context are empty. */
  readonly open: (context: ConnectorContext) => Promise<ErasePerson>
}

/**
 * Asks the platform to erase the person with an identifier of `by`. It is asked again after a failure, so a repetition must do no
 * harm. Throws a `ConnectorError` if the platform did not answer, or refused the credentials.
 */
export type ErasePerson = (identifier: PersonIdentifier) => Promise<ErasedPerson>

export type PersonIdentifier = { readonly kind: PersonIdentifierKind; readonly value: string }

/** The answer of the platform. `requested`: it accepted the request, and does not report whether it has the person, or deletes later. */
export type ErasedPerson =
  | { readonly outcome: Exclude<ErasureOutcome, 'refused' | 'unknown'> }
  | { readonly outcome: 'refused'; readonly reason: string }
