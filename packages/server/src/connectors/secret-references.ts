import { asConnectorError, type Values } from '@penstock/connector'
import { type FieldError, isSecretReference, readSecretReference, streamConnectorIds } from '@penstock/wire'
import type { ActingAccount, Actor } from '../call.ts'
import type { SecretManagers } from '../secret-managers/secret-managers.ts'
import type { GivenSecret } from '../secrets/secrets.ts'

/** References to secrets among the values of a configuration. */

/** A configuration that is saved, with what it keeps. */
export type ReferringConfiguration = {
  readonly account: ActingAccount
  readonly connectorId: string
  /** The name of its secrets, as it will be saved. */
  readonly secretName: string
  /** The actor that saves it; undefined: an authorization, whose values come from a platform and are never references. */
  readonly actor: Actor | undefined
}

/** Secrets as they are saved: a text of a person that is a reference becomes one. */
export function givenSecrets(
  secrets: Readonly<Record<string, string>>,
  { actor }: Pick<ReferringConfiguration, 'actor'>,
): Record<string, GivenSecret> {
  const entries = Object.entries(secrets).map(([name, text]): [string, GivenSecret] => [
    name,
    actor && isSecretReference(text) ? { reference: text } : { value: text },
  ])
  return Object.fromEntries(entries)
}

/** The references that cannot be used, each with the reason. No secret manager is asked. */
export function referenceErrors(
  references: Readonly<Record<string, string>>,
  { account, connectorId, secretName, actor }: ReferringConfiguration,
  secretManagers: SecretManagers,
): FieldError[] {
  const tenant = { organizationId: account.organizationId, accountId: account.id, secretName }
  const problemOf = (reference: string): string | undefined => {
    if (actor?.link) return 'must be the secret itself: a connect link does not accept references to a secret manager'
    if (streamConnectorIds.includes(connectorId)) {
      return 'must be the secret itself: an event stream needs its secrets with each request, and reads no secret manager'
    }
    try {
      secretManagers.check(reference, tenant)
      return undefined
    } catch (error) {
      const known = asConnectorError(error)
      if (!known) throw error
      return `cannot be used. ${known.message}`
    }
  }
  return Object.entries(references).flatMap(([name, reference]) => {
    const message = problemOf(reference)
    return message === undefined ? [] : [{ field: `body.secretConfig.${name}`, message }]
  })
}

/** The references among values. */
export const referencesIn = (values: Values): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => isSecretReference(entry[1])))

/** The references whose path is the name of the secrets of their configuration. */
export const byName = (references: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(references).filter(([, text]) => readSecretReference(text)?.path === null))
