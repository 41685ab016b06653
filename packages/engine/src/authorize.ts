import { ConnectorError } from '@penstock/connector'
import { exchangeAuthorization } from '@penstock/connectors/authorize'
import { limits } from '@penstock/wire/rules'
import type { AuthorizationJob, JobValues } from './protocol.ts'
import { type JobRuntime, openContext } from './runtime.ts'
import { withoutSecrets } from './side-secrets.ts'

/** Exchanges the code of an authorization. Throws a `ConnectorError`, or the signal's reason once that is aborted. */
export async function runAuthorization(
  { slug, client, code, verifier, redirectUri }: AuthorizationJob,
  runtime: JobRuntime,
  signal: AbortSignal,
): Promise<JobValues['authorization']> {
  const connector = await runtime.loadConnector(slug)
  const { authorization } = connector
  if (!authorization) throw new Error('This connector has no authorization')
  // The code is a secret, too. It has the place of the refresh token, which does not exist yet.
  const secrets = { [authorization.client.secret]: client.secret, [authorization.refreshToken]: code }
  const { context, redact } = openContext(runtime, connector, undefined, { slug, secrets, settings: {} }, signal)
  const refreshToken = await withoutSecrets(redact, () =>
    exchangeAuthorization(context, authorization, client, { code, redirectUri, verifier: verifier ?? undefined }),
  )
  if (refreshToken.length <= limits.secretLengthMax) return { refreshToken }
  throw new ConnectorError(
    'malformed_response',
    `${authorization.server.name} gave a refresh token that cannot be saved.`,
  )
}
