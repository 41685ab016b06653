import { asConnectorError } from '@penstock/connector'
import type { Config } from '../../config.ts'
import type { SecretManagerSettings } from '../../secret-manager-settings.ts'
import { createSecretManagers, type SecretManagers } from '../../secret-managers/secret-managers.ts'
import { type Finding, problem, warning, well } from './check.ts'

const anyId = '0'.repeat(16)

/** Whether the secret managers answer, and accept the sign-in of this service: each is asked for a secret that does not exist. */
export async function checkSecretManagers(config: Pick<Config, 'secretManagers' | 'egress'>): Promise<Finding> {
  const { secretManagers } = config
  if (secretManagers.length === 0) return well('no secret manager is set up')
  const managers = createSecretManagers(config)
  try {
    const found = await Promise.all(secretManagers.map((manager) => askManager(managers, manager)))
    const todo = 'Check PENSTOCK_SECRET_MANAGERS, and the files that it names.'
    const messagesOf = (wanted: boolean) =>
      found.flatMap((one) => (one?.isAway === wanted ? [one.message] : [])).join(' ')
    if (messagesOf(true)) return problem(`${messagesOf(true)} ${todo}`)
    if (messagesOf(false)) return warning(`${messagesOf(false)} ${todo}`)
    const closed = secretManagers.filter(({ allow }) => allow.length === 0).map(({ name }) => name)
    if (closed.length > 0) return warning(`nobody can use ${closed.join(', ')}, which has no entry in \`allow\``)
    return well(`${secretManagers.map(({ name }) => name).join(', ')} answer`)
  } finally {
    await managers.close()
  }
}

/** Why a manager may not be usable. Some managers refuse an unknown sign-in and a path outside of their policy in the same way. */
async function askManager(
  managers: SecretManagers,
  { name, allow }: SecretManagerSettings,
): Promise<{ readonly isAway: boolean; readonly message: string } | undefined> {
  const [entry] = allow
  if (!entry) return undefined
  const { prefix, organizationId = anyId, accountId = anyId } = entry
  const filled = prefix.replaceAll('{organizationId}', organizationId).replaceAll('{accountId}', accountId)
  try {
    const tenant = { organizationId, accountId, secretName: '' }
    await managers.read(`secret://${name}/${filled}penstock-doctor`, tenant)
    return undefined
  } catch (error) {
    const known = asConnectorError(error)
    if (!known) throw error
    if (known.code === 'secret_not_found') return undefined
    return { isAway: known.code !== 'secret_not_allowed', message: `${name}: ${known.message}` }
  }
}
