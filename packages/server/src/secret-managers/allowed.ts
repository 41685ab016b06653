import { ConnectorError } from '@penstock/connector'
import { isSecretPath, readSecretReference, type SecretReferenceParts } from '@penstock/wire'
import type { SecretManagerSettings } from '../secret-manager-settings.ts'

/** Decides which secret a reference of a sub-account names, and whether the sub-account may use it. */

/** The owner of a reference. */
export type Tenant = {
  readonly organizationId: string
  readonly accountId: string
  /** The `secretName` of the configuration, which is the path of a reference without a path. */
  readonly secretName: string
}

/** A secret that a tenant may use. */
export type AllowedSecret = {
  readonly manager: SecretManagerSettings
  readonly path: string
  readonly key: string | null
}

/** The forms of paths, by the kind of manager: what its address is built from. */
const pathForms: Readonly<Record<SecretManagerSettings['access']['type'], readonly [RegExp, string]>> = {
  vault: [/^[^:]+$/, 'the path of a secret beneath the key/value engine, such as penstock/ads'],
  aws: [
    /^(?:[^:]+|arn:[\w-]+:secretsmanager:[\w-]+:\d{12}:secret:[^:]+)$/,
    'the name or the ARN of a secret, such as penstock/ads',
  ],
  google: [
    /^projects\/[a-z0-9.-]+(?::[a-z0-9-]+)?\/secrets\/[\w-]{1,255}(?:\/versions\/(?:latest|\d{1,10}))?$/,
    'the name of a secret, such as projects/example/secrets/ads',
  ],
  azure: [
    /^[a-z][a-z0-9-]{1,22}[a-z0-9]\/[a-z0-9-]{1,127}$/,
    'the name of a vault and of a secret, such as example-vault/ads',
  ],
}

/**
 * Finds the secret that a reference names.
 * @throws ConnectorError `invalid_setting` if the reference is not valid, `secret_not_allowed` if the manager does not exist
 *   or the sub-account may not use the path, with one message for both, so that nobody learns what exists
 */
export function allowedSecret(
  managers: readonly SecretManagerSettings[],
  reference: string,
  tenant: Tenant,
): AllowedSecret {
  const parts = readSecretReference(reference)
  if (!parts) throw new ConnectorError('invalid_setting', `${shown(reference)} is not a valid reference to a secret.`)
  const manager = managers.find(({ name }) => name === parts.manager)
  const path = manager && pathOf(manager, parts, tenant)
  const isAllowed = path !== undefined && manager?.allow.some((one) => permits(manager, one, tenant, path))
  if (!manager || !isAllowed) {
    const message = `${shown(reference)} is not a secret that this sub-account may use${prefixesFor(manager, tenant)}. Ask your operator to allow it.`
    throw new ConnectorError('secret_not_allowed', message)
  }
  const [form, expected] = pathForms[manager.access.type]
  if (!form.test(path)) {
    throw new ConnectorError('invalid_setting', `${shown(reference)} must contain ${expected}.`)
  }
  return { manager, path, key: parts.key }
}

/** A reference is short and contains no control characters once it is valid; others are cut. */
const shown = (reference: string): string =>
  reference.length > 200 || /\p{C}/u.test(reference) ? 'The reference' : reference

function pathOf(
  { access }: SecretManagerSettings,
  { path }: SecretReferenceParts,
  { secretName }: Tenant,
): string | undefined {
  const named = path ?? secretName
  if (!isSecretPath(named)) return undefined
  // Names of vaults and of secrets in Azure are the same in upper and lower case.
  return access.type === 'azure' ? named.toLowerCase() : named
}

function permits(
  { access }: SecretManagerSettings,
  allowed: SecretManagerSettings['allow'][number],
  tenant: Tenant,
  path: string,
): boolean {
  if (!isFor(allowed, tenant)) return false
  const filled = prefixFor(allowed.prefix, tenant)
  const prefix = access.type === 'azure' ? filled.toLowerCase() : filled
  return path.length > prefix.length && path.startsWith(prefix)
}

const isFor = ({ organizationId, accountId }: SecretManagerSettings['allow'][number], tenant: Tenant): boolean =>
  (organizationId === undefined || organizationId === tenant.organizationId) &&
  (accountId === undefined || accountId === tenant.accountId)

const prefixFor = (prefix: string, { organizationId, accountId }: Tenant): string =>
  prefix.replaceAll('{organizationId}', organizationId).replaceAll('{accountId}', accountId)

/** The beginnings that the sub-account may use there, as a part of a sentence. */
function prefixesFor(manager: SecretManagerSettings | undefined, tenant: Tenant): string {
  const prefixes = manager?.allow.filter((one) => isFor(one, tenant)).map(({ prefix }) => prefixFor(prefix, tenant))
  if (!prefixes || prefixes.length === 0) return ''
  return `: paths there must begin with ${prefixes.slice(0, 5).join(' or ')}`
}
